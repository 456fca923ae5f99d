"""Renders one memory file an attempt: numbers copied from records, words from notes, nothing typed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Literal

from kopt_kb.base import wire
from kopt_kb.launch.candidate.answers import Check, kept_run
from kopt_kb.launch.record.source import CodeSource
from kopt_kb.packs.memory_form import memory_model as model
from kopt_kb.packs.memory_form.entries import Words, free_text, of_kind
from kopt_kb.packs.memory_form.lessons import directions, last_words, pitfalls, searched
from kopt_kb.packs.memory_form.memory_model import Iteration, Pitfall
from kopt_kb.quantity.statistics import change_pct, geometric_mean, speedup_pct
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.journal.round_events import GateJudged, Measured, Trust
from kopt_kb.workspace.levels import round_words
from kopt_kb.workspace.rounds import Candidate, ChildRun, Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.rates import ShapeRate, rates_of, short
from kopt_kb.workspace.views.readme import isa_goals
from kopt_kb.workspace.views.words import plain

__all__ = ["Memories", "document_of", "iteration_of", "judged_rates", "memories_of", "memory_files", "memory_text"]

_WORDS: Mapping[Literal["pass", "fail", "unavailable"], model.GateWord] = {
    "pass": "PASS", "fail": "FAIL", "unavailable": "UNAVAILABLE",
}  # fmt: skip
_WORST: tuple[model.GateWord, ...] = ("TIMEOUT_FAIL", "FAIL", "UNAVAILABLE")


Memories = Mapping[int, Iteration]
"""Attempt → its memory."""


def memories_of(state: WorkspaceState, blob: BlobReader) -> Memories:
    """Return the memory of every attempt; each is made once for all views that show it."""
    return {number: iteration_of(state, attempt, blob) for number, attempt in state.attempts.items()}


def memory_files(_: WorkspaceState, __: BlobReader, memories: Memories) -> dict[str, str]:
    """Return memory/v<N>.json of every attempt."""
    return {f"memory/{memory.version}.json": memory_text(memory) for memory in memories.values()}


def memory_text(iteration: Iteration) -> str:
    """Return the file's text without its header; what UTF-8 can't carry becomes question marks."""
    return plain(json.dumps(iteration.to_json(), ensure_ascii=False, indent=2)) + "\n"


def document_of(iteration: Iteration) -> wire.JSON:
    """Return the document that the file holds."""
    return wire.parse(memory_text(iteration))


def iteration_of(state: WorkspaceState, attempt: Round, blob: BlobReader) -> Iteration:
    """Return one attempt's memory.

    Raises:
        ObjectError: A note's blob is missing or damaged.
    """
    chosen = attempt.chosen
    words = free_text(attempt, blob)
    rates = judged_rates(state, attempt)
    performance = _performance(state, attempt, rates)
    compared = performance.comparison_with_previous
    change = compared.throughput_change_pct if compared is not None else None
    reason = state.masked.get(attempt.number, "")
    references = of_kind(model.MemoryReference, words)
    made = tuple(_experiment(state, attempt, one, at) for at, one in enumerate(attempt.candidates.values(), 1))
    return Iteration(
        version=f"v{attempt.number}",
        round=f"round-{attempt.number + 1}",
        masked=bool(reason),
        mask_reason=reason,
        status=attempt.status,
        simulated=state.is_simulated(attempt),
        timestamp=attempt.t,
        problem=_problem(state, attempt),
        kernel=_kernel(attempt, chosen),
        performance=performance,
        optimization=_optimization(attempt, of_kind(str, words)),
        profile_evidence=tuple(
            model.ProfileEvidence(
                profile.tool, profile.report, profile.kernel, profile.code, tuple(map(_shown, profile.evidence))
            )
            for profile in attempt.profiles
        ),
        experience=model.Experience(len(made), sum(bool(one.evidence) for one in made), made),
        correctness=_correctness(state, chosen, blob),
        isa_metric_progress=_isa(state, attempt),
        search_log=(*searched(attempt, change), *of_kind(model.SearchEntry, words)),
        pitfalls_and_fixes=_pitfalls(state, attempt, words),
        references=references,
        notes=of_kind(model.Note, words),
        quality_gate=_quality(state, chosen),
        decision=_decision(attempt),
        open_directions=(*directions(state, attempt, rates), *of_kind(model.MemoryDirection, words)),
        wiki_references=_wiki(state, references),
        git_commit_hash=_commit(attempt),
    )


def _shown(kernel: Mapping[str, wire.JSON]) -> Mapping[str, wire.JSON]:
    """Return what the rules said of a kernel without the roofs, which the journal holds with their citations."""
    verdict = kernel.get("verdict")
    if not isinstance(verdict, Mapping):
        return kernel
    return {**kernel, "verdict": {name: value for name, value in verdict.items() if name != "headroom"}}


def _problem(state: WorkspaceState, attempt: Round) -> model.MemoryProblem:
    seqs = [record.environment for record in attempt.own_records.values()]
    machine = state.environments.get(seqs[-1]) if seqs else None
    device = machine.device if machine is not None else None
    own = state.problem
    return model.MemoryProblem(state.created.platform, own.op, own.dtype, own.shape_names, device, state.targets_seq)


def _kernel(attempt: Round, chosen: Candidate | None) -> model.Kernel:
    made = chosen.submitted if chosen is not None else None
    blob = made.blob if made is not None else (attempt.snapshot.blob if attempt.snapshot is not None else None)
    name = chosen.name if chosen is not None else None
    return model.Kernel(attempt.incumbent or None, name, blob, made.params if made is not None else {})


def _over(rates: tuple[ShapeRate, ...], name: str, scale: float) -> float | None:
    mean = geometric_mean(getattr(rate, name) for rate in rates)
    return short(None if mean is None else mean * scale)


def _pitfalls(state: WorkspaceState, attempt: Round, words: tuple[Words, ...]) -> tuple[Pitfall, ...]:
    """Return what events say and then what was noted, without notes that only repeat what events say."""
    found = pitfalls(state, attempt)
    known = tuple(one.lesson for one in found)
    return (*found, *(said for said in of_kind(Pitfall, words) if not said.lesson.startswith(known)))


def judged_rates(state: WorkspaceState, attempt: Round) -> tuple[ShapeRate, ...]:
    """Return the rates of an attempt's own records; simulated ones are compared with nothing."""
    return rates_of(state, attempt.own_records, judged=not state.is_simulated(attempt))


def _performance(state: WorkspaceState, attempt: Round, rates: tuple[ShapeRate, ...]) -> model.Performance:
    own = attempt.own_records
    wanted = set(state.problem.shape_names)
    mean_s = geometric_mean(own[shape].median_s for shape in wanted) if wanted <= own.keys() else None
    return model.Performance(
        latency_us=short(mean_s * 1e6) if mean_s is not None else None,
        latency_us_by_shape=_by_shape(rates, lambda one: one.record.median_s * 1e6),
        tflops=_over(rates, "flops_per_s", 1e-12),
        bandwidth_gbps=_over(rates, "bytes_per_s", 1e-9),
        tflops_peak_utilization_pct=_over(rates, "compute_share", 100),
        bandwidth_peak_utilization_pct=_over(rates, "bandwidth_share", 100),
        target_ratio=_over(rates, "target_ratio", 1),
        target_ratio_by_shape=_by_shape(rates, lambda one: one.target_ratio),
        comparison_with_previous=_comparison(state, attempt),
        records=tuple(_record(rate.record) for rate in rates),
    )


def _record(record: Measured) -> model.MemoryRecord:
    numbers = (record.n, record.median_s, record.spread)
    return model.MemoryRecord(
        record.id, record.shape, record.candidate, *numbers, record.run, record.environment, _stated(record.trust),
        _known(record.source),
    )  # fmt: skip


def _known(source: CodeSource) -> CodeSource | None:
    """Return whether code comes from its source; nothing where the event is from before that was asked."""
    return None if source.reason == "recorded_before" else source


def _stated(trust: Trust) -> Trust | None:
    """Return a level of trust; nothing where the event does not say one, as in files that were written before."""
    return None if trust == "unstated" else trust


def _by_shape(rates: tuple[ShapeRate, ...], value: Callable[[ShapeRate], float | None]) -> dict[str, float]:
    found = {rate.record.shape: short(value(rate)) for rate in rates}
    return {shape: number for shape, number in found.items() if number is not None}


def _previous(state: WorkspaceState, attempt: Round) -> Round | None:
    """Return the attempt that was the incumbent when this one began, unless it is masked.

    It is known by its blob: it may be refuted by now, and a round that confirms starts from an earlier version.
    """
    before = [one for one in state.attempts.values() if one.number < attempt.number]
    own = [one for one in before if one.snapshot is not None and one.snapshot.blob == attempt.incumbent]
    accepted = own or [one for one in before if one.accepted]
    found = accepted[-1] if accepted else None
    return found if found is not None and found.number not in state.masked else None


def _comparison(state: WorkspaceState, attempt: Round) -> model.Comparison | None:
    previous = _previous(state, attempt)
    if previous is None or previous.chosen is None:
        return None
    own = attempt.own_records
    again = attempt.standing(previous.chosen.name)
    before = again or previous.own_records
    shapes = sorted(own.keys() & before.keys())
    new = geometric_mean(own[shape].median_s for shape in shapes)
    old = geometric_mean(before[shape].median_s for shape in shapes)
    changes = short(change_pct(old, new)), short(speedup_pct(old, new))
    level = round_words(state, attempt) if state.task.project is not None else None
    return model.Comparison(f"v{previous.number}", bool(again), *changes, level)


def _optimization(attempt: Round, risks: tuple[str, ...]) -> model.Optimization | None:
    stated = attempt.hypothesis
    if stated is None:
        return model.Optimization("", "", "", "", (), risks) if risks else None
    said = (stated.category, stated.claim, stated.expected, stated.proposer)
    return model.Optimization(*said, stated.evidence, risks)


def _timed_out(state: WorkspaceState, judged: GateJudged) -> bool:
    return any(one.outcome == "hang" for one in state.ended(judged.runs))


def _outcome(state: WorkspaceState, judged: GateJudged) -> model.GateWord:
    if judged.result == "fail" and _timed_out(state, judged):
        return "TIMEOUT_FAIL"
    return _WORDS[judged.result]


def _quality(state: WorkspaceState, candidate: Candidate | None) -> model.QualityGate:
    judged = last_words(candidate.gates if candidate is not None else ())
    gates = tuple(model.MemoryGate(one.gate, _outcome(state, one), one.reason, one.runs) for one in judged)
    failed = [f"{one.gate}: {one.reason}" for one in judged if one.result != "pass"]
    outcomes = {gate.result for gate in gates}
    worst = next((one for one in _WORST if one in outcomes), "PASS" if judged else "UNAVAILABLE")
    return model.QualityGate(worst, "; ".join(failed), gates)


def _correctness(state: WorkspaceState, candidate: Candidate | None, blob: BlobReader) -> model.Correctness:
    words = last_words(candidate.gates if candidate is not None else ())
    judged = next((gate for gate in words if gate.gate == "correctness"), None)
    if judged is None:
        return model.Correctness("UNAVAILABLE", None, "the correctness gate has not judged it")
    checks = [_check(state.runs.get(run), blob) for run in judged.runs]
    known = [short(check.rel_l2_err) for check in checks]
    largest = max((one for one in known if one is not None), default=None)
    return model.Correctness(_outcome(state, judged), largest, judged.reason, _errors_by_shape(checks) or None)


def _errors_by_shape(checks: list[Check]) -> dict[str, float]:
    """Return shape → largest relative error, as the check's runs reported them."""
    found: dict[str, float] = {}
    for check in checks:
        for shape, value in (check.rel_l2_err_by_shape or {}).items():
            error = short(value)
            if error is not None:
                found[shape] = max(error, found.get(shape, error))
    return found


def _check(run: ChildRun | None, blob: BlobReader) -> Check:
    """Return what a run of the check answered; nothing where its output is no such answer."""
    ended = run.finished if run is not None else None
    if ended is None or ended.output is None:
        return Check()
    try:
        answer = kept_run("check", blob(ended.output)).answer
    except wire.WireError:
        return Check()
    return answer if isinstance(answer, Check) else Check()


def _experiment(state: WorkspaceState, attempt: Round, candidate: Candidate, at: int) -> model.Experiment:
    decision: model.ExperimentEnd = "open"
    if attempt.decided is not None:
        is_winner = attempt.chosen is candidate
        decision = ("continue" if attempt.accepted else "revert") if is_winner else "pivot"
    params = wire.plain(candidate.submitted.params) if candidate.submitted is not None else {}
    return model.Experiment(
        index=at,
        name=candidate.name,
        hypothesis=attempt.hypothesis.claim if attempt.hypothesis else "",
        change=json.dumps(params, sort_keys=True),
        evidence=tuple(record.id for record in attempt.measured.values() if record.candidate == candidate.name),
        result=_quality(state, candidate).result,
        decision=decision,
    )


def _isa(state: WorkspaceState, attempt: Round) -> tuple[model.IsaProgress, ...]:
    """Return the README's ISA targets; what the compiled code was found to hold gives current and met."""
    read = {str(item.get("metric")): item for one in (*attempt.profiles, *attempt.scans) for item in one.evidence}
    rows = []
    for target in isa_goals(state):
        item = read.get(target.id, {})
        value, met = item.get("value"), item.get("met")
        current = float(value) if isinstance(value, float | int) and not isinstance(value, bool) else None
        rows.append(model.IsaProgress(target.id, target.text, current, met if isinstance(met, bool) else None))
    return tuple(rows)


def _decision(attempt: Round) -> model.MemoryDecision | None:
    one = attempt.decided
    if one is None:
        return None
    return model.MemoryDecision(one.decision, one.policy, one.rule, one.measured, attempt.decided_t, _stated(one.trust),
                                _known(one.source))  # fmt: skip


def _commit(attempt: Round) -> str | None:
    commit = attempt.snapshot.commit if attempt.snapshot is not None else None
    is_hash = commit is not None and 7 <= len(commit) <= 64 and set(commit) <= set("0123456789abcdef")
    return commit if is_hash else None


def _wiki(state: WorkspaceState, references: tuple[model.MemoryReference, ...]) -> model.WikiReferences:
    pages = dict.fromkeys(row.citation.path for row in state.specs.values())
    used = dict.fromkeys(reference.path_or_url for reference in references if reference.source_type == "gpu-wiki")
    return model.WikiReferences(tuple(used), tuple(pages))

"""Renders one memory file an attempt: numbers copied from records, words from notes, nothing typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from kopt_kb import wire
from kopt_kb.analysis.isa.targets import isa_targets
from kopt_kb.quantity.statistics import change_pct, geometric_mean, speedup_pct
from kopt_kb.workspace.journal.round_events import GateJudged, Measured
from kopt_kb.workspace.rounds import Candidate, Round, Run
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.rates import ShapeRate, rates_of, short
from kopt_kb.workspace.views.lessons import directions, last_words, pitfalls, searched
from kopt_kb.workspace.views.readme import uses_matrix
from kopt_kb.workspace.views.words import BlobReader, blob_text, free_text, plain

if TYPE_CHECKING:
    from kopt_kb.workspace.views.memory_model import Iteration

__all__ = ["iteration_of", "judged_rates", "memory_files", "memory_text"]

_RESULTS = {"pass": "PASS", "fail": "FAIL", "unavailable": "UNAVAILABLE"}


def memory_files(state: WorkspaceState, blob: BlobReader) -> dict[str, str]:
    """Return memory/v<N>.json of every attempt."""
    made = (iteration_of(state, one, blob) for one in state.attempts.values())
    return {f"memory/{one.version}.json": memory_text(one) for one in made}


def memory_text(iteration: Iteration) -> str:
    """Return the file's text without its header."""
    return plain(json.dumps(iteration.model_dump(), ensure_ascii=False, indent=2)) + "\n"


def iteration_of(state: WorkspaceState, attempt: Round, blob: BlobReader) -> Iteration:
    """Return one attempt's memory.

    Raises:
        ObjectError: A note's blob is missing or damaged.
    """
    from kopt_kb.workspace.views.memory_model import SCHEMA_VERSION, Iteration

    chosen = attempt.chosen
    words = free_text(attempt, blob)
    performance = _performance(state, attempt)
    words["pitfalls_and_fixes"] = _merged(pitfalls(state, attempt), words["pitfalls_and_fixes"], "lesson")
    compared = performance["comparison_with_previous"] or {}
    words["search_log"] = [*searched(attempt, compared.get("throughput_change_pct")), *words["search_log"]]
    words["open_directions"] = [
        *directions(state, attempt, judged_rates(state, attempt)), *words["open_directions"]
    ]  # fmt: skip
    reason = state.masked.get(attempt.number, "")
    members = {
        "schema_version": SCHEMA_VERSION,
        "version": f"v{attempt.number}",
        "round": f"round-{attempt.number + 1}",
        "masked": bool(reason),
        "mask_reason": reason,
        "status": attempt.status,
        "simulated": state.is_simulated(attempt),
        "timestamp": attempt.t,
        "problem": _problem(state, attempt),
        "kernel": _kernel(attempt, chosen),
        "performance": performance,
        "optimization": _optimization(attempt, words.pop("risks_and_rollback")),
        "profile_evidence": [_profile(one) for one in attempt.profiles],
        "experience": _experience(state, attempt),
        "correctness": _correctness(state, chosen, blob),
        "isa_metric_progress": _isa(state, attempt),
        "quality_gate": _quality(state, chosen),
        "decision": _decision(attempt),
        "wiki_references": _wiki(state, words["references"]),
        "git_commit_hash": _commit(attempt),
        **words,
    }
    return Iteration.model_validate(cast("dict[str, Any]", _plain_all(members)))


def _plain_all(value: object) -> object:
    """Return the value with every text made UTF-8."""
    if isinstance(value, dict):
        return {plain(key): _plain_all(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_all(item) for item in value]
    return plain(value) if isinstance(value, str) else value


def _problem(state: WorkspaceState, attempt: Round) -> dict[str, Any]:
    problem = state.problem.to_json()
    seqs = [record.environment for record in attempt.own_records.values()]
    machine = state.environments.get(seqs[-1]) if seqs else None
    return {
        "platform": state.created.platform,
        "op": problem["op"],
        "dtype": problem["dtype"],
        "shapes": problem["shapes"],
        "device": machine.device if machine is not None else None,
        "targets_event": state.targets_seq,
    }


def _kernel(attempt: Round, chosen: Candidate | None) -> dict[str, Any]:
    made = chosen.submitted if chosen is not None else None
    blob = made.blob if made is not None else (attempt.snapshot.blob if attempt.snapshot is not None else None)
    return {
        "incumbent": attempt.incumbent or None,
        "candidate": chosen.name if chosen is not None else None,
        "blob": blob,
        "params": wire.plain(made.params) if made is not None else {},
    }


def _over(rates: tuple[ShapeRate, ...], name: str, scale: float) -> float | None:
    mean = geometric_mean(getattr(one, name) for one in rates)
    return short(None if mean is None else mean * scale)


def _merged(found: list[dict[str, str]], noted: list[Any], main: str) -> list[Any]:
    """Return what events say and then what was noted, without notes that only repeat what events say."""
    said = tuple(each[main] for each in found)
    return [*found, *(one for one in noted if not str(one[main]).startswith(said))]


def judged_rates(state: WorkspaceState, attempt: Round) -> tuple[ShapeRate, ...]:
    """Return the rates of an attempt's own records; simulated ones are compared with nothing."""
    return rates_of(state, attempt.own_records, judged=not state.is_simulated(attempt))


def _performance(state: WorkspaceState, attempt: Round) -> dict[str, Any]:
    own = attempt.own_records
    rates = judged_rates(state, attempt)
    wanted = set(state.problem.shape_names)
    whole = wanted <= own.keys()
    return {
        "latency_us": short(_microseconds(geometric_mean(own[shape].median_s for shape in wanted))) if whole else None,
        "latency_us_by_shape": _by_shape(rates, lambda one: one.record.median_s * 1e6),
        "tflops": _over(rates, "flops_per_s", 1e-12),
        "bandwidth_gbps": _over(rates, "bytes_per_s", 1e-9),
        "tflops_peak_utilization_pct": _over(rates, "compute_share", 100),
        "bandwidth_peak_utilization_pct": _over(rates, "bandwidth_share", 100),
        "target_ratio": _over(rates, "target_ratio", 1),
        "target_ratio_by_shape": _by_shape(rates, lambda one: one.target_ratio),
        "comparison_with_previous": _comparison(state, attempt),
        "records": [_record(one.record) for one in rates],
    }


def _record(one: Measured) -> dict[str, Any]:
    """Return a record as memory files of schema 1 hold it: they know no level of trust."""
    members = cast("dict[str, Any]", wire.plain(one))
    del members["trust"]
    return members


def _microseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e6


def _by_shape(rates: tuple[ShapeRate, ...], value: Callable[[ShapeRate], float | None]) -> dict[str, float]:
    found = {one.record.shape: short(value(one)) for one in rates}
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


def _comparison(state: WorkspaceState, attempt: Round) -> dict[str, Any] | None:
    previous = _previous(state, attempt)
    if previous is None or previous.chosen is None:
        return None
    own = attempt.own_records
    again = attempt.standing(previous.chosen.name)
    before = again or previous.own_records
    shapes = sorted(own.keys() & before.keys())
    new = geometric_mean(own[shape].median_s for shape in shapes)
    old = geometric_mean(before[shape].median_s for shape in shapes)
    return {
        "version": f"v{previous.number}",
        "same_round": bool(again),
        "latency_change_pct": short(change_pct(old, new)),
        "throughput_change_pct": short(speedup_pct(old, new)),
    }


def _optimization(attempt: Round, risks: list[Any]) -> dict[str, Any] | None:
    stated = attempt.hypothesis
    if stated is None and not risks:
        return None
    return {
        "action_category": stated.category if stated else "",
        "action_description": stated.claim if stated else "",
        "expected_impact": stated.expected if stated else "",
        "proposer": stated.proposer if stated else "",
        "evidence": list(stated.evidence) if stated else [],
        "risks_and_rollback": risks,
    }


def _profile(one: Any) -> dict[str, Any]:
    return {
        "tool_used": one.tool,
        "report": one.report,
        "kernel": one.kernel,
        "bottleneck_type": one.code,
        "evidence_chain": wire.plain(one.evidence),
    }


def _timed_out(state: WorkspaceState, judged: GateJudged) -> bool:
    return any(one.outcome == "hang" for one in state.ended(judged.runs))


def _outcome(state: WorkspaceState, judged: GateJudged) -> str:
    if judged.result == "fail" and _timed_out(state, judged):
        return "TIMEOUT_FAIL"
    return _RESULTS[judged.result]


def _quality(state: WorkspaceState, candidate: Candidate | None) -> dict[str, Any]:
    judged = last_words(candidate.gates if candidate is not None else ())
    outcomes = [_outcome(state, one) for one in judged]
    failed = [f"{one.gate}: {one.reason}" for one in judged if one.result != "pass"]
    worst = next((one for one in ("TIMEOUT_FAIL", "FAIL", "UNAVAILABLE") if one in outcomes), "PASS")
    gates = [
        {"gate": one.gate, "result": outcome, "reason": one.reason, "runs": list(one.runs)}
        for one, outcome in zip(judged, outcomes, strict=True)
    ]
    return {"result": worst if judged else "UNAVAILABLE", "failure_reason": "; ".join(failed), "gates": gates}


def _correctness(state: WorkspaceState, candidate: Candidate | None, blob: BlobReader) -> dict[str, Any]:
    judged = next(
        (one for one in last_words(candidate.gates if candidate is not None else ()) if one.gate == "correctness"), None
    )
    if judged is None:
        return {"status": "UNAVAILABLE", "rel_err": None, "reason": "the correctness gate has not judged it"}
    answers = [_answer(state.runs.get(run), blob) for run in judged.runs]
    known = [
        one
        for one in (_error(answer.get("rel_l2_err", answer.get("max_rel_err"))) for answer in answers)
        if one is not None
    ]
    return {
        "status": _outcome(state, judged),
        "rel_err": max(known) if known else None,
        "reason": judged.reason,
        "rel_err_by_shape": _errors_by_shape(answers),
    }


def _errors_by_shape(answers: list[dict[str, Any]]) -> dict[str, float]:
    """Return shape → largest relative error, as the check's runs reported them."""
    found: dict[str, float] = {}
    for answer in answers:
        members = answer.get("rel_l2_err_by_shape", answer.get("max_rel_err_by_shape"))
        for shape, value in members.items() if isinstance(members, dict) else ():
            error = _error(value)
            if error is not None:
                found[shape] = max(error, found.get(shape, error))
    return found


def _answer(run: Run | None, blob: BlobReader) -> dict[str, Any]:
    """Return a run's output when it is a JSON object, or what stands under its `result`; else nothing."""
    ended = run.finished if run is not None else None
    if ended is None or ended.output is None:
        return {}
    try:
        found = json.loads(blob_text(blob, ended.output))
    except (ValueError, RecursionError):
        return {}
    result = found.get("result", found) if isinstance(found, dict) else None
    return result if isinstance(result, dict) else {}


def _error(value: object) -> float | None:
    if not isinstance(value, float | int) or isinstance(value, bool):
        return None
    try:
        return short(float(value))
    except OverflowError:
        return None


def _experience(state: WorkspaceState, attempt: Round) -> dict[str, Any]:
    claim = attempt.hypothesis.claim if attempt.hypothesis else ""
    made = [_experiment(state, attempt, one, at, claim) for at, one in enumerate(attempt.candidates.values(), 1)]
    recorded = [one for one in made if one["evidence"]]
    return {"experiment_count": len(made), "recorded_experiment_count": len(recorded), "experiments": made}


def _experiment(state: WorkspaceState, attempt: Round, one: Candidate, at: int, claim: str) -> dict[str, Any]:
    decision = "open"
    if attempt.decided is not None:
        is_winner = attempt.chosen is one
        decision = ("continue" if attempt.accepted else "revert") if is_winner else "pivot"
    params = wire.plain(one.submitted.params) if one.submitted is not None else {}
    return {
        "index": at,
        "name": one.name,
        "hypothesis": claim,
        "change": json.dumps(params, sort_keys=True),
        "evidence": [record.id for record in attempt.records if record.candidate == one.name],
        "result": _quality(state, one)["result"],
        "decision": decision,
    }


def _isa(state: WorkspaceState, attempt: Round) -> list[dict[str, Any]]:
    """Return the README's ISA targets; what the compiled code was found to hold gives current and met."""
    code = {"NVIDIA": "sass", "AMD": "amdgcn"}.get(str(state.task.get("vendor")), "")
    read = {str(item.get("metric")): item for one in (*attempt.profiles, *attempt.scans) for item in one.evidence}
    rows = []
    for target in isa_targets(code, matrix_product=uses_matrix(state)):
        item = read.get(target.id, {})
        value, met = item.get("value"), item.get("met")
        current = float(value) if isinstance(value, float | int) and not isinstance(value, bool) else None
        is_met = met if isinstance(met, bool) else None
        rows.append({"metric": target.id, "target": target.text, "current": current, "met": is_met})
    return rows


def _decision(attempt: Round) -> dict[str, Any] | None:
    one = attempt.decided
    if one is None:
        return None
    return {
        "decision": one.decision,
        "policy": one.policy,
        "rule": one.rule,
        "measured": list(one.measured),
        "t": attempt.decided_t,
    }


def _commit(attempt: Round) -> str | None:
    commit = attempt.snapshot.commit if attempt.snapshot is not None else None
    is_hash = commit is not None and 7 <= len(commit) <= 64 and set(commit) <= set("0123456789abcdef")
    return commit if is_hash else None


def _wiki(state: WorkspaceState, references: list[Any]) -> dict[str, Any]:
    pages = dict.fromkeys(row.citation.path for row in state.specs.values())
    used = [one["path_or_url"] for one in references if one["source_type"] == "gpu-wiki"]
    return {"kernel_wiki": list(dict.fromkeys(used)), "hardware_wiki": list(pages)}

"""Renders the reports people read: baseline_report.md and one summary a round."""

from __future__ import annotations

import json

from kopt_kb.base import wire
from kopt_kb.doors.view import sections
from kopt_kb.launch.record.source import BEFORE
from kopt_kb.packs.memory_form.memory import Memories, judged_rates
from kopt_kb.packs.memory_form.memory_model import Iteration
from kopt_kb.quantity.units import format_exact
from kopt_kb.wiki.tables import table
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.rates import ShapeRate, finite
from kopt_kb.workspace.views.words import bullets, figure, finish, percent, quoted, spec_line, spoken

__all__ = [
    "FAILED",
    "SIMULATED",
    "baseline_report",
    "cause_of",
    "code",
    "gap_of",
    "results_of",
    "round_summaries",
]

_DECISIONS = {
    "open": "OPEN", "baseline": "BASELINE", "accept": "ACCEPTED", "accept_with_note": "ACCEPTED WITH NOTE",
    "rollback": "ROLLED BACK", "unverified": "UNVERIFIED", "refuted": "ACCEPTED, THEN REFUTED",
}  # fmt: skip

FAILED = frozenset({"rollback", "unverified", "refuted"})

SIMULATED = "SIMULATED: times come from a made-up model; Stop Conditions are not evaluable."


def _shape_row(rate: ShapeRate) -> tuple[str, ...]:
    tflops = None if rate.flops_per_s is None else rate.flops_per_s * 1e-12
    gbps = None if rate.bytes_per_s is None else rate.bytes_per_s * 1e-9
    shares = (rate.compute_share, rate.bandwidth_share, rate.target_ratio)
    return (
        rate.record.shape,
        rate.record.id,
        str(rate.record.n),
        figure(finite(rate.record.median_s * 1e6)),
        figure(tflops),
        figure(gbps),
        *(figure(None if share is None else 100 * share) for share in shares),
    )


def results_of(state: WorkspaceState, attempt: Round) -> list[str]:
    """Return the table of an attempt's records with their rates."""
    rates = judged_rates(state, attempt)
    if not rates:
        return ["No measurement.", ""]
    head = ["Shape", "Record", "n", "Median (us)", "TFLOPS", "GB/s", "Compute roof (%)", "DRAM roof (%)", "Target (%)"]
    if all(rate.record.trust == "unstated" for rate in rates):
        return table(head, (_shape_row(one) for one in rates))
    return table([*head, "Trust"], ((*_shape_row(one), one.record.trust) for one in rates))


def _gates(memory: Iteration) -> list[str]:
    gates = memory.quality_gate.gates
    if not gates:
        return ["No gate has judged it.", ""]
    return table(["Gate", "Result", "Reason"], ((one.gate, one.result, code(one.reason)) for one in gates))


def code(text: str) -> str:
    """Return a machine's words as a code span."""
    words = " ".join(text.split()).replace("`", "'")
    return f"`{words}`" if words else "-"


def _environment(state: WorkspaceState, attempt: Round) -> list[str]:
    seqs = {record.environment for record in attempt.measured.values()}
    lines = []
    for seq in sorted(seqs & state.environments.keys()):
        one = state.environments[seq]
        versions = ", ".join(f"{name} {version}" for name, version in sorted(one.versions.items()))
        driver = one.driver or "unknown"
        lines.append(f"event {seq}: {one.device}, driver {driver}, {versions}, harness {one.harness[:12]}")
        lines.append(f"clocks: {code(json.dumps(wire.plain(one.clocks), sort_keys=True))}")
    return bullets(lines, "no machine is recorded")


def _notes(attempt: Round, blob: BlobReader) -> list[str]:
    lines: list[str] = []
    for one in (*attempt.notes, *attempt.entries):
        said = _spoken(spoken(one, blob))
        lines += [f"{one.kind}, by {' '.join(one.by.split())} (event {one.seq}):", "", *quoted(said), ""]
    return lines or ["none", ""]


def _spoken(text: str) -> str:
    """Return an entry's members as lines, `name: words`; other text as it is."""
    try:
        members = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(members, dict):
        return text
    return "\n".join(f"{name}: {words}" for name, words in members.items() if words) or text


def baseline_report(state: WorkspaceState, blob: BlobReader, memories: Memories) -> dict[str, str]:
    """Return baseline_report.md, once the baseline has a measurement, a snapshot or a decision.

    On the route pytorch it is there once the first kernel was accepted.
    """
    attempt = state.first
    if attempt is None or attempt.status == "open":
        return {}
    memory = memories[attempt.number]
    problem = state.problem
    lines = ["# Baseline report", ""]
    kernel = memory.kernel.blob or state.created.kernel
    what = "kernel.py" if state.task.project is None else "editable files of the project"
    lines += bullets(
        [
            f"kernel: {what}, sha256 {kernel}",
            f"problem: {problem.op}, {problem.dtype}, {', '.join(memory.problem.shapes)}",
            f"platform: {state.created.platform}",
            f"tolerance: relative error <= {format_exact(problem.tolerance.rel_l2_err)} ({problem.tolerance.reason})",
            f"correctness: {memory.correctness.status}, largest relative error {figure(memory.correctness.rel_err)}",
            f"memory: memory/{memory.version}.json, status {memory.status}",
            *_stage_one(state, attempt),
            *([SIMULATED] if memory.simulated else []),
        ]
    )
    lines += ["## Machine", "", *_environment(state, attempt)]
    lines += ["## Performance", "", *results_of(state, attempt)]
    lines += ["## Gates", "", *_gates(memory)]
    lines += _errors(memory)
    # Noise of another machine was measured later, by its own run.
    own = {record.run for record in attempt.measured.values()}
    told = [one for one in state.noise_records if one.run in own] or state.noise_records
    latest = {one.shape: one for one in told}
    noise = [(one.shape, one.n, figure(one.median_s * 1e6), figure(one.floor_pct)) for one in latest.values()]
    if noise:
        lines += ["## Noise", "", *table(["Shape", "n", "Median (us)", "Smallest gain that counts (%)"], noise)]
    lines += ["## Hardware values used", ""]
    lines += bullets(map(spec_line, state.specs.values()), "none is registered")
    lines += ["## Notes", "", *_notes(attempt, blob)]
    return {"baseline_report.md": finish(lines)}


def _stage_one(state: WorkspaceState, baseline: Round) -> list[str]:
    """Return what Stage 1 was: which framework's kernel, and the attempts before it that failed."""
    if state.route != "pytorch":
        return []
    said = baseline.hypothesis.claim if baseline.hypothesis is not None else "not stated"
    before = [f"v{one.number} ({one.status})" for one in state.attempts.values() if one.number < baseline.number]
    return [f"implemented by: {said}", f"attempts before it: {', '.join(before) or 'none'}"]


def _errors(memory: Iteration) -> list[str]:
    """Return the largest relative error of each shape; journals from before it was recorded have no such table."""
    errors = memory.correctness.rel_err_by_shape
    if not errors:
        return []
    rows = [(shape, figure(error)) for shape, error in errors.items()]
    return ["## Correctness", "", *table(["Shape", "Largest relative error"], rows)]


def round_summaries(state: WorkspaceState, blob: BlobReader, memories: Memories) -> dict[str, str]:
    """Return rounds/round-N/summary.md of every attempt."""
    return {
        f"rounds/round-{number + 1}/summary.md": _summary(state, attempt, memories[number], blob)
        for number, attempt in state.attempts.items()
    }


def _summary(state: WorkspaceState, attempt: Round, memory: Iteration, blob: BlobReader) -> str:
    lines = [f"# Attempt {attempt.number} (v{attempt.number})", ""]
    if attempt.number in state.masked:
        return finish([*lines, "This version is masked: it must not influence what is tried next.", ""])
    if memory.simulated:
        lines += [SIMULATED, ""]
    stated = memory.optimization
    lines += ["## Hypothesis", ""]
    claim = stated.action_description if stated else ""
    expected = stated.expected_impact if stated else ""
    lines += bullets([f"{stated.action_category}: {claim}", f"expected: {expected}"] if stated and claim else [])
    lines += _why(state, attempt)
    lines += ["## Single change", ""]
    changes = [
        f"{experiment.name}: {code(experiment.change)}, {experiment.result}, {experiment.decision}"
        for experiment in memory.experience.experiments
    ]
    lines += bullets(changes, "nothing changed" if not attempt.number else "no candidate yet")
    lines += ["## Results", "", "### Validation", "", *_gates(memory), *results_of(state, attempt)]
    lines += ["### Aggregate", "", *_aggregate(memory)]
    lines += ["## Decision", "", _DECISIONS[memory.status], ""]
    if memory.decision is not None:
        rests = ", ".join(memory.decision.measured) or "no measurement"
        level = attempt.decided.trust if attempt.decided is not None else "unstated"
        source = attempt.decided.source if attempt.decided is not None else BEFORE
        trust = "" if level == "unstated" else f"; trust: {source.beside(level)}"
        lines += [f"{memory.decision.policy}: {code(memory.decision.rule)}; rests on {rests}{trust}.", ""]
    profiles = [
        f"{evidence.tool_used}: {evidence.bottleneck_type}, report {evidence.report[:12]}"
        for evidence in memory.profile_evidence
    ]
    told = bullets(profiles, "no profile of this kernel: times say that it changed, not why")
    lines += ["## Attribution", "", *told, *gap_of(state, attempt)]
    lines += sections("report", state, attempt, blob)
    lines += ["## Next direction", ""]
    lines += bullets(
        f"{direction.direction}: {direction.rationale}" if direction.rationale else direction.direction
        for direction in memory.open_directions
    )
    if memory.status in FAILED:
        lines += ["## Rollback Analysis", "", *_rollback(memory, state)]
    lines += ["## Machine", "", *_environment(state, attempt), "## Notes", "", *_notes(attempt, blob)]
    return finish(lines)


def _aggregate(memory: Iteration) -> list[str]:
    one, found = memory.performance, [f"geomean latency (us): {figure(memory.performance.latency_us)}"]
    found.append(f"geomean of achieved / target: {figure(one.target_ratio)}")
    before = one.comparison_with_previous
    if before is not None:
        how = "timed again in this round" if before.same_round else "as timed in its own round"
        level = f" ({before.level})" if before.level else ""
        found.append(f"throughput against {before.version} ({how}): {percent(before.throughput_change_pct)}{level}")
    return bullets(found)


def _why(state: WorkspaceState, attempt: Round) -> list[str]:
    """Return why the hypothesis is of its category, and the review that was held before it."""
    chosen = state.choice_of(attempt.number)
    lines = [f"category: {code(chosen.reason)}"] if chosen is not None else []
    for review in state.reviews.values():
        if review.round == attempt.number:
            after = ", ".join(f"v{number}" for number in review.versions)
            lines += [f"review after {after}: {code(one.text)}" for one in review.directions]
            lines += [f"to read: {code(one)}" for one in review.references]
    return bullets(lines) if lines else []


def gap_of(state: WorkspaceState, attempt: Round) -> list[str]:
    """Return where the time above the roofs goes, one list a shape; nothing where nobody accounted for it."""
    lines = []
    for gap in state.gaps_of(attempt).values():
        head, *parts = gap.text().splitlines()
        lines += [head, "", *bullets(part.strip() for part in parts)]
    return lines


def _rollback(memory: Iteration, state: WorkspaceState) -> list[str]:
    stated = memory.optimization
    before = memory.performance.comparison_with_previous
    actual = percent(before.throughput_change_pct) if before is not None else "-"
    return bullets(
        [
            f"change made: {stated.action_description if stated else 'not stated'}",
            f"expected effect: {stated.expected_impact if stated else 'not stated'}",
            f"actual effect on throughput: {actual}",
            f"root cause: {code(cause_of(memory, state) or 'not recorded')}",
            *(f"lesson: {pitfall.lesson}" for pitfall in memory.pitfalls_and_fixes),
        ]
    )


def cause_of(iteration: Iteration, state: WorkspaceState) -> str:
    """Return why an attempt is not accepted: what refuted it, the gates that stopped it, else the rule."""
    by = state.attempts[int(iteration.version[1:])].refuted_by
    if by is not None:
        decided = state.attempts[by].decided
        return f"refuted by v{by}: {decided.rule if decided is not None else ''}"
    wanted = {"FAIL", "TIMEOUT_FAIL"} if iteration.status != "unverified" else {"FAIL", "TIMEOUT_FAIL", "UNAVAILABLE"}
    gates = [f"{gate.gate}: {gate.reason}" for gate in iteration.quality_gate.gates if gate.result in wanted]
    return "; ".join(gates) or (iteration.decision.rule if iteration.decision else "")

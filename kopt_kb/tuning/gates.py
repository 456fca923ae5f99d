"""The gates in their fixed order: each gives pass, fail or unavailable with a reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kopt_kb.analysis.roofline.recorded import RecordedRoofline
from kopt_kb.launch.candidate.answers import Check, ReportEvidence, Timing
from kopt_kb.launch.candidate.job import JobKind
from kopt_kb.launch.candidate.launcher_run import DID_ONCE, LauncherRun
from kopt_kb.launch.kernel.op_options import clashes
from kopt_kb.quantity.readable import duration
from kopt_kb.tuning.decision import GateResult
from kopt_kb.tuning.jobs import Ran
from kopt_kb.tuning.lint import LintFinding, lint_source
from kopt_kb.tuning.parts import gate_named
from kopt_kb.tuning.policy import Gate
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.floors import floor_s, floor_text, is_flushed

if TYPE_CHECKING:
    from kopt_kb.analysis.roofline.executed import ExecutedFloor

__all__ = ["GateContext", "floor_s", "is_flushed", "judge", "lint_kernel"]


@dataclass(frozen=True, slots=True)
class GateContext:
    """What gates judge with.

    Attributes:
        source: The candidate.
        workspace: Problem, specs and targets.
        simulated: Whether times are computed.
        run: Runs a job of a kind once and remembers it.
        times: The candidate's times once timing ran: shape → seconds a repeat.
        evidence: Reads and keeps the answer of a profiling run.
        resources: Judges a source against sourced limits without a GPU; None: no compiler.
        framework: Framework of which the source has to launch a kernel; empty, or one whose kernels can't be
            recognised: any.
        cold: Whether caches are flushed before each timed run.
        lint: Judges a source that is no single kernel file; None: the lint of kernel files does.
        current: The round of the candidate.
        files: Path → text of the incumbent's files, and of the candidate's.
        executed: Shape → the floor of its products by the machine code that was timed; empty where nobody reads that.
    """

    source: bytes
    workspace: WorkspaceState
    simulated: bool
    run: Callable[[JobKind], Ran]
    times: Callable[[], Mapping[str, list[float]]]
    evidence: Callable[[ReportEvidence], GateResult]
    resources: Callable[[bytes], GateResult] | None = None
    framework: str = ""
    cold: bool = True
    lint: Callable[[bytes], GateResult] | None = None
    current: Round | None = None
    files: Callable[[], tuple[Mapping[str, str], Mapping[str, str]]] = lambda: ({}, {})
    executed: Callable[[], Mapping[str, ExecutedFloor]] = dict


def judge(gate: Gate, context: GateContext) -> tuple[GateResult, tuple[str, ...]]:
    """Return a gate's word and the runs it rests on."""
    judges: Mapping[Gate, Callable[[GateContext], tuple[GateResult, tuple[str, ...]]]] = {
        "lint": _lint, "limits": _limits, "build": _build, "correctness": _correctness,
        "timing": _timing, "roofline": _roofline, "launcher": _launcher, "evidence": _evidence,
    }  # fmt: skip
    if gate in judges:
        return judges[gate](context)
    result, runs = gate_named(gate).judge(context)
    return replace(result, gate=gate), runs


_NO_ANSWER = "the run gave no answer"
_Judged = tuple[GateResult, tuple[str, ...]]


def _lint(context: GateContext) -> _Judged:
    if context.lint is not None:
        return context.lint(context.source), ()
    return lint_kernel(context.source, context.workspace, context.framework), ()


def lint_kernel(source: bytes, workspace: WorkspaceState, framework: str) -> GateResult:
    """Return the lint gate's word on a kernel file."""
    problem = workspace.problem
    entry = (problem.own.entry or "") if problem.own is not None else ""
    found = lint_source(source, framework=framework, foreign=problem.own is not None, entry=entry)
    others = clashes(source, problem.op, dict(problem.options)) if problem.own is None else []
    findings = [*found, *(LintFinding(one.line, one.what) for one in others)]
    if findings:
        text = "; ".join(f"line {finding.line} {finding.what}" for finding in findings[:5])
        return GateResult("lint", "fail", text)
    return GateResult("lint", "pass")


def _limits(context: GateContext) -> _Judged:
    if context.simulated or context.resources is None:
        reason = "simulated" if context.simulated else "no compiler, or no sourced limits"
        return GateResult("limits", "unavailable", reason), ()
    return context.resources(context.source), ()


def _build(context: GateContext) -> _Judged:
    ran = context.run("check")
    if ran.outcome == "lost" or ran.unable:
        return GateResult("build", "unavailable", ran.failure() or ran.unable), (ran.run,)
    # The answer is there too when the run ended later, in its test.
    reason = ran.result.build_error if isinstance(ran.result, Check) else ran.failure() or _NO_ANSWER
    return GateResult("build", "fail" if reason else "pass", reason), (ran.run,)


def _correctness(context: GateContext) -> _Judged:
    ran = context.run("check")
    if ran.outcome == "lost" or ran.unable:
        return GateResult("correctness", "unavailable", ran.failure() or ran.unable), (ran.run,)
    if not isinstance(ran.result, Check):
        return GateResult("correctness", "fail", ran.failure() or _NO_ANSWER), (ran.run,)
    reason = ran.failure() or ran.result.problem
    passed = ran.result.passed and not reason
    basis = ran.result.basis
    if passed and basis is not None and basis.trust == "reported":
        reason = basis.reason  # what it rests on, where that is a word of the candidate's side
    return GateResult("correctness", "pass" if passed else "fail", reason), (ran.run,)


def _timing(context: GateContext) -> _Judged:
    ran = context.run("timing")
    if ran.outcome == "lost" or ran.unable:
        return GateResult("timing", "unavailable", ran.failure() or ran.unable), (ran.run,)
    reason = ran.failure() or (ran.result.problem if isinstance(ran.result, Timing) else _NO_ANSWER)
    return GateResult("timing", "fail" if reason else "pass", reason), (ran.run,)


def _roofline(context: GateContext) -> _Judged:
    if context.simulated:
        return GateResult("roofline", "pass", "simulated: nothing is compared with a roof"), ()
    floors = floor_s(context.workspace, cold=context.cold)
    if not floors:
        return GateResult("roofline", "unavailable", "no floor is known"), ()
    fastest = {shape: min(times) for shape, times in context.times().items()}
    for shape, seconds in fastest.items():
        if seconds < floors.get(shape, 0.0):
            took, least = duration(seconds), duration(floors[shape])
            route = floor_text(context.workspace, shape, floors[shape])
            text = f"{shape} took {took}, less than its floor of {least} ({route}): {_BELOW}"
            return GateResult("roofline", "fail", text), ()
    return _by_machine_code(context, fastest), ()


def _by_machine_code(context: GateContext, fastest: Mapping[str, float]) -> GateResult:
    """Hold times above the floor against what the timed code can do, and name what ran where a time is below a roof."""
    executed, said = context.executed(), []
    roofs = {one.shape: one for one in context.workspace.rooflines}
    for shape, seconds in fastest.items():
        found, roof = executed.get(shape), roofs.get(shape)
        if found is None:
            continue
        if found.seconds is not None and seconds < found.seconds:
            took, least = duration(seconds), duration(float(found.seconds))
            text = f"{shape} took {took}, less than the {least} that its code ({found.engine}) takes: {_BELOW}"
            return GateResult("roofline", "fail", text)
        above = (
            []
            if roof is None
            else [one.name for one in roof.ceilings if one.is_engine and _beaten(roof, one.name, seconds)]
        )
        said += [f"{shape}: {found.engine} ran, the {name} roof does not bind" for name in above]
    return GateResult("roofline", "pass", "; ".join(said))


def _beaten(roof: RecordedRoofline, name: str, seconds: float) -> bool:
    least = roof.least_s(name, "documented")
    return least is not None and seconds < least


_BELOW = (
    "no kernel does that, so the work is counted wrongly (options or shape of the problem), the kernel does not do it "
    "all, or a page of the product is wrong; `kb roofline` cites the roof's rows"
)
"""What a time below its floor can mean, and where to look."""


def _launcher(context: GateContext) -> _Judged:
    if context.simulated:
        return GateResult("launcher", "pass", "simulated: no launcher runs"), ()
    ran = context.run("launcher")
    found = ran.result
    if not isinstance(found, LauncherRun):
        return GateResult("launcher", "unavailable", ran.failure() or ran.unable or _NO_ANSWER), (ran.run,)
    if found.problem:
        return GateResult("launcher", "fail", f"not what its record does: {found.problem}"), (ran.run,)
    if found.outcome == "confirmed":
        return GateResult("launcher", "pass", DID_ONCE), (ran.run,)
    if not found.is_own:
        return GateResult("launcher", "pass", found.reason), (ran.run,)
    return GateResult("launcher", "unavailable", found.reason), (ran.run,)


def _evidence(context: GateContext) -> _Judged:
    if context.simulated:
        return GateResult("evidence", "unavailable", "simulated"), ()
    ran = context.run("evidence")
    if not isinstance(ran.result, ReportEvidence):
        return GateResult("evidence", "unavailable", ran.failure() or ran.unable or _NO_ANSWER), (ran.run,)
    return context.evidence(ran.result), (ran.run,)

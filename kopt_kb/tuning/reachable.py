"""What this machine reaches: a copy of the same bytes, or a fast kernel of the same shape, by the judge's clock.

A probe is timed as a candidate is: by the same executor, flush and samples. It is a record of a journal and never a
value of the wiki; targets stay shares of cited rows, and what is reachable stands beside them.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kopt_kb.analysis.roofline.recorded import DRAM, RecordedRoofline
from kopt_kb.launch.candidate.answers import Sample, Timing, Trust
from kopt_kb.launch.candidate.job import Job
from kopt_kb.launch.candidate.source_config import with_configs
from kopt_kb.launch.kernel.declared import packaged_file
from kopt_kb.problem.dtypes import dtype_of
from kopt_kb.problem.shapes import format_shape
from kopt_kb.tuning.jobs import JobFiles, Ran
from kopt_kb.tuning.proposers import declared_of, packaged_kernel
from kopt_kb.tuning.session import Session
from kopt_kb.workspace.journal.setup_events import COPY_PROBE, PRODUCT_PROBE, ReachableMeasured
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["Probe", "floors_of", "measure_reachable", "probes_of"]

_LIBRARY = """

def launch(a, b, *, config=None, out=None):
    \"\"\"Return the library's product of two matrices.\"\"\"
    return torch.mm(a, b, out=out) if out is not None else torch.mm(a, b)
"""
"""Appended to the package's kernel of a matrix product: its inputs and reference, the library's product."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What is timed to know what a shape can reach.

    Attributes:
        shape: Shape of the problem.
        roof: Roof it is about.
        what: What is timed, for people.
        name: `copy`, `library` or `packaged`.
        op: Operation that is timed.
        timed: Shape that is timed.
        amount: What counts under the roof in one run of it: bytes, or operations.
        source: The file that is timed, inputs and reference included.
    """

    shape: str
    roof: str
    what: str
    name: str
    op: str
    timed: str
    amount: int
    source: bytes


def probes_of(state: WorkspaceState, trust: Trust = "replayed") -> tuple[Probe, ...]:
    """Return one probe a shape whose limiting roof a copy, a packaged kernel or a library's product can stand for.

    A replay can't launch what a library keeps inside it. There the package's own kernel takes the library's place,
    with the settings that its file declares for this very target; where it declares none, torch.mm is tried and the
    executor says why it can't.

    Args:
        state: Rooflines, problem and target.
        trust: Level of the executor that is to time them.
    """
    is_own = state.problem.own is not None  # it may share its name with an operation of the package, and nothing else
    fast = _Fast(b"", {}) if is_own else _packaged(state, trust)
    known = (one for one in state.rooflines if one.target.name == DRAM or not is_own)
    found = (_probe(one, state.problem.dtype, fast) for one in known)
    return tuple(one for one in found if one is not None)


def floors_of(state: WorkspaceState) -> dict[str, tuple[float, str]]:
    """Return shape → the seconds at which the machine in force did the same amount, and what took them.

    A search may end there: nothing was ever seen to be faster. Of simulated times there is none, and none of the
    package's own kernel, which another may beat.
    """
    if state.simulated:
        return {}
    amounts = {one.shape: one.work.amount_under(one.target.name) for one in state.rooflines}
    roofs = {one.shape: one.target.name for one in state.rooflines}
    return {
        one.shape: (amounts[one.shape] / one.rate_si, f"{one.probe} on this machine, run {one.run}")
        for one in state.reachable_of(state.environment_seq).values()
        if one.rate_si and roofs.get(one.shape) == one.roof and one.is_unbeaten
    }


@dataclass(frozen=True, slots=True)
class _Fast:
    """The package's kernel as a probe: its file with settings, and shape → what those are called."""

    source: bytes
    settings: Mapping[str, str]


def _packaged(state: WorkspaceState, trust: Trust) -> _Fast:
    """Return the package's kernel with what it declares for this very target, on the shapes that arithmetic limits."""
    op, dtype, target = state.problem.op, state.problem.dtype, state.task.target
    shapes = [one.work.shape for one in state.rooflines if one.target.name != DRAM]
    is_library = op == "gemm" and trust != "replayed"
    source = packaged_kernel(op, options=dict(state.problem.options)) if shapes and not is_library else None
    declared = declared_of(source) if source is not None and dtype == _timed_type(dtype) else None
    if source is None or declared is None:
        return _Fast(b"", {})
    found = {
        format_shape(shape): variant
        for variant in reversed(declared.variants) if target in variant.targets  # the first that applies stays
        for shape in shapes if variant.applies(op, shape, dtype, target)
    }  # fmt: skip
    configs = {shape: dict(variant.config) for shape, variant in found.items()}
    return _Fast(with_configs(source, configs), {shape: variant.name for shape, variant in found.items()})


def _probe(roofline: RecordedRoofline, dtype: str, fast: _Fast) -> Probe | None:
    roof, work = roofline.target.name, roofline.work
    if roof == DRAM:
        size = max(dtype_of(_timed_type(dtype)).bits // 8, 1)
        elements = max(work.amount_under(DRAM) // (2 * size), 1)
        source = Path(__file__).parents[1].joinpath("kernels", "copy.py").read_bytes()
        own = (roofline.shape, roof, COPY_PROBE, "copy", "elementwise")
        return Probe(*own, str(elements), 2 * size * elements, source)
    amount, timed = work.amount_under(roof), format_shape(work.shape)
    if timed in fast.settings:
        what = f"the package's {fast.settings[timed]} of the same shape"
        return Probe(roofline.shape, roof, what, "packaged", work.op, timed, amount, fast.source)
    if work.op == "gemm" and dtype == _timed_type(dtype):
        path = packaged_file("gemm")
        source = (path.read_bytes() if path is not None else b"") + _LIBRARY.encode()
        return Probe(roofline.shape, roof, PRODUCT_PROBE, "library", "gemm", timed, amount, source)
    return None


def _timed_type(dtype: str) -> str:
    """Return the type that a probe's file can hold: bytes are bytes for a copy."""
    return dtype if dtype in {"fp16", "bf16", "fp32"} else "bf16"


def measure_reachable(
    session: Session, state: WorkspaceState, job: Callable[[JobFiles, tuple[str, ...], str], Job]
) -> tuple[ReachableMeasured, ...]:
    """Time each probe once on the machine in force and append what it reaches; a probe that fails says why.

    Args:
        session: Where events are appended.
        state: Rooflines and machine.
        job: Makes the timing of a source on shapes of a type.

    Raises:
        BudgetSpentError: The seconds of this call are over.
    """
    dtype, found = _timed_type(state.problem.dtype), []
    by_name: dict[str, list[Probe]] = {}
    for probe in probes_of(state, session.executor.trust):
        by_name.setdefault(probe.name, []).append(probe)
    for name, probes in by_name.items():
        sources = JobFiles(probes[0].source, probes[0].source, probes[0].source)
        candidate = f"reach-{state.environment_seq}-{name}"
        attempt = 1 + sum(one.started.candidate == candidate for one in state.runs.values())
        run = f"{candidate}.timing.{attempt}"
        asked = job(sources, tuple(dict.fromkeys(one.timed for one in probes)), dtype)
        # One repeat: what decides is timed in each of a candidate's, and the seconds of short calls are few.
        asked = replace(asked, body=replace(asked.body, op=probes[0].op, repeats=1, trials=()))
        outcome = session.execute(run, candidate, attempt, asked)
        ran = Ran(outcome.outcome, outcome.result, run, outcome.printed)
        found += [_event(probe, state.environment_seq, ran) for probe in probes]
    probed = {one.shape for one in found}
    for roofline in state.rooflines:
        if roofline.shape not in probed:
            why = f"no probe stands for {roofline.target.name} of {roofline.work.op}"
            found.append(
                ReachableMeasured(
                    roofline.shape, "none", roofline.target.name, None, None, 0, "", state.environment_seq, why
                )
            )
    for event in found:
        session.append(event)
    return tuple(found)


def _event(probe: Probe, environment: int, ran: Ran) -> ReachableMeasured:
    own = (probe.shape, probe.what, probe.roof)
    answer = ran.result
    if not isinstance(answer, Timing) or answer.problem or probe.timed not in answer.shapes:
        reason = ran.failure() or ran.unable or (answer.problem if isinstance(answer, Timing) else "") or "no times"
        return ReachableMeasured(*own, None, None, 0, ran.run, environment, reason[:300])
    samples = _samples(answer.shapes[probe.timed])
    median_s = statistics.median(one.median_s for one in samples)
    taken = sum(one.n for one in samples)
    return ReachableMeasured(*own, probe.amount / median_s, median_s, taken, ran.run, environment, "")


def _samples(sides: Mapping[str, Iterable[Sample]]) -> list[Sample]:
    return [one for samples in sides.values() for one in samples]

"""Which records stand for a version of a kernel, and what they come to under every roof and Stop Condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from kopt_kb.analysis.roofline.recorded import RecordedRoofline, RoofUse, roof_uses
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.problem.shapes import format_shape
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.journal.setup_events import EnvironmentRecorded
from kopt_kb.workspace.rounds import SIMULATOR, Bench, Round, standing
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.conditions import (
    AboveCeilingError,
    Aggregate,
    Evaluation,
    JudgedCondition,
    StopConditions,
    above_roof,
)

__all__ = [
    "BenchReport",
    "ConditionVerdict",
    "MachineUsed",
    "RecordSource",
    "Scope",
    "ShapeUse",
    "bench_report",
    "is_whole",
    "records_of",
    "why_not_judged",
]

Scope = Literal["aggregate", "every_shape"]
ConditionVerdict = Literal["met", "unmet", "not evaluable", "unknown"]


@dataclass(frozen=True, slots=True)
class RecordSource(Wire):
    """Records of one kernel, all of one round or one bench.

    Attributes:
        kind: Where they were taken.
        name: The round's version (`v3`) or the bench (`bench-1`).
        version: The version whose kernel it is; None for a kernel that is none.
        kernel: Its blob; empty when no event says so.
        records: Shape → the record that stands for it.
        machine: Where it was timed; None without records.
    """

    WIRE: ClassVar = ("kind", "name", "version", "kernel=_kernel")
    kind: Literal["round", "bench"]
    name: str
    version: int | None
    kernel: str
    records: Mapping[str, Measured]
    machine: EnvironmentRecorded | None

    @property
    def simulated(self) -> bool:
        """Whether the times were computed."""
        return self.machine is not None and self.machine.device == SIMULATOR

    @property
    def _kernel(self) -> str | None:
        return self.kernel or None


def records_of(
    state: WorkspaceState,
    version: int | None,
    fits: Callable[[EnvironmentRecorded], bool],
    where: str,
) -> RecordSource | None:
    """Return the newest records of a version, or None when it has none.

    A bench stands for a version when it timed the same bytes after the version's round, on every shape, and no record
    is above a roof. Where nothing else is left a bench above a roof is returned, so that judging it tells.

    Args:
        state: Problem, rooflines and targets.
        version: Its number; None: the last accepted one, or the last bench when nothing is accepted.
        fits: Whether a machine is the product that the workspace is for; benches elsewhere do not stand for a version.
        where: The workspace, for errors.

    Raises:
        BadInput: There is no such version.
    """
    if version is not None and version not in state.attempts:
        known = ", ".join(map(str, state.attempts))
        raise BadInput(f"there is no version {version}", where=where, fix=f"versions: {known}", code="KB321")
    one = state.best if version is None else state.attempts[version]
    if one is None:
        whole = [bench for bench in state.benches.values() if is_whole(state, bench)]
        right = [bench for bench in whole if not _is_above(state, bench, fits)]
        return _bench((right or whole)[-1]) if whole else None
    own = _round(state, one)
    later = [
        bench
        for bench in state.benches.values()
        if own.kernel and bench.started.kernel == own.kernel and (not own.records or bench.seq > one.ended)
    ]
    whole = [bench for bench in later if fits(bench.started.machine) and is_whole(state, bench)]
    right = [bench for bench in whole if not _is_above(state, bench, fits)]
    if right and not own.simulated:
        return _bench(right[-1], one.number)
    if own.records or not whole:
        return own if own.records else None
    return _bench(whole[-1], one.number)


def is_whole(state: WorkspaceState, bench: Bench) -> bool:
    """Whether a bench has all its records: it keeps them shape by shape, and a kill may have come between two."""
    counts = [sum(one.shape == format_shape(shape) for one in bench.records) for shape in state.problem.shapes]
    return bool(bench.records) and len(set(counts)) == 1


def _is_above(state: WorkspaceState, bench: Bench, fits: Callable[[EnvironmentRecorded], bool]) -> bool:
    return fits(bench.started.machine) and bool(above_roof(state, standing(bench.records)))


def _round(state: WorkspaceState, attempt: Round) -> RecordSource:
    records = attempt.own_records
    machines = [state.environments.get(record.environment) for record in records.values()]
    submitted = attempt.chosen.submitted if attempt.chosen is not None else None
    kernel = attempt.snapshot.blob if attempt.snapshot is not None else submitted.blob if submitted is not None else ""
    machine = next((found for found in machines if found is not None), None)
    return RecordSource("round", f"v{attempt.number}", attempt.number, kernel, records, machine)


def _bench(bench: Bench, version: int | None = None) -> RecordSource:
    started = bench.started
    known = started.version if version is None else version
    return RecordSource("bench", started.bench, known, started.kernel, standing(bench.records), started.machine)


@dataclass(frozen=True, slots=True)
class ShapeUse(Wire):
    """One shape's record under the roofs; no roofs when the conditions can't be judged.

    Attributes:
        shape: As on the command line.
        record: The measurement.
        bound: What limits the work, by the roofline.
        limiter: Roof that binds.
        roofs: Use of each.
    """

    WIRE: ClassVar = (
        "shape", "record=_record", "n=record.n", "median_s=record.median_s", "spread=record.spread", "bound",
        "limiter", "roofs",
    )  # fmt: skip
    shape: str
    record: Measured
    bound: str
    limiter: str
    roofs: tuple[RoofUse, ...]

    @property
    def _record(self) -> str | None:
        return self.record.id or None


@dataclass(frozen=True, slots=True)
class MachineUsed(Wire):
    """Where records were timed, with the platform id of its product; None for a name that no page has."""

    WIRE: ClassVar = (
        "device=machine.device", "product", "driver=machine.driver", "clocks=machine.clocks",
        "versions=machine.versions", "harness=machine.harness",
    )  # fmt: skip
    machine: EnvironmentRecorded
    product: str | None


@dataclass(frozen=True, slots=True)
class BenchReport(Wire):
    """What records come to.

    Attributes:
        workspace: Its folder.
        platform: Product the conditions are for.
        source: The records.
        product: Platform id of the device they were taken on; empty for a name that no page has.
        why_not: Why they can't be judged; empty when they can.
        shapes: Measured shapes in the problem's order.
        evaluation: The conditions judged; None when they can't be.
        unknown: Shapes without a target, since an input of it is UNKNOWN.
        scope: What has to be met.
    """

    WIRE: ClassVar = (
        "workspace", "platform", "source", "environment", "simulated=source.simulated", "shapes",
        "conditions=_conditions", "aggregate=_aggregate", "unknown", "scope", "verdict", "reason=_reason",
    )  # fmt: skip
    workspace: str
    platform: str
    source: RecordSource
    product: str
    why_not: str
    shapes: tuple[ShapeUse, ...]
    evaluation: Evaluation | None
    unknown: tuple[str, ...]
    scope: Scope

    @property
    def verdict(self) -> ConditionVerdict:
        """Whether the scope's conditions are met; what is simulated or of another device is not evaluable."""
        judged = self.evaluation
        if judged is None:
            return "not evaluable"
        met = judged.all_met if self.scope == "every_shape" else judged.aggregate_met
        if judged.judged and not met:
            return "unmet"
        return "unknown" if self.unknown or not judged.judged else "met"

    @property
    def environment(self) -> MachineUsed | None:
        """Where the records were timed; None without records."""
        machine = self.source.machine
        return None if machine is None else MachineUsed(machine, self.product or None)

    @property
    def _conditions(self) -> tuple[JudgedCondition, ...] | None:
        return None if self.evaluation is None else self.evaluation.judged

    @property
    def _aggregate(self) -> Aggregate | None:
        return None if self.evaluation is None else self.evaluation.total

    @property
    def _reason(self) -> str | None:
        return self.why_not or None


def why_not_judged(source: RecordSource, platform: str, product: str) -> str:
    """Return why records say nothing about a platform's conditions, or nothing."""
    if source.simulated:
        return "the times are simulated, computed from a made-up model"
    device = source.machine.device if source.machine is not None else ""
    if product and product != platform:
        return f"measured on {device}, which is {product}; the conditions are for {platform}"
    if not product:
        return f"measured on {device or 'an unknown device'}, a name no page of the wiki has; is it {platform}?"
    return ""


def bench_report(
    state: WorkspaceState, source: RecordSource, product: str, scope: Scope, where: str = ""
) -> BenchReport:
    """Return records held against the targets in force.

    Args:
        state: Problem, rooflines and targets.
        source: The records.
        product: Platform id of their device, empty when unknown.
        scope: What has to be met.
        where: The workspace's folder.

    Raises:
        AboveCeilingError: A rate above a documented roof: an error, never "met".
    """
    platform = state.created.platform
    reason = why_not_judged(source, platform, product)
    roofs = {roofline.shape: roofline for roofline in state.rooflines}
    order = [format_shape(one) for one in state.problem.shapes]
    records = {shape: source.records[shape] for shape in order if shape in source.records}
    shapes = tuple(_use(one, roofs, judged=not reason) for one in records.values())
    if not reason:
        _refuse_above(state, records)
    conditions = StopConditions.of(state)
    known = {condition.shape for condition in conditions.conditions}
    return BenchReport(
        where,
        platform,
        source,
        product,
        reason,
        shapes,
        None if reason else conditions.evaluate(records),
        tuple(shape for shape in order if shape not in known),
        scope,
    )


def _use(record: Measured, roofs: Mapping[str, RecordedRoofline], *, judged: bool) -> ShapeUse:
    roof = roofs.get(record.shape)
    if roof is None:
        return ShapeUse(record.shape, record, "unknown", "", ())
    used = roof_uses(roof, record.median_s) if judged else ()
    return ShapeUse(record.shape, record, roof.bound, roof.limiter, used)


def _refuse_above(state: WorkspaceState, records: Mapping[str, Measured]) -> None:
    for shape, what in above_roof(state, records).items():
        record = records[shape].id
        raise AboveCeilingError(
            what,
            where=f"record {record}" if record else "this measurement",
            fix="check the timing, the work and the roof; nothing is faster than its roof",
        )

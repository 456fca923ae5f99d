"""Records held against every roof and Stop Condition of a workspace, and the verdict on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kopt_kb.problem.shapes import format_shape
from kopt_kb.workspace.bench_source import RecordSource
from kopt_kb.workspace.conditions import AboveCeilingError, Evaluation, StopConditions
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.roof_use import RoofUse, roof_uses
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["BenchReport", "Scope", "ShapeUse", "Verdict", "bench_report", "why_not_judged"]

Scope = Literal["aggregate", "every_shape"]
Verdict = Literal["met", "unmet", "not evaluable", "unknown"]


@dataclass(frozen=True, slots=True)
class ShapeUse:
    """One shape's record under the roofs; no roofs when the conditions can't be judged.

    Attributes:
        shape: As on the command line.
        record: The measurement.
        bound: What limits the work, by the roofline.
        limiter: Roof that binds.
        roofs: Use of each.
    """

    shape: str
    record: Measured
    bound: str
    limiter: str
    roofs: tuple[RoofUse, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the CLI's JSON."""
        return {
            "shape": self.shape, "record": self.record.id or None, "n": self.record.n,
            "median_s": self.record.median_s, "spread": dict(self.record.spread), "bound": self.bound,
            "limiter": self.limiter, "roofs": [one.to_json() for one in self.roofs],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class BenchReport:
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
    def verdict(self) -> Verdict:
        """Whether the scope's conditions are met; what is simulated or of another device is not evaluable."""
        judged = self.evaluation
        if judged is None:
            return "not evaluable"
        met = judged.all_met if self.scope == "every_shape" else judged.aggregate_met
        if judged.judged and not met:
            return "unmet"
        return "unknown" if self.unknown or not judged.judged else "met"

    def to_json(self) -> dict[str, Any]:
        """Return the CLI's JSON."""
        machine, judged = self.source.machine, self.evaluation
        environment = None if machine is None else {
            "device": machine.device, "product": self.product or None, "driver": machine.driver,
            "clocks": dict(machine.clocks), "versions": dict(machine.versions), "harness": machine.harness,
        }  # fmt: skip
        return {
            "workspace": self.workspace, "platform": self.platform, "source": self.source.to_json(),
            "environment": environment, "simulated": self.source.simulated,
            "shapes": [one.to_json() for one in self.shapes],
            "conditions": None if judged is None else [one.to_json() for one in judged.judged],
            "aggregate": None if judged is None else judged.to_json()["aggregate"],
            "unknown": list(self.unknown), "scope": self.scope, "verdict": self.verdict,
            "reason": self.why_not or None,
        }  # fmt: skip


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
    roofs = {format_shape(tuple(one["work"]["shape"])): one for one in state.rooflines}
    order = [format_shape(one) for one in state.problem.shapes]
    records = {shape: source.records[shape] for shape in order if shape in source.records}
    shapes = tuple(_use(one, roofs, judged=not reason) for one in records.values())
    for one in shapes:
        _refuse_above(one)
    conditions = StopConditions.of(state)
    known = {one.shape for one in conditions.conditions}
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


def _use(record: Measured, roofs: Mapping[str, Mapping[str, Any]], *, judged: bool) -> ShapeUse:
    roof = roofs.get(record.shape)
    if roof is None:
        return ShapeUse(record.shape, record, "unknown", "", ())
    used = roof_uses(roof, record.median_s) if judged else ()
    return ShapeUse(record.shape, record, roof["bound"], roof["limiter"], used)


def _refuse_above(one: ShapeUse) -> None:
    for roof in one.roofs:
        share = roof.documented_share
        if share is not None and share > 1:
            raise AboveCeilingError(
                f"{one.shape} is at {share:.1%} of its {roof.name} roof",
                where=f"record {one.record.id}" if one.record.id else "this measurement",
                fix="check the timing, the work and the roof; nothing is faster than its roof",
            )

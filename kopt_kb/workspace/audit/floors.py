"""Records held against the least time of their shape, which the problem and the wiki's rows give anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kopt_kb.analysis.roofline.recorded import read_rooflines
from kopt_kb.base.errors import KoptError
from kopt_kb.problem.problem import Problem, recorded_problem
from kopt_kb.quantity.readable import duration
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import GateJudged, Measured
from kopt_kb.workspace.journal.setup_events import TargetSet, WorkspaceCreated
from kopt_kb.workspace.registration import TimeBounds, specs_registered, target_set
from kopt_kb.workspace.retarget import aim_in_force, factor_in_force, targets_now
from kopt_kb.workspace.rounds import SIMULATOR
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.floors import floor_s, is_flushed

__all__ = ["floor_findings"]

_FIX = "nothing runs below its floor: the time, the work or a row of the wiki is wrong; time it again"


def floor_findings(
    events: tuple[Event, ...], state: WorkspaceState, platform: Platform, registry: Registry
) -> Iterator[AuditFinding]:
    """Yield a finding for each record below its floor, but for those whose candidate the journal refused for it.

    The floors that a journal recorded are not used: whoever writes one anew writes them too. A record is held to the
    problem that was in force, on the product that its machine is said to be, also on shapes that have no target.
    """
    refused = {
        one.data.candidate
        for one in events
        if isinstance(one.data, GateJudged) and one.data.gate == "roofline" and one.data.result == "fail"
    }
    problem, known = state.problem, dict[tuple[Problem, str, str], float]()
    is_changed = any("problem" in one.data.work for one in events if isinstance(one.data, TargetSet))
    for event in events:
        data = event.data
        if isinstance(data, WorkspaceCreated) and is_changed:
            problem = recorded_problem(data.problem)
        elif isinstance(data, TargetSet):
            changed = data.work.get("problem")
            problem = recorded_problem(changed) if isinstance(changed, Mapping) else problem
        if not isinstance(data, Measured) or data.candidate in refused:
            continue
        product = _product(state, data, platform, registry)
        if product is None:
            continue
        key = (problem, data.shape, product.id)
        if key not in known:
            known[key] = _floor(state, problem, data.shape, product)
        if data.median_s < known[key]:
            least = duration(known[key])
            text = f"record {data.id} says {duration(data.median_s)} on {data.shape}, its floor is {least}"
            yield AuditFinding("floor", "journal.jsonl", event.seq, text, _FIX)


def _product(state: WorkspaceState, record: Measured, platform: Platform, registry: Registry) -> Platform | None:
    """Return what a record's machine is said to be; None for a simulator, a host, and what no page knows."""
    machine = state.environments.get(record.environment)
    if machine is None or not machine.is_other_than(platform.id):
        return None if machine is not None and machine.device == SIMULATOR else platform
    try:
        return registry.platform(machine.product) if machine.product else None
    except KoptError:
        return None


def _floor(state: WorkspaceState, problem: Problem, shape: str, product: Platform) -> float:
    """Return the least seconds of a shape; 0 where the wiki gives no targets or the operation has no such shape."""
    try:
        one = problem.with_shapes([shape])
        found = targets_now(one, product, factor_in_force(state), aim_in_force(state))
        now = target_set(one, found, reason="audit", by="audit", bounds=TimeBounds.of(product, found, one.tolerance))
        rows = {row.key: row for row in specs_registered(product, found, {}).rows}
        roofs = read_rooflines(now.work["rooflines"], where="audit")
        fresh = replace(state, problem=one, targets=now, rooflines=roofs, specs=rows)
        return floor_s(fresh, cold=_is_cold(fresh)).get(shape, 0.0)
    except KoptError:
        return 0.0


def _is_cold(state: WorkspaceState) -> bool:
    """Return whether caches were flushed before each timed run."""
    flush = state.campaign.settings.get("flush_bytes", 0) if state.campaign is not None else 0
    return state.task.project is None and (not isinstance(flush, int) or is_flushed(state, flush))

"""Records held against the least time of their shape, which the problem and the wiki's rows give anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kopt_kb.analysis.roofline.recorded import read_rooflines
from kopt_kb.base.errors import KoptError
from kopt_kb.quantity.readable import duration
from kopt_kb.wiki.registry import Platform
from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import GateJudged, Measured
from kopt_kb.workspace.registration import TimeBounds, target_set
from kopt_kb.workspace.retarget import aim_in_force, factor_in_force, targets_now
from kopt_kb.workspace.rounds import SIMULATOR
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.floors import cache_bytes, floor_s

__all__ = ["floor_findings"]

_FIX = "nothing runs below its floor: the time, the work or a row of the wiki is wrong; time it again"


def floor_findings(events: tuple[Event, ...], state: WorkspaceState, platform: Platform) -> Iterator[AuditFinding]:
    """Yield a finding for each record below its floor, but for those whose candidate the journal refused for it.

    The floors that a journal recorded are not used: whoever writes one anew writes them too.
    """
    refused = {
        one.data.candidate
        for one in events
        if isinstance(one.data, GateJudged) and one.data.gate == "roofline" and one.data.result == "fail"
    }
    floors = _floors(state, platform)
    for event in events:
        data = event.data
        if not isinstance(data, Measured) or data.candidate in refused or not _is_of(state, data, platform):
            continue
        least = floors.get(data.shape, 0.0)
        if data.median_s < least:
            text = f"record {data.id} says {duration(data.median_s)} on {data.shape}, its floor is {duration(least)}"
            yield AuditFinding("floor", "journal.jsonl", event.seq, text, _FIX)


def _is_of(state: WorkspaceState, record: Measured, platform: Platform) -> bool:
    """Return whether a record is said to be of this product; those of a simulator and of hosts have no floor here."""
    machine = state.environments.get(record.environment)
    return machine is None or not (machine.device == SIMULATOR or machine.is_other_than(platform.id))


def _floors(state: WorkspaceState, platform: Platform) -> dict[str, float]:
    """Return shape → least seconds; none where the wiki gives no targets, which is a finding of its own."""
    if state.targets is None:
        return {}
    try:
        found = targets_now(state.problem, platform, factor_in_force(state), aim_in_force(state))
        bounds = TimeBounds.of(platform, found)
        now = target_set(state.problem, found, reason="audit", by="audit", bounds=bounds)
        fresh = replace(state, targets=now, rooflines=read_rooflines(now.work["rooflines"], where="audit"))
        return floor_s(fresh, cold=_is_cold(fresh))
    except KoptError:
        return {}


def _is_cold(state: WorkspaceState) -> bool:
    """Return whether caches were flushed before each timed run."""
    flush = state.campaign.settings.get("flush_bytes", 0) if state.campaign is not None else 0
    return state.task.project is None and (not isinstance(flush, int) or not flush or flush >= cache_bytes(state))

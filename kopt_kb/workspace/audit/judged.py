"""What a workspace and a bundle are judged by alike: journal, blobs and the rows of a product."""

from __future__ import annotations

from collections.abc import Iterator

from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.workspace.audit.decisions import decision_findings
from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.audit.floors import floor_findings
from kopt_kb.workspace.audit.launchers import launcher_findings
from kopt_kb.workspace.audit.launches import launch_findings
from kopt_kb.workspace.audit.machines import machine_findings
from kopt_kb.workspace.audit.outputs import output_findings, reported_findings
from kopt_kb.workspace.audit.records import blob_findings, run_findings
from kopt_kb.workspace.audit.times import time_findings
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["judged_findings"]


def judged_findings(
    events: tuple[Event, ...], state: WorkspaceState, store: ObjectStore, platform: Platform, registry: Registry
) -> Iterator[AuditFinding]:
    """Yield everything in a journal and its blobs that does not hold.

    Args:
        events: The journal.
        state: Folded from it.
        store: Its blobs.
        platform: The product whose rows it rests on.
        registry: The wiki that says which machines there are.
    """
    yield from blob_findings(events, state, store)
    yield from run_findings(events, store)
    yield from decision_findings(events, store)
    yield from launch_findings(events, store)
    yield from launcher_findings(events, store)
    yield from output_findings(events, state, store)
    yield from reported_findings(state, store)
    yield from floor_findings(events, state, platform)
    yield from time_findings(events, state, store)
    yield from machine_findings(events, platform, registry)

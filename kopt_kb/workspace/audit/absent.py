"""What an audit can't check because a pack is absent: said in notes, by the name of the pack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kopt_kb.workspace.audit.findings import AuditFinding
from kopt_kb.workspace.needs import AbsentPack, absent_packs
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["absent_findings", "unchecked_views"]

_FIX = "install a distribution that brings the pack and audit again"


def absent_findings(state: WorkspaceState) -> Iterator[AuditFinding]:
    """Yield a note for the events of each absent pack, and one for what the campaign's policy names of it."""
    for pack in absent_packs(state):
        if pack.events:
            events = "1 event" if len(pack.events) == 1 else f"{len(pack.events)} events"
            what = f"the journal holds {events} of the pack {pack.name}, which {pack.why}: kept and not read"
            yield AuditFinding("absent-pack", "journal.jsonl", pack.events[0], what, _FIX)
        if pack.policy or pack.words:
            yield AuditFinding("absent-pack", "journal.jsonl", state.campaign_seq, _of_policy(pack), _FIX)


def _of_policy(pack: AbsentPack) -> str:
    named = f"policy {pack.policy}" if pack.policy else "the policy"
    words = f" ({', '.join(pack.words)})" if pack.words else ""
    return f"{named} needs the pack {pack.name}, which {pack.why}{words}: what it decides is not checked"


def unchecked_views(paths: Sequence[str], packs: Sequence[AbsentPack]) -> Iterator[AuditFinding]:
    """Yield the note that rendered files, unedited, can't be rendered again without packs."""
    if paths:
        names = f"{', '.join(paths[:_SHOWN])}{' and others' if len(paths) > _SHOWN else ''}"
        files = "1 rendered file is" if len(paths) == 1 else f"{len(paths)} rendered files are"
        what = f"{files} unedited, and not compared without the pack {', '.join(one.name for one in packs)}: {names}"
        yield AuditFinding("absent-pack", paths[0], 0, what, _FIX)


_SHOWN = 5
"""So many files are named."""

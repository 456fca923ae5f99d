"""What packs add to the loop, by the names that policies use; the packs are read where a name of theirs is met."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from kopt_kb.base.errors import MissingTool
from kopt_kb.workspace.journal.pack_events import pack_of, why_unread

if TYPE_CHECKING:
    from kopt_kb.doors.loop_part import PackGate, StopRule

__all__ = ["gate_named", "needs_pack", "stop_rule_named"]


def gate_named(name: str) -> PackGate:
    """Return the gate `pack.name`; raises `MissingTool` where no usable pack brings it."""
    found: PackGate = _named(name, "gates")
    return found


def stop_rule_named(name: str) -> StopRule:
    """Return the stop reason `pack.name`; raises `MissingTool` where no usable pack brings it."""
    found: StopRule = _named(name, "stop_reasons")
    return found


def _named(name: str, door: Literal["gates", "stop_reasons"]) -> Any:
    from kopt_kb.doors.loop_words import loop_word  # most policies name nothing of a pack

    found = loop_word(name, door)
    if found is None:
        raise needs_pack(pack_of(name), name)
    return found


def needs_pack(pack: str, what: str, where: str = "") -> MissingTool:
    """Return the refusal to do what needs a pack that can't be used."""
    fix = "install a distribution that brings it; kb doctor lists the packs"
    return MissingTool(f"{what} needs the pack {pack}, which {why_unread(pack)}", where=where, fix=fix, code="KB120")

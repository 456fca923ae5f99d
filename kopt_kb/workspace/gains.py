"""What packs say of the gains of a campaign whose policy requires one of their gates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kopt_kb.doors.loop_words import loop_word
from kopt_kb.workspace.journal.pack_events import pack_of
from kopt_kb.workspace.needs import policy_words
from kopt_kb.workspace.state import WorkspaceState

if TYPE_CHECKING:
    from kopt_kb.doors.loop_part import GainCheck

__all__ = ["gain_checks"]


def gain_checks(state: WorkspaceState) -> tuple[GainCheck, ...]:
    """Return them in the order of the policy; none of a pack that is absent, which the audit says."""
    words = [word for word in policy_words(state, "required_gates") if pack_of(word)]
    if not words:
        return ()

    gates = (loop_word(word, "gates") for word in words)
    return tuple(gate.gains for gate in gates if gate is not None and gate.gains is not None)

"""Packs that a journal needs and that can't be used here: what they brought is counted and named, never guessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kopt_kb.doors import table
from kopt_kb.workspace.journal.compat import present_policy
from kopt_kb.workspace.journal.pack_events import pack_of, why_unread
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["AbsentPack", "absent_packs", "policy_packs", "policy_words"]


@dataclass(frozen=True, slots=True)
class AbsentPack:
    """A pack that a journal names and that can't be used here.

    Attributes:
        name: Of the pack.
        why: Such as `is not installed`.
        events: Sequence numbers of its events that nobody read.
        words: What the campaign's policy names of it: gates, stop reasons.
        policy: Name of the campaign's policy, where the pack brought it; else empty.
    """

    name: str
    why: str
    events: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    policy: str = ""


def absent_packs(state: WorkspaceState) -> tuple[AbsentPack, ...]:
    """Return the packs that events or the policy of a workspace need and that can't be used here, by name."""
    unread, (brought_by, words) = state.unread_events, _policy_words(state)
    asked = {pack_of(word) for word in words} | ({brought_by} if brought_by else set())
    if not (unread or asked):
        return ()

    gone = sorted(unread.keys() | (asked - table.packs().usable.keys()))
    return tuple(
        AbsentPack(
            name, why_unread(name), unread.get(name, ()), tuple(word for word in words if pack_of(word) == name),
            _policy_name(state) if name == brought_by else "",
        )
        for name in gone
    )  # fmt: skip


def policy_packs(state: WorkspaceState) -> frozenset[str]:
    """Return the packs that the campaign's policy names: who brought it, its gates and stop reasons."""
    brought_by, words = _policy_words(state)
    return frozenset({pack_of(word) for word in words} | ({brought_by} if brought_by else set()))


def _policy_words(state: WorkspaceState) -> tuple[str, tuple[str, ...]]:
    """Return who brought the campaign's policy, empty for the core, and its gates and stop reasons that are packs'."""
    if state.campaign is None:
        return "", ()
    last = (state.stopped.reason,) if state.stopped is not None else ()
    named = (*policy_words(state, "required_gates"), *policy_words(state, "stop_reasons"), *last)
    brought_by = present_policy(state.campaign.policy).get("pack")
    words = tuple(dict.fromkeys(word for word in named if pack_of(word)))
    return brought_by if isinstance(brought_by, str) else "", words


def policy_words(state: WorkspaceState, field: Literal["required_gates", "stop_reasons"]) -> tuple[str, ...]:
    """Return the words of one member of the campaign's policy as it was confirmed, the core's and those of packs."""
    value = present_policy(state.campaign.policy).get(field) if state.campaign is not None else ()
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list | tuple) else ()


def _policy_name(state: WorkspaceState) -> str:
    return str(state.campaign.policy.get("name", "")) if state.campaign is not None else ""

"""Writes to the memory of a workspace, always as events: a new round, words, masks, a partial restart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from kopt_kb.base.errors import BadInput, FindingError
from kopt_kb.packs.memory_form import codes
from kopt_kb.packs.memory_form.entries import read_entry
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import (
    Decided,
    HypothesisStated,
    MemoryMasked,
    MemoryUnmasked,
    RoundStarted,
)
from kopt_kb.workspace.journal.setup_events import EventData, MemoryNoted
from kopt_kb.workspace.notes import append_events
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.workspace import Workspace

__all__ = [
    "FREE_TEXT",
    "FieldRefusedError",
    "Hypothesis",
    "add_entries",
    "check_maskable",
    "create_version",
    "half_of",
    "mask",
    "mask_half",
    "note_data",
    "refuse_field",
    "unmask",
]

FREE_TEXT = ("search_log", "pitfalls_and_fixes", "open_directions", "references", "risks_and_rollback")
"""Fields that take words."""

_MEASURED = "its numbers are copied from `measured` events"
_REFUSED = {
    "performance": _MEASURED,
    "experience": "it is rendered from the candidates, gates and records of the round",
    "correctness": "it is the word of the correctness gate",
    "quality_gate": "it is the word of the gates",
    "profile_evidence": "it comes from the profiler's report (`kb profile read`)",
    "isa_metric_progress": "it comes from the README's targets and the profiler's report",
    "decision": "it is the policy's decision",
    "status": "it is the policy's decision",
    "optimization": "the hypothesis is stated once, before the edit (`kb memory create`)",
    "kernel": "its hashes are those of the blobs that were judged",
    "git_commit_hash": "it is the hash of the commit that shows the snapshot",
    "problem": "it belongs to the workspace (`kb workspace set` changes shapes and targets)",
    "masked": "use `kb memory mask` or `kb memory unmask`, with a reason",
    "mask_reason": "use `kb memory mask` or `kb memory unmask`, with a reason",
    "notes": "use `kb workspace note`",
    "wiki_references": "it lists the pages of registered rows and of references",
}


class FieldRefusedError(FindingError):
    """A field of the memory that nobody may type; the reason says where its content comes from."""

    code = codes.FIELD_REFUSED


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What a round will try, in words."""

    category: str
    claim: str
    expected: str


def refuse_field(field: str, where: str) -> FieldRefusedError:
    """Return the refusal of a field that is not free text."""
    reason = _REFUSED.get(field.partition(".")[0], "it is rendered from the journal")
    return FieldRefusedError(
        f"{field} can't be typed: {reason}", where=where, fix=f"words go to {', '.join(FREE_TEXT)}"
    )


def note_data(workspace: Workspace, version: int, field: str, text: str, by: str) -> MemoryNoted:
    """Return the event of one entry, its text stored as a blob.

    Raises:
        FieldRefusedError: The field is not free text.
        MemoryFileError: The entry has not the field's form.
    """
    if field not in FREE_TEXT:
        raise refuse_field(field, f"memory/v{version}.json")
    entry = read_entry(field, text)
    words = entry if isinstance(entry, str) else json.dumps(entry.to_json(), sort_keys=True, ensure_ascii=False)
    blob = ObjectStore(workspace.layout.objects).put(words.encode("utf-8", "replace"))
    return MemoryNoted(version, field, blob, by)  # type: ignore[arg-type]


def add_entries(workspace: Workspace, version: int, entries: Sequence[tuple[str, str]], by: str) -> tuple[Event, ...]:
    """Add words to one version: pairs of field and text (or JSON of the field's form); all or none.

    Raises:
        FieldRefusedError: A field is not free text: numbers come from records.
        BadInput: No such version, it is masked, or an entry has not the form of its field.
    """
    made = [note_data(workspace, version, field, text, by) for field, text in entries]

    def check(state: WorkspaceState) -> Sequence[EventData]:
        _known(state, version)
        if version in state.masked:
            fix = "`kb memory unmask` it first"
            raise BadInput(f"v{version} is masked", where=f"memory/v{version}.json", fix=fix, code=codes.MASKED)
        return made

    return append_events(workspace, check)


def create_version(
    workspace: Workspace, version: int | None = None, stated: Hypothesis | None = None, by: str = "user"
) -> int:
    """Begin the next attempt by hand, with its hypothesis when one is stated.

    An attempt begun by hand before that no candidate was submitted to ends as unverified: nothing judged it.

    Returns:
        Its number; failures consume numbers, so it is always the highest plus one.

    Raises:
        BadInput: The version exists, is not the next one, a round with a candidate is still open, the tuning loop
            works here, or an unmasked earlier round stated the same hypothesis.
    """

    def make(state: WorkspaceState) -> Sequence[EventData]:
        _refuse_loop(state)
        number = _next_number(state, version)
        snapshot = state.incumbent.snapshot
        blob = snapshot.blob if snapshot is not None else state.kernel
        left = state.undecided
        ended = [Decided(left.number, "unverified", "by hand", "no gate judged it", ())] if left is not None else []
        found: list[EventData] = [*ended, RoundStarted(number, blob)]
        if stated is not None:
            _refuse_repeated(state, stated)
            found.append(HypothesisStated(number, stated.category, stated.claim, stated.expected, (), by))
        return found

    made = (event.data for event in append_events(workspace, make))
    return next(data.round for data in made if isinstance(data, RoundStarted))


def _refuse_loop(state: WorkspaceState) -> None:
    """Raise when the tuning loop has begun a campaign: it states its hypotheses itself."""
    if state.campaign is not None:
        fix = "give the hypothesis to `kb tune step --plan`"
        raise BadInput(
            "the tuning loop begins the rounds of this workspace",
            where="kb memory create",
            fix=fix,
            code=codes.LOOP_OWNS_ROUNDS,
        )


def _next_number(state: WorkspaceState, version: int | None) -> int:
    number = max(state.attempts) + 1
    if version is not None and version in state.attempts:
        raise BadInput(
            f"v{version} exists already",
            where=f"memory/v{version}.json",
            fix="`kb memory update` adds to it",
            code=codes.VERSION_ORDER,
        )
    if version is not None and version != number:
        raise BadInput(
            f"v{version} is not the next version",
            where="version",
            fix=f"the next is v{number}",
            code=codes.VERSION_ORDER,
        )
    if state.undecided is not None and state.undecided.candidates:
        what = f"v{state.undecided.number} is not decided yet"
        raise BadInput(
            what,
            where=f"memory/v{state.undecided.number}.json",
            fix="let it be decided first",
            code=codes.VERSION_ORDER,
        )
    return number


def _refuse_repeated(state: WorkspaceState, stated: Hypothesis) -> None:
    for attempt in state.attempts.values():
        earlier = attempt.hypothesis
        if earlier is None or attempt.number in state.masked:
            continue
        if (_normal(earlier.category), _normal(earlier.claim)) == (_normal(stated.category), _normal(stated.claim)):
            raise BadInput(
                f"v{attempt.number} stated this hypothesis already",
                where="claim",
                fix="state another one",
                code="KB402",
            )


def _normal(text: str) -> str:
    return " ".join(text.casefold().split())


def _known(state: WorkspaceState, version: int) -> None:
    if version not in state.attempts:
        known = ", ".join(f"v{number}" for number in state.attempts)
        raise BadInput(f"there is no version v{version}", where="memory", fix=f"one of {known}", code="KB321")


def check_maskable(state: WorkspaceState, versions: Sequence[int]) -> None:
    """Raise BadInput for a version that does not exist, that is protected, or whose round is open."""
    for version in versions:
        _known(state, version)
        if version in state.unmaskable():
            why = "the baseline" if state.attempts[version].is_baseline else "the best accepted version"
            raise BadInput(
                f"v{version} is {why} and can't be masked", where=f"memory/v{version}.json", code=codes.CANT_MASK
            )
        if state.undecided is not None and state.undecided.number == version:
            raise BadInput(
                f"v{version} is being worked on",
                where=f"memory/v{version}.json",
                fix="decide it first",
                code=codes.CANT_MASK,
            )


def mask(workspace: Workspace, versions: Sequence[int], reason: str) -> tuple[int, ...]:
    """Hide versions from every reader; returns those that were visible before.

    Raises:
        BadInput: No such version, or one that can't be masked; nothing is masked then.
    """

    def make(state: WorkspaceState) -> Sequence[EventData]:
        check_maskable(state, versions)
        new = tuple(sorted(set(versions) - state.masked.keys()))
        return (MemoryMasked(new, reason, None),) if new else ()

    return _versions(append_events(workspace, make))


def unmask(workspace: Workspace, versions: Sequence[int], reason: str) -> tuple[int, ...]:
    """Show versions to readers again; returns those that were masked.

    Raises:
        BadInput: No such version.
    """

    def make(state: WorkspaceState) -> Sequence[EventData]:
        for version in versions:
            _known(state, version)
        old = tuple(sorted(set(versions) & state.masked.keys()))
        return (MemoryUnmasked(old, reason, None),) if old else ()

    return _versions(append_events(workspace, make))


def mask_half(workspace: Workspace, seed: int, reason: str) -> tuple[int, ...]:
    """Mask half of what can be masked, chosen by the seed: a partial restart.

    Returns:
        The versions masked; the same seed and journal give the same ones.
    """

    def make(state: WorkspaceState) -> Sequence[EventData]:
        busy = {state.undecided.number} if state.undecided is not None else set()
        free = sorted(state.attempts.keys() - state.unmaskable() - state.masked.keys() - busy)
        chosen = half_of(free, seed)
        if not chosen:
            raise BadInput(
                "fewer than two versions can be masked",
                where="memory",
                fix="mask one by its name",
                code=codes.CANT_MASK,
            )
        return (MemoryMasked(chosen, reason, seed),)

    return _versions(append_events(workspace, make))


def half_of(versions: Sequence[int], seed: int) -> tuple[int, ...]:
    """Return half of the versions (rounded down), those whose hash with the seed is smallest.

    A hash instead of a random generator: the choice is the same on every Python.
    """
    order = sorted(versions, key=lambda one: hashlib.sha256(f"{seed}:{one}".encode()).digest())
    return tuple(sorted(order[: len(order) // 2]))


def _versions(events: tuple[Event, ...]) -> tuple[int, ...]:
    data = events[0].data if events else None
    return data.versions if isinstance(data, MemoryMasked | MemoryUnmasked) else ()

"""A version is confirmed when all it rests on was timed on all shapes."""

from __future__ import annotations

from kopt_kb.tuning.confirmed import confirmed_rounds, is_confirmed
from kopt_kb.workspace.journal.round_events import Decided, SnapshotTaken
from kopt_kb.workspace.rounds import Round


def version(number: int, level: str, blob: str, incumbent: str, *, refuted: bool = False) -> Round:
    """An accepted round."""
    by = number + 1 if refuted else None
    decided = Decided(number, "accept", "p", "r", ())
    taken = SnapshotTaken(number, blob, None)
    return Round(number, "", number, incumbent, level=level, decided=decided, snapshot=taken, refuted_by=by)


def test_full_on_quick_is_open_until_it_is_held_against_the_baseline() -> None:
    """A confirmation takes the same files again, and is the version to name."""
    rounds = [version(0, "", "a", "a"), version(1, "quick", "b", "a"), version(2, "full", "c", "b")]
    assert list(confirmed_rounds(rounds)) == ["a"]
    assert not is_confirmed(rounds, rounds[2]) and is_confirmed(rounds, rounds[0])
    rounds.append(version(3, "full", "c", "a"))
    assert confirmed_rounds(rounds) == {"a": rounds[0], "c": rounds[3]} and is_confirmed(rounds, rounds[3])


def test_refuted_and_rejected_rounds_confirm_nothing() -> None:
    """Neither is a version."""
    rounds = [version(0, "", "a", "a"), version(1, "full", "b", "a", refuted=True), Round(2, "", 9, "a", level="full")]
    assert list(confirmed_rounds(rounds)) == ["a"]

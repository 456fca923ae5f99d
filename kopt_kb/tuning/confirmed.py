"""Which accepted versions were held against the baseline on all shapes, directly or through others that were."""

from __future__ import annotations

from collections.abc import Iterable

from kopt_kb.workspace.rounds import Round

__all__ = ["confirmed_rounds", "is_confirmed"]


def confirmed_rounds(rounds: Iterable[Round]) -> dict[str, Round]:
    """Return blob → round of the versions that hold on all shapes, in order; the baseline does.

    A version that was timed on all shapes against one that was not proves only the difference between the two.
    """
    found: dict[str, Round] = {}
    for one in rounds:
        if one.snapshot is None or one.refuted_by is not None:
            continue
        if not one.number or (one.level != "quick" and one.incumbent in found):
            found.pop(one.snapshot.blob, None)  # the same files again: the later version is the one to name
            found[one.snapshot.blob] = one
    return found


def is_confirmed(rounds: Iterable[Round], best: Round) -> bool:
    """Return whether a version holds on all shapes."""
    return any(one.number == best.number for one in confirmed_rounds(rounds).values())

"""Versions that a person masked in a file of whichever view are masked for every reader."""

from __future__ import annotations

from kopt_kb.doors.loop_part import LoopPart
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.view import View
from kopt_kb.workspace.masks import hand_masked, mask_files


def _pack(name: str, masks: dict[int, str] | None) -> Pack:
    hand = None if masks is None else (lambda _root, _state: masks)
    view = View("marks", "marks", ("marks.md",), lambda _state, _blob: {}, hand_masks=hand)
    return Pack(name, "marks", loop_parts=(LoopPart("marks", "marks", views=(view,)),))


def test_marks_of_all_views_count(played, only_packs) -> None:
    """In order of versions; a view in whose files nobody can mask is not asked."""
    only_packs(_pack("a", {3: "marks/3.md"}), _pack("b", None), _pack("c", {2: "marks/2.md"}))
    state, layout = played.workspace.state(), played.workspace.layout
    assert list(mask_files(layout, state).items()) == [(2, "marks/2.md"), (3, "marks/3.md")]
    assert hand_masked(layout, state)[3] == "masked is true in marks/3.md, set by hand"


def test_what_can_not_be_masked_is_left(played, only_packs) -> None:
    """The baseline, the best version, a version that nobody played, and what an event masks already."""
    played.add("memory_masked", versions=[3], reason="busy machine", seed=None)
    only_packs(_pack("a", dict.fromkeys([0, 1, 2, 3, 9], "marks.md")))
    assert mask_files(played.workspace.layout, played.workspace.state()) == {2: "marks.md"}


def test_without_packs_nobody_masks(played, only_packs) -> None:
    """No file is read."""
    only_packs()
    assert mask_files(played.workspace.layout, played.workspace.state()) == {}

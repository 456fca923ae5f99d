"""Labels never cover each other, by hand and at random."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.report.labels import CHAR_PX, Box, Spot, WantedLabel, box_of, place, width_px

FRAME = Box(0, 0, 200, 100)


def wanted(text: str, *spots: tuple[float, float, float], short: str = "") -> WantedLabel:
    """A label with places for its text, and the same for a shorter one."""
    made = tuple(Spot(*one) for one in spots)
    return WantedLabel((text, short) if short else (text,), (made, made) if short else (made,), spots[0][:2])


def test_the_cheapest_free_place_is_taken() -> None:
    """The second label finds the first one's place taken; the third finds none and is named."""
    placed, left_out = place(
        [wanted("aa", (50, 50, 1), (100, 50, 0)), wanted("bb", (100, 50, 0), (50, 50, 5)), wanted("cc", (100, 50, 0))],
        FRAME, [], [],
    )  # fmt: skip
    assert [(one.text, one.box.left + CHAR_PX) for one in placed] == [("aa", 100), ("bb", 50)]
    assert left_out == ["cc"]


def test_a_crossed_line_costs_and_a_mark_is_never_covered() -> None:
    """A place further away is better than one on a line; one on a mark is none."""
    line = (0.0, 50.0, 200.0, 50.0)
    (placed,), _ = place([wanted("aa", (50, 50, 0), (50, 20, 5))], FRAME, [], [line])
    assert placed.box.bottom < 50
    (other,), _ = place([wanted("aa", (50, 50, 0), (50, 20, 5))], FRAME, [Box(45, 15, 55, 25)], [line])
    assert other.box.top < 50 < other.box.bottom


def test_a_label_shrinks_before_it_is_left_out() -> None:
    """A long name has no room in the frame, its number has."""
    (placed,), left_out = place([wanted("a" * 60, (100, 50, 0), short="7")], FRAME, [], [])
    assert (placed.text, left_out) == ("7", [])


def test_a_far_label_has_a_line_to_what_it_names() -> None:
    """Beyond the near distance only."""
    one = WantedLabel(("aa",), ((Spot(150, 50, 0),),), (20, 50))
    assert place([one], FRAME, [], [])[0][0].lead == (20, 50)
    near = WantedLabel(("aa",), ((Spot(40, 50, 0),),), (20, 50))
    assert place([near], FRAME, [], [])[0][0].lead is None


def test_wide_letters_take_two() -> None:
    """Boxes are never too small."""
    assert width_px("日本") == 4 * CHAR_PX
    assert box_of("ab", 50, 50) == Box(50 - CHAR_PX, 43.5, 50 + CHAR_PX, 56.5)


@given(st.lists(st.tuples(st.floats(0, 200), st.floats(0, 100), st.integers(1, 12)), max_size=25))
def test_no_two_boxes_overlap_and_all_are_in_the_frame(asked: list[tuple[float, float, int]]) -> None:
    """Whatever is asked for; each label is placed or named; twice the same."""
    labels = []
    for x, y, long in asked:
        spots = tuple(Spot(x + shift, y, abs(shift)) for shift in (0, 20, -20))
        labels.append(WantedLabel(("x" * long, "1"), (spots, spots), (x, y)))
    placed, left_out = place(labels, FRAME, [], [])
    assert not [1 for one, other in combinations(placed, 2) if one.box.meets(other.box)]
    assert all(one.box.within(FRAME) for one in placed)
    assert len(placed) + len(left_out) == len(labels)
    assert place(labels, FRAME, [], []) == (placed, left_out)

"""Labels never cover each other, by hand and at random."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.report.labels import Box, Spot, WantedLabel, place

FRAME = Box(0, 0, 200, 100)


def wanted(text: str, *spots: tuple[float, float, float]) -> WantedLabel:
    """A label with places."""
    return WantedLabel(text, tuple(Spot(*one) for one in spots), spots[0][:2])


def test_the_cheapest_free_place_is_taken() -> None:
    """The second label finds the first one's place taken; the third finds none and is named."""
    placed, left_out = place(
        [wanted("aa", (50, 50, 1), (100, 50, 0)), wanted("bb", (100, 50, 0), (50, 50, 5)), wanted("cc", (100, 50, 0))],
        FRAME, [], [],
    )  # fmt: skip
    assert [(one.text, (one.box.left + one.box.right) / 2) for one in placed] == [("aa", 100), ("bb", 50)]
    assert left_out == ["cc"]


def test_a_crossed_line_costs_and_a_mark_is_never_covered() -> None:
    """A place further away is better than one on a line; one on a mark is none."""
    line = (0.0, 50.0, 200.0, 50.0)
    (placed,), _ = place([wanted("aa", (50, 50, 0), (50, 20, 5))], FRAME, [], [line])
    assert placed.box.bottom < 50
    (other,), _ = place([wanted("aa", (50, 50, 0), (50, 20, 5))], FRAME, [Box(45, 15, 55, 25)], [line])
    assert other.box.top < 50 < other.box.bottom


def test_a_label_is_nearest_to_its_own_mark() -> None:
    """A place further away is better than one beside another mark."""
    own, other = Box(18, 48, 22, 52), Box(98, 48, 102, 52)
    (placed,), _ = place([WantedLabel("aa", (Spot(85, 50, 0), Spot(40, 50, 9)), (20, 50))], FRAME, [own, other], [])
    assert placed.box.right < 60


def test_a_far_label_has_a_line_to_what_it_names() -> None:
    """Beyond the near distance only."""
    one = WantedLabel("aa", (Spot(150, 50, 0, "start"),), (20, 50))
    (found,), _ = place([one], FRAME, [], [])
    assert found.lead is not None
    assert (found.lead[:2], found.anchor) == ((20, 50), "start")
    assert found.lead[2] < found.box.left
    near = WantedLabel("aa", (Spot(36, 50, 0),), (20, 50))
    assert place([near], FRAME, [], [])[0][0].lead is None


@given(st.lists(st.tuples(st.floats(0, 200), st.floats(0, 100), st.integers(1, 12)), max_size=25))
def test_no_two_boxes_overlap_and_all_are_in_the_frame(asked: list[tuple[float, float, int]]) -> None:
    """Whatever is asked for; each label is placed or named; twice the same."""
    labels = []
    for x, y, long in asked:
        spots = tuple(Spot(x + shift, y, abs(shift)) for shift in (0, 20, -20))
        labels.append(WantedLabel("x" * long, spots, (x, y)))
    placed, left_out = place(labels, FRAME, [], [])
    assert not [1 for one, other in combinations(placed, 2) if one.box.meets(other.box)]
    assert all(one.box.within(FRAME) for one in placed)
    assert len(placed) + len(left_out) == len(labels)
    assert place(labels, FRAME, [], []) == (placed, left_out)

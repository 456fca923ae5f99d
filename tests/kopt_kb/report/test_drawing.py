"""Layouts of recorded campaigns and of crowded pictures: nothing covers anything, everything is named."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from kopt_kb.report.drawing import Drawing, drawn, number, ticks
from kopt_kb.report.picture import Dot, DrawnRoof, Picture, Point, recorded_picture
from kopt_kb.workspace.workspace import Workspace

ROOT = Path(__file__).resolve().parents[3]
CAMPAIGNS = sorted(path.parent for path in (ROOT / "benchmarks" / "campaigns").glob("*/*/journal.jsonl"))
ROOFS = tuple(
    DrawnRoof(f"P{at} {kind}", 1e12 * (1 + at / 10), 1e13 * (1 + at / 7), f"page{at}.md:L{at}", f"P{at}", basis)
    for at in range(4)
    for kind, basis in (("a", "documented"), ("a, measured", "measured"), ("a, target", "target"))
)
LONG = "kernel_" * 1500
CROWDS = {
    "one place": tuple(Point(f"kernel number {at}", 1.0, 5e11, group="P0") for at in range(80)),
    "a cloud": tuple(
        Point(f"k{at}", 2.0 ** (at % 9), 1e10 * 1.3 ** (at % 23), group=f"P{at % 5}") for at in range(120)
    ),
    "long names": tuple(Point(f"{LONG}{at}", 1.0 + at, 1e11, group="P1") for at in range(9)),
    "wide letters": tuple(Point("核" * 40 + str(at), 1.0 + at, 1e11, group="P1") for at in range(9)),
    "all out of place": tuple(Point(f"k{at}", float("nan"), 0.0) for at in range(3)),
    "hostile sources": (Point("k", 1.0, 1e12, source="核" * 500),),
    "far apart": (Point("low", 1e-9, 1.0), Point("high", 1e12, 1e20)),
    "none": (),
}


def overlaps(one: Drawing) -> list[tuple[str, str]]:
    """Labels that cover each other."""
    return [(a.text, b.text) for a, b in combinations(one.labels, 2) if a.box.meets(b.box)]


def check(picture: Picture) -> Drawing:
    """No label covers another or leaves the paper; lines and marks are on it too."""
    made = drawn(picture)
    assert overlaps(made) == []
    assert all(one.box.left >= 0 and one.box.right <= made.width for one in made.labels)
    assert all(one.box.top >= 0 and one.box.bottom <= made.height for one in made.labels)
    places = [place for line in made.lines for place in line.points] + [(mark.x, mark.y) for mark in made.marks]
    assert all(-1e-6 <= x <= made.width + 1e-6 and -1e-6 <= y <= made.height + 1e-6 for x, y in places)
    assert drawn(picture) == made
    return made


@pytest.mark.parametrize("folder", CAMPAIGNS, ids=lambda one: f"{one.parent.name}-{one.name}")
def test_recorded_campaigns(folder: Path) -> None:
    """Every accepted version of every campaign; each dot has a label."""
    state = Workspace.open(folder).state()
    dots = [
        Dot(one.name, shape, record.median_s, record.id)
        for one in state.rounds if one.accepted
        for shape, record in one.own_records.items()
    ]  # fmt: skip
    picture = recorded_picture("t", state.rooflines, dots)
    assert picture is not None
    made = check(picture)
    assert not [one.name for one in picture.points if one.is_measured and one.name in made.unplaced]
    assert any(one.text.startswith("ridge") for one in made.labels)


def test_there_are_campaigns() -> None:
    """The test above has something to draw."""
    assert len(CAMPAIGNS) >= 6


@pytest.mark.parametrize("name", CROWDS)
def test_crowded_pictures(name: str) -> None:
    """Labels that find no place are in the legend, by name."""
    picture = Picture(name, ROOFS, CROWDS[name])
    made = check(picture)
    legend = " ".join(one.text for one in made.labels)
    measured = [one for one in picture.drawable if one.is_measured][:40]
    assert all(one.name[:30].split(" ")[0] in legend for one in measured)
    assert len(made.marks) == len(picture.drawable)


def test_points_beyond_a_limit_are_counted() -> None:
    """Nobody can tell four hundred dots apart; that there are more is said."""
    many = tuple(Point(f"k{at}", 1.0 + at, 1e11) for at in range(450))
    made = check(Picture("many", ROOFS, many))
    assert len(made.marks) == 400
    assert "not drawn: 50 more points" in [one.text for one in made.labels]


def test_dots_stand_at_their_own_rate_and_roofs_bend_at_the_ridge() -> None:
    """A dot at half of the roof is below it; the target is below the roof; marks tell products apart."""
    roof = DrawnRoof("a", 1e12, 1e13, "s", "P0")
    aim = DrawnRoof("a, target", 0.9e12, 0.9e13, "s", "P0", "target")
    points = (Point("k", 2.0, 1e12, group="P0"), Point("k, attainable", 2.0, 2e12, "attainable", group="P0"))
    made = drawn(Picture("t", (roof, aim), points))
    dot, bar = made.marks
    assert (dot.shape, bar.shape) == ("dot", "bar")
    assert dot.y > bar.y
    solid, dotted = (one for one in made.lines if one.classes.startswith("line group0") and len(one.points) == 3)
    assert dotted.dash == "2 3"
    assert all(low[1] > high[1] for low, high in zip(dotted.points, solid.points, strict=True))
    other = drawn(Picture("t", (roof, DrawnRoof("b", 2e12, 3e13, "s", "P1")), (Point("k", 2.0, 1e12, group="P1"),)))
    assert other.marks[0].shape == "square"


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [(0.05, 200.0, [0.1, 1, 10, 100]), (3.0, 30.0, [5, 10, 20]), (1e-9, 1e12, [1e-9, 1e-6, 1e-3, 1, 1e3, 1e6, 1e9])],
)  # fmt: skip
def test_ticks_are_few_and_round(low: float, high: float, found: list[float]) -> None:
    """Powers of ten, parts of them in narrow ranges, steps of several in wide ones."""
    assert ticks(low, high)[: len(found)] == pytest.approx(found)
    assert len(ticks(low, high)) <= 10
    assert [number(one) for one in (0.1, 1000.0, 1e6, 1e-6)] == ["0.1", "1000", "1M", "1u"]


def test_a_title_of_any_length_fits() -> None:
    """Of wide letters too."""
    check(Picture("核" * 300, ROOFS, ()))
    check(Picture("t" * 10_000, ROOFS, ()))

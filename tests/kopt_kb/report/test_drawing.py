"""Layouts of recorded campaigns and of crowded pictures: nothing covers anything, everything is named."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from kopt_kb.analysis.roofline.roofline import Roofline, roofline
from kopt_kb.base.errors import BadInput
from kopt_kb.problem.ops import OPS, definition
from kopt_kb.problem.work import Work, work
from kopt_kb.report.drawing import Drawing, drawn
from kopt_kb.report.picture import Dot, DrawnRoof, Picture, Point, picture_of, recorded_picture
from kopt_kb.report.profile_roofline import LevelPoint, level_roofs, picture_of_report
from kopt_kb.wiki.registry import Registry
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


def sound(made: Drawing) -> None:
    """No label covers another or leaves the paper; lines and marks are on it too; the paper is as narrow as a phone."""
    assert made.width == 480
    assert overlaps(made) == []
    assert all(one.box.left >= 0 and one.box.right <= made.width for one in made.labels)
    assert all(one.box.top >= 0 and one.box.bottom <= made.height for one in made.labels)
    places = [place for line in made.lines for place in line.points] + [(mark.x, mark.y) for mark in made.marks]
    assert all(-1e-6 <= x <= made.width + 1e-6 and -1e-6 <= y <= made.height + 1e-6 for x, y in places)


def check(picture: Picture) -> Drawing:
    """The picture is sound, and twice the same."""
    made = drawn(picture)
    sound(made)
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
    assert all(one.name[:3] in legend for one in measured)


def test_points_beyond_a_limit_are_counted() -> None:
    """Nobody can tell four hundred dots apart; that there are more rows is said."""
    many = tuple(Point(f"k{at}", 1.0 + at, 1e11) for at in range(450))
    made = check(Picture("many", ROOFS, many))
    assert len([one for one in made.marks if one.size == 4.5 and "open" not in one.classes]) == 400 + 80
    assert "and 320 more measurements" in [one.text for one in made.labels]


def works() -> list[Work]:
    """Every packaged operation, in bf16 where it is defined."""
    dtypes = {"histogram": "int32"}
    sizes = [(op, len(definition(op).form.split("x"))) for op in OPS]
    return [work(op, (512,) * dims, dtypes.get(op, "bf16")) for op, dims in sizes]


def test_every_operation_on_every_product() -> None:
    """No label covers another or leaves the paper; where no roof is known, that is said instead."""
    registry, seen, made = Registry.open(), set(), 0
    every = works()
    for name in registry.platforms():
        platform = registry.platform(name)
        for one in every:
            try:
                picture = picture_of(f"{one.op} on {name}", [roofline(one, platform)], [1e-3])
            except BadInput as error:
                assert error.error_code in {"KB032", "KB047"}
                continue
            made += 1
            geometry = (name, picture.roofs, tuple((point.intensity, point.rate) for point in picture.points))
            if geometry not in seen:
                seen.add(geometry)
                sound(drawn(picture))
    assert made > 1500 and len(seen) > 1000


PRODUCTS = ("H20", "H100_SXM", "MI300X", "MI355X", "B200", "GH200_144GB", "A100_SXM_80GB", "L40S")


@pytest.mark.parametrize("many", [1, 3, 8])
@pytest.mark.parametrize("op", ["rms_norm", "gemm"])
def test_products_are_told_apart_without_colours(op: str, many: int) -> None:
    """Each row of the key has its own sample: shape and dashes; the shape is at the roof too."""
    registry = Registry.open()
    one = work(op, (4096,) * len(definition(op).form.split("x")), "bf16")
    found: list[Roofline] = [roofline(one, registry.platform(name)) for name in PRODUCTS[:many]]
    made = check(picture_of("t", found, [1e-3 * (1 + at) for at in range(many)]))
    frame = max(line.points[1][1] for line in made.lines if line.classes == "axis")
    samples = [line for line in made.lines if line.points[0][1] > frame and line.points[0][0] == 12 and line.over]
    keys = {(next((one.shape for one in made.marks if one.y == line.points[0][1]), ""), line.dash) for line in samples}
    assert len({one.over.split(" ")[0] for one in samples}) == many
    assert many == 1 or len({shape for shape, _ in keys}) == many
    on_roofs = {one.shape for one in made.marks if one.y < frame and "open" in one.classes}
    assert many == 1 or on_roofs == {shape for shape, _ in keys}
    assert {one.classes for one in samples} == {f"line group{at}" for at in range(many)}


def kernels(many: int) -> Picture:
    """Kernels at four levels of memory, some on tensor cores, their names alike."""
    points = [
        LevelPoint(f"ampere_fp16_s16816gemm_{'x' * (at % 50)}_{at}", level, dtype, engine,
                   part * 10 ** (at * 7 % 30 / 10 - 0.7), 10 ** (10.5 + at * 11 % 21 / 10), "exact")
        for at in range(many) for dtype, engine in [("fp16", "matrix") if at % 3 else ("fp32", "vector")]
        for level, part in (("dram", 1.0), ("l2", 0.35), ("l1", 0.12), ("shared", 0.2))
    ]  # fmt: skip
    roofs = level_roofs(Registry.open().platform("H100_SXM"), points)
    return picture_of_report(f"{many} kernels", points, roofs.values())


@pytest.mark.parametrize("many", [1, 5, 23, 60])
def test_kernels_are_told_apart(many: int) -> None:
    """Each has its name or its number beside it, and the numbers have names in the key; each level has its shape."""
    picture = kernels(many)
    made = check(picture)
    assert made.unplaced == ()
    texts = [one.text for one in made.labels]
    inside = [one.text for one in made.labels if "over" in one.classes.split()]
    if many > 4:
        assert all(str(at) in inside and texts.count(str(at)) >= 2 for at in range(1, many + 1))
    else:
        assert [one for one in inside if one.startswith("ampere") and one.endswith("_0")]
    shapes = {one.shape for one in made.marks if one.over}
    assert len(shapes) == (4 if many < 60 else 2)
    assert f"{many} measured{', at dram' if many == 60 else ''}" in texts


def test_the_axes_say_what_they_count() -> None:
    """With units, across and up."""
    texts = [one.text for one in check(kernels(1)).labels]
    assert "Arithmetic intensity (FLOP/byte)" in texts
    assert "Performance (FLOP/s)" in texts


def test_sources_stand_over_what_they_are_of_and_not_below_the_plot() -> None:
    """Over the line, over its row of the key, and in the description."""
    roof = DrawnRoof("P fp32", 2e12, 2.56e13, "page.md:L1", "P", engine="fp32 vector")
    made = drawn(Picture("t", (roof,), (Point("k", 1.0, 1e12, source="record r", group="P"),)))
    assert not [one.text for one in made.labels if "page.md" in one.text or "record r" in one.text]
    assert len([one for one in made.lines if "page.md:L1" in one.over]) == 2
    assert [one.over for one in made.labels if one.over and "page.md:L1" in one.over]
    assert all("record r" in one.over for one in made.marks)
    assert "page.md:L1" in made.told and "record r" in made.told


def test_dots_stand_at_their_own_rate_and_roofs_bend_at_the_ridge() -> None:
    """A dot at half of the roof is below it; the target is below the roof; marks tell products apart."""
    roof = DrawnRoof("a", 1e12, 1e13, "s", "P0")
    aim = DrawnRoof("a, target", 0.9e12, 0.9e13, "s", "P0", "target")
    points = (Point("k", 2.0, 1e12, group="P0"), Point("k, attainable", 2.0, 2e12, "attainable", group="P0"))
    made = drawn(Picture("t", (roof, aim), points))
    bar, dot, *_ = made.marks
    assert (dot.shape, bar.shape) == ("dot", "bar")
    assert dot.y > bar.y
    dotted, solid = (one for one in made.lines if one.classes.startswith("line group0") and len(one.points) == 3)
    assert dotted.dash == "1.5 3"
    assert all(low[1] > high[1] for low, high in zip(dotted.points, solid.points, strict=True))
    other = drawn(Picture("t", (roof, DrawnRoof("b", 2e12, 3e13, "s", "P1")), (Point("k", 2.0, 1e12, group="P1"),)))
    assert [one.shape for one in other.marks if "open" not in one.classes] == ["square", "square"]


def test_a_title_of_any_length_fits() -> None:
    """Of wide letters too."""
    check(Picture("核" * 300, ROOFS, ()))
    check(Picture("t" * 10_000, ROOFS, ()))

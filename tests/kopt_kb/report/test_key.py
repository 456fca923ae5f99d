"""The key below a plot: rows by product and roof, columns of numbers, points of a kernel in one row."""

from __future__ import annotations

from kopt_kb.report.key import LaidKey, Style, laid_key, point_entries, point_text, roof_text
from kopt_kb.report.picture import DrawnRoof, Picture, Point

ROOFS = (
    DrawnRoof("P fp32 vector", 2e12, 2.56e13, "page.md:L1", "P", engine="fp32 vector"),
    DrawnRoof("P fp32 vector, measured", 1.5e12, 2e13, "page.md:L2", "P", "measured", engine="fp32 vector"),
    DrawnRoof("P fp32 vector, target", 1e12, 2e13, "", "P", "target", engine="fp32 vector"),
    DrawnRoof("Q fp32 vector", 3e12, 3e13, "page.md:L3", "Q", engine="fp32 vector"),
)
LEVELS = (
    DrawnRoof("P dram, fp32 vector", 2e12, 2e13, "s", "P", level="dram", engine="fp32 vector"),
    DrawnRoof("P dram, fp16 matrix", 2e12, 2e14, "s", "P", level="dram", engine="fp16 matrix"),
    DrawnRoof("run dram, fp32 vector", 1.9e12, 1.9e13, "s", "run", "counters", "dram", "fp32 vector"),
)


def keyed(picture: Picture) -> tuple[LaidKey, list[list[str]]]:
    """The key, and its texts row by row."""
    made = laid_key(picture, point_entries(picture.drawable), 100, 480)
    rows: dict[float, list[str]] = {}
    for one in sorted(made.labels, key=lambda each: each.box.left):
        rows.setdefault(one.box.top, []).append(one.text)
    return made, [rows[top] for top in sorted(rows)]


def test_a_row_for_each_product_and_roof() -> None:
    """With the unit of its engine once; what dashes mean stands above; a target is explained and has no row."""
    made, rows = keyed(Picture("t", ROOFS, (Point("k", 4.0, 1e12, source="record", group="Q", label="v1"),)))
    assert rows == [
        ["documented roof", "measured roof", "target"],
        ["Roofs", "memory", "fp32 vector"],
        ["P", "2 TB/s", "25.6 TFLOP/s"],
        ["P", "1.5 TB/s", "20 TFLOP/s"],
        ["Q", "3 TB/s", "30 TFLOP/s"],
        ["1 measured", "FLOP/byte", "performance"],
        ["1", "v1", "4", "1 TFLOP/s"],
    ]
    samples = [(one.classes, one.dash) for one in made.lines if one.over]
    assert samples == [("line group0", ""), ("line group0", "7 3"), ("line group1", "")]
    assert [one.shape for one in made.marks] == ["dot", "dot", "square", "square"]
    assert all(one.box.top >= 100 and one.box.bottom <= made.bottom for one in made.labels)


def test_slopes_and_flat_parts_of_levels_have_a_row_each() -> None:
    """Shared ones once, those of the run beside them in other dashes; a level without a roof has its shape."""
    points = (Point("dram k", 4.0, 1e12, level="dram", label="k"), Point("l2 k", 1.0, 1e12, level="l2", label="k"))
    _, rows = keyed(Picture("t", LEVELS, points))
    assert rows == [
        ["Roofs", "memory", "compute"],
        ["P dram", "2 TB/s"],
        ["run dram", "1.9 TB/s"],
        ["l2, no roof known"],
        ["P fp32 vector", "20 TFLOP/s"],
        ["P fp16 matrix", "200 TFLOP/s"],
        ["run fp32 vector", "19 TFLOP/s"],
        ["1 measured", "FLOP/byte, dram", "performance"],
        ["1", "k", "4", "1 TFLOP/s"],
    ]
    style = Style(Picture("t", LEVELS, points))
    assert [style.dash(one) for one in LEVELS] == ["", "", "10 3 2 3"]


def test_points_of_a_kernel_at_several_levels_are_one_entry() -> None:
    """Two measurements of one name are two."""
    same = (Point("a", 1.0, 1e12), Point("a", 1.0, 1e12))
    assert [(len(one.points), one.number) for one in point_entries(same)] == [(1, "1"), (1, "2")]
    levels = tuple(Point(f"{level} a", 1.0, 1e12, level=level, label="a") for level in ("dram", "l2"))
    assert [(len(one.points), one.number, one.name) for one in point_entries(levels)] == [(2, "1", "a")]


def test_what_has_no_place_is_named() -> None:
    """Below all rows; texts over things have values and sources."""
    _, rows = keyed(Picture("t", ROOFS[:1], (Point("gone", float("nan"), 0.0),)))
    assert rows[-1] == ["not drawn, no place on the axes: gone"]
    assert roof_text(ROOFS[0]) == "P fp32 vector: 2 TB/s, 25.6 TFLOP/s, ridge 12.8 FLOP/B\npage.md:L1"
    assert point_text(Point("k", 4.0, 1e12, source="record")) == "k: 1 TFLOP/s at 4 FLOP/B\nrecord"

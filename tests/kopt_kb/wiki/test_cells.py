"""Cells to rows: grammar of conditions, sources and notes."""

from __future__ import annotations

import pytest

from kopt_kb.wiki.cells import CellFault, parse_row

GOOD = ["peak_compute", "148", "TFLOPS", "dtype=bf16; engine=matrix; sparsity=dense; acc=unstated; clock=unstated", "secondary", '[^s] row "x" BF16 quote="148 TFLOPS"', ""]  # fmt: skip


def parse(**changes: str):
    """The good row with cells changed by position name."""
    names = ("metric", "value", "unit", "conditions", "grade", "source", "note")
    cells = [changes.get(name, cell) for name, cell in zip(names, GOOD, strict=True)]
    cells[5] = cells[5].replace(' "x"', "")
    return parse_row(cells, "p.md", 9, "Compute", {"s", "t"})


def test_a_full_row() -> None:
    """Key with all axes, source with locator and quote."""
    row = parse()
    assert row.key == "peak_compute[dtype=bf16;engine=matrix;sparsity=dense;acc=unstated;clock=unstated]"
    assert (row.sources[0].id, row.sources[0].locator, row.sources[0].quote) == ("s", "row BF16", "148 TFLOPS")


def test_defaults_are_left_out_of_the_key() -> None:
    """scope=gpu is the default, scope=node is not."""
    base = GOOD[3]
    assert parse(conditions=base + "; scope=gpu").key == parse().key
    assert parse(conditions=base + "; scope=node").key.endswith(";scope=node]")


@pytest.mark.parametrize(
    "conditions",
    ["-", "dtype=bf16", "engine=matrix; dtype=bf16; sparsity=dense; acc=unstated; clock=unstated", GOOD[3] + "; dtype=bf16", GOOD[3].replace("bf16", "bfloat16"), GOOD[3] + "; level=l2", GOOD[3].replace("acc=unstated", "acc")],
)  # fmt: skip
def test_conditions_are_complete_ordered_and_closed(conditions: str) -> None:
    """Missing, unordered, repeated, foreign or malformed axes are WK204."""
    with pytest.raises(CellFault) as caught:
        parse(conditions=conditions)
    assert caught.value.code == "WK204"


def test_several_sources_must_all_support_the_value() -> None:
    """A second source whose quote says something else is a fault."""
    assert len(parse(source='[^s] a quote="148"; [^t] b quote="148 TFLOPS"').sources) == 2
    with pytest.raises(CellFault, match="does not convert"):
        parse(source='[^s] a quote="148"; [^t] b quote="149 TFLOPS"')


def test_units_follow_the_dtype() -> None:
    """TOPS for integers, TFLOPS for floats."""
    with pytest.raises(CellFault, match="does not fit"):
        parse(unit="TOPS")
    assert parse(conditions=GOOD[3].replace("bf16", "int8"), unit="TOPS")


@pytest.mark.parametrize(
    ("note", "ok"),
    [("method: by hand", True), ("exception PHY-RATE: because", True), ("exception: because", False), ("method PHY: x", False), ("reason:", False), ("why: x", False), ("method: a; chosen: b", True), ("method: f(a; b) stays one", True)],
)  # fmt: skip
def test_notes(note: str, ok: bool) -> None:
    """Tags are a closed list, texts are not empty, brackets protect semicolons."""
    if ok:
        assert parse(note=note).notes
    else:
        with pytest.raises(CellFault) as caught:
            parse(note=note)
        assert caught.value.code == "WK209"


def test_unknown_and_none() -> None:
    """UNKNOWN has no grade and no source; NONE is cited; both give a reason."""
    unknown = parse(value="UNKNOWN", grade="-", source="-", note="reason: nobody says")
    none = parse(value="NONE", source="[^s] opcode list", note="reason: not there")
    assert (unknown.kind, none.kind) == ("unknown", "none")
    with pytest.raises(CellFault):
        parse(value="NONE", source="-", note="reason: not there")


def test_formula_belongs_to_derived_rows() -> None:
    """And only to them."""
    assert parse(grade="derived", source="-", note="formula: sm_count * 2").grade == "derived"
    with pytest.raises(CellFault):
        parse(note="formula: sm_count")


@pytest.mark.parametrize(("length", "ok"), [(60, True), (61, False)])
def test_a_quote_has_at_most_60_characters(length: int, ok: bool) -> None:
    """The printed cell, not the paragraph around it."""
    source = f'[^s] row 1 quote="{"148 TFLOPS".ljust(length, ".")}"'
    if ok:
        assert len(parse(source=source).sources[0].quote) == 60
    else:
        with pytest.raises(CellFault, match="quote of 61 characters") as caught:
            parse(source=source)
        assert caught.value.code == "WK206"


def test_zero_is_no_value() -> None:
    """A part that lacks it has a NONE row."""
    with pytest.raises(CellFault, match="peak_compute of 0") as caught:
        parse(value="0", source='[^s] row 1 quote="0 TFLOPS"')
    assert caught.value.code == "WK202"


@pytest.mark.parametrize(
    ("grade", "ok"), [("secondary", True), ("measured", True), ("device", True), ("vendor", False)]
)
def test_no_sheet_promises_a_measurement(grade: str, ok: bool) -> None:
    """What a vendor measured and published is secondary to the reader, as all that others measured."""
    row = {
        "metric": "measured_bandwidth",
        "value": "900",
        "unit": "GB/s",
        "grade": grade,
        "source": '[^s] a quote="900"',
    }
    row["conditions"] = "level=dram; pattern=copy; bytes=unstated"
    if ok:
        assert parse(**row).grade == grade
    else:
        with pytest.raises(CellFault) as caught:
            parse(**row)
        assert caught.value.code == "WK205"


def test_a_quotation_mark_inside_a_quote_is_escaped() -> None:
    """Documents that are JSON are quoted as they are; other marks and backslashes mean themselves."""
    row = parse(source=r'[^s] rate quote="\"tera_ops\": 148; \d"')
    assert row.sources[0].quote == r'"tera_ops": 148; \d'
    assert parse(source=row.sources[0].written).sources == row.sources
    for broken in (r'[^s] rate quote="\"148"x"', r'[^s] rate quote="148\"', r'[^s] rate "148" quote="148"'):
        with pytest.raises(CellFault) as caught:
            parse(source=broken)
        assert caught.value.code == "WK206"


def test_an_escaped_quote_counts_as_the_characters_that_are_printed() -> None:
    """Sixty of them, backslashes not counted."""
    printed = "148 " + '"' * 56
    assert parse(source='[^s] rate quote="' + printed.replace('"', '\\"') + '"').sources[0].quote == printed

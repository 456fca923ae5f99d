"""Formula tables of the wiki."""

from __future__ import annotations

import re

import pytest

from kopt_kb.analysis.profile.formulas import FormulaFault, load_formulas, read_formulas

NOTE = '[^a]: title="T"; publisher="P"; url="https://example.org"; revision="1"; read="2026-11-21"'
HEAD = "| Metric | gfx | Formula | Unit | Source | Note |\n|---|---|---|---|---|---|"
ROW = '| l2_hits | gfx942 gfx950 | `X + 2 * Y` | 1 | [^a] row 3 quote="X" | bound: lower; reason: why |'


def page(row=ROW, note=NOTE):
    return f"# T\n\n{HEAD}\n{row}\n\n{note}\n"


def test_a_row_is_read_with_its_source_and_its_line():
    """Metric, targets, formula, bound, citation."""
    (one,) = read_formulas(page(), "counters/x.md")
    assert (one.metric, one.targets, one.bound, one.citation) == (
        "l2_hits",
        {"gfx942", "gfx950"},
        "lower",
        "counters/x.md:5",
    )
    assert one.expression.value({"X": 1, "Y": 2}) == 5
    assert (one.source, one.quote) == ("T, row 3", "X")
    assert one.holds_for("gfx942")
    assert not one.holds_for("")


def test_a_bar_in_a_cell_is_escaped():
    """`\\|` is part of the quote, as on every page of the wiki."""
    (one,) = read_formulas(page(ROW.replace('quote="X"', 'quote="X \\| Y"')), "x.md")
    assert one.quote == "X | Y"


def test_a_row_that_lost_its_last_bar_is_refused():
    """It would end the table, and all rows below it were never read."""
    with pytest.raises(FormulaFault, match="no table row") as fault:
        read_formulas(page(f"{ROW[:-1]}\n{ROW}"), "x.md")
    assert fault.value.where == "x.md:5"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("l2_hits", "l2_hitz"),
        ("| 1 |", "| B |"),
        ("gfx942 gfx950", "mi300"),
        ("`X + 2 * Y`", "X + 2 * Y"),
        ("`X + 2 * Y`", "`x + Y`"),
        ("`X + 2 * Y`", "`X +`"),
        ("[^a] row 3", "[^b] row 3"),
        (' quote="X"', ""),
        ('quote="X"', f'quote="{"X" * 61}"'),
        ("bound: lower", "bound: some"),
        ("reason: why", "because: why"),
        ("reason: why", "bound: upper"),
        ("| bound: lower; reason: why |", "|"),
    ],
)
def test_every_fault_of_a_row_names_its_line(old, new):
    """A page that breaks the grammar loads nothing."""
    with pytest.raises(FormulaFault, match=r"counters/x\.md:5"):
        read_formulas(page(ROW.replace(old, new)), "counters/x.md")


def test_a_footnote_without_a_row_is_a_fault():
    """Sources are there for rows."""
    with pytest.raises(FormulaFault, match="never cited"):
        read_formulas(page() + NOTE.replace("^a", "^b") + "\n", "counters/x.md")


def test_the_packaged_pages_load():
    """All rows of gpuwiki/counters/amd_*.md are valid; each target has its fabric formulas."""
    formulas = load_formulas()
    assert len({(one.metric, one.expression.text, one.targets) for one in formulas}) == len(formulas)
    for target in ("gfx908", "gfx90a", "gfx942", "gfx950"):
        held = {one.metric for one in formulas if one.targets and one.holds_for(target)}
        assert {"fabric_read_bytes", "fabric_write_bytes", "l1_bytes", "l2_bytes"} <= held


def test_every_url_names_a_commit(repo_root):
    """A formula is sourced like a number: repository, commit and path."""
    text = "".join(path.read_text() for path in (repo_root / "gpuwiki" / "counters").glob("amd_*.md"))
    urls = re.findall(r'url="([^"]*)"', text)
    assert urls
    assert all(re.fullmatch(r"ROCm/[\w-]+@[0-9a-f]{40}:\S+", one) for one in urls)

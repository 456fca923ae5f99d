"""Rows: cells of raw lines, hashes that ignore what does not matter, the cache's form."""

from __future__ import annotations

from kopt_kb.wiki.row import Row, Source, row_hash

ROW = Row(
    "m",
    "m[a=1]",
    "value",
    "4.0",
    "TB/s",
    (("a", "1"),),
    "vendor",
    (Source("s", "row 1", "4.0TB/s"),),
    (("chosen", "why"),),
    "p.md",
    7,
    "H",
    "abc",
)


def test_hash_ignores_space_quote_and_line_but_not_content() -> None:
    """Moving or re-spacing a row does not change it; value, unit, grade, source id and locator do."""
    base = row_hash("k", "4.0", "TB/s", "vendor", (Source("s", "row 1", "q"),))
    assert base == row_hash("k", "4.0", "TB/s", "vendor", (Source("s", "row  1", "other"),))
    changed = {
        row_hash("k2", "4.0", "TB/s", "vendor", (Source("s", "row 1", "q"),)),
        row_hash("k", "4.00", "TB/s", "vendor", (Source("s", "row 1", "q"),)),
        row_hash("k", "4.0", "GB/s", "vendor", (Source("s", "row 1", "q"),)),
        row_hash("k", "4.0", "TB/s", "device", (Source("s", "row 1", "q"),)),
        row_hash("k", "4.0", "TB/s", "vendor", (Source("t", "row 1", "q"),)),
        row_hash("k", "4.0", "TB/s", "vendor", (Source("s", "row 2", "q"),)),
        row_hash("k", "4.0", "TB/s", "vendor", ()),
    }
    assert base not in changed
    assert len(changed) == 7
    assert len(base) == 12


def test_cache_round_trip() -> None:
    """What is stored comes back equal."""
    assert Row.from_cache(ROW.to_cache()) == ROW


def test_notes() -> None:
    """The state in a conflict, and texts by tag."""
    assert (ROW.chosen, ROW.note("chosen"), ROW.note("formula")) == (True, "why", "")

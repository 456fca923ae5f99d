"""The decimal sign is decided from a whole file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.numerals import DecimalVote, number


def vote(*cells):
    found = DecimalVote("page.csv")
    for line, cell in enumerate(cells, start=2):
        found.see(cell, line)
    return found


@pytest.mark.parametrize(
    ("cells", "decimal"),
    [
        (["117.344", "61.84"], "."),
        (["117.344", "65,77"], ","),
        (["27.595.520"], ","),
        (["12,319,469"], "."),
        (["4,963,609,951.19"], "."),
        (["4.963.609.951,19"], ","),
        (["117.344"], "."),
        (["CachePreferNone", "12"], "."),
        ([], "."),
    ],
)
def test_one_telling_cell_decides_for_all(cells, decimal):
    """A percent with a comma makes 117.344 a whole number."""
    assert vote(*cells).decided == decimal


def test_cells_that_contradict_each_other_are_damage():
    """No guess is made between two locales; both lines are named."""
    with pytest.raises(ReportError, match="line 2 and a decimal comma in line 3"):
        _ = vote("61.84", "65,77").decided


@pytest.mark.parametrize(
    ("cell", "decimal", "value"),
    [
        ("117.344", ",", 117344.0), ("117.344", ".", 117.344), ("27.595.520", ",", 27595520.0),
        ("4,963,609,951.19", ".", 4963609951.19), ("1 234,5", ",", 1234.5), ("1e3", ".", 1000.0), ("-3", ".", -3.0),
        ("12,31,469", ".", None), ("n/a", ".", None), ("nan", ".", None), ("inf", ".", None), ("", ".", None),
        ("1e999", ".", None), ("0,1,5", ".", None),
    ],
)  # fmt: skip
def test_numbers_read_in_their_locale(cell, decimal, value):
    """Text, broken groups and infinities are no numbers."""
    assert number(cell, decimal) == value


@given(st.integers(-(10**12), 10**12), st.integers(0, 99))
def test_both_locales_print_the_same_number(whole, cents):
    """Swapping the signs and the locale changes nothing."""
    printed = f"{whole:,}.{cents:02d}"
    swapped = printed.translate(str.maketrans(".,", ",."))
    assert number(printed, ".") == number(swapped, ",")

"""Units as tools spell them."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.readers.common.units import base_unit


@pytest.mark.parametrize(
    ("printed", "unit", "factor"),
    [
        ("ns", "s", 1e-9), ("nsecond", "s", 1e-9), ("us", "s", 1e-6), ("usecond", "s", 1e-6), ("msecond", "s", 1e-3),
        ("second", "s", 1.0), ("hz", "Hz", 1.0), ("Ghz", "Hz", 1e9), ("cycle/nsecond", "Hz", 1e9),
        ("cycle/usecond", "Hz", 1e6), ("cycle/second", "Hz", 1.0), ("byte", "B", 1.0), ("Kbyte", "B", 1e3),
        ("Mbyte", "B", 1e6), ("Gbyte/s", "B/s", 1e9), ("Tbyte/second", "B/s", 1e12), ("byte/second", "B/s", 1.0),
        ("Kbyte/block", "B/block", 1e3), ("%/Kbyte", "%/B", 1e-3), ("%", "%", 1.0), ("", "", 1.0),
        ("inst/cycle", "inst/cycle", 1.0), ("register/thread", "register/thread", 1.0), ("SM", "SM", 1.0),
        ("Kinst", "inst", 1e3), ("block", "block", 1.0), ("sector/request", "sector/request", 1.0),
    ],
)  # fmt: skip
def test_spellings_of_all_versions_reach_the_base_unit(printed, unit, factor):
    """Prefixes are decimal: one Kbyte is 1000 byte."""
    scaled = base_unit(printed)
    assert scaled.unit == unit
    assert scaled.apply(3.0) == pytest.approx(3.0 * factor, rel=1e-15)


def test_nanoseconds_divide_exactly():
    """203264 ns are the double nearest to 203264e-9."""
    assert base_unit("nsecond").apply(203264.0) == 0.000203264

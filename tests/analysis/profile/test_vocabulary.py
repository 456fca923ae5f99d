"""The vocabulary is closed, consistent, and says units in its names."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.profile.vocabulary import METRICS, definition_of
from kopt_kb.base.errors import BadInput

SUFFIXES = {"s": "_s", "Hz": "_hz", "%": "_pct"}


def test_parts_of_ratios_are_amounts_of_the_vocabulary():
    """A ratio is computed from two summed amounts that exist."""
    for one in METRICS.values():
        if one.over:
            assert one.combine == "ratio"
            assert [METRICS[part].combine for part in one.over] == ["sum", "sum"], one.id


@pytest.mark.parametrize("unit", sorted(SUFFIXES))
def test_the_name_of_a_physical_metric_ends_in_its_unit(unit):
    """Seconds, hertz and percent are visible in the id."""
    ids = [one.id for one in METRICS.values() if one.unit == unit]
    assert ids
    assert [one for one in ids if not one.endswith(SUFFIXES[unit])] == []


def test_bytes_are_named_as_bytes():
    """An amount or rate in bytes says so."""
    ids = [one.id for one in METRICS.values() if one.unit in ("B", "B/s")]
    assert [one for one in ids if "bytes" not in one] == []


def test_an_unknown_id_names_near_ones():
    """A typo is an error that helps, never an absent value."""
    with pytest.raises(BadInput, match="dram_read_bytes"):
        definition_of("dram_read_byte")


def test_every_meaning_is_one_clause():
    """Meanings are short texts without a full stop."""
    assert [one.id for one in METRICS.values() if not one.meaning or one.meaning.endswith(".")] == []

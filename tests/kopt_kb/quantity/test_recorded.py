"""A quantity is written with its sources and reads back as a record, never as a quantity."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from kopt_kb.base.wire import read
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.quantity.recorded import RecordedQuantity, RecordedUnknown
from kopt_kb.wiki.registry import Platform, Registry


@pytest.fixture
def t10(wiki_root: Path) -> Platform:
    """2.0 TB/s; bf16 UNKNOWN; fp8 NONE."""
    return Registry.open(wiki_root).platform("T10")


def test_a_written_quantity_is_read_as_its_record(t10: Platform) -> None:
    """Print, SI, grades and citations; the exact value as far as it was written."""
    value = t10.get("memory_bandwidth")
    assert isinstance(value, Quantity)
    document = value.to_json()
    assert document == {
        "value": 2.0,
        "unit": "TB/s",
        "si_value": 2 * 10**12,
        "si_unit": "B/s",
        "grades": ["vendor"],
        "citations": [str(value.citations()[0])],
    }
    record = read(RecordedQuantity, document)
    assert record.si == value.si == Fraction(2 * 10**12)
    assert record.to_json() == document


def test_states_are_written_in_words(t10: Platform) -> None:
    """UNKNOWN and NONE are no numbers."""
    unknown = t10.get("peak_compute", dtype="bf16").to_json()
    assert (unknown["value"], unknown["state"]) == (None, "UNKNOWN")
    assert read(RecordedUnknown, unknown).to_json() == unknown
    assert t10.get("peak_compute", dtype="fp8").to_json()["state"] == "NONE"


def test_a_quantity_can_not_be_read(t10: Platform) -> None:
    """No document makes a value that may feed a target."""
    with pytest.raises(TypeError, match="written only"):
        read(Quantity, t10.get("memory_bandwidth").to_json())

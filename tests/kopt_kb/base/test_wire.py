"""Values are written as one JSON form, without a library."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import OrderedDict
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import PurePosixPath
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.base.wire import Wire, WireError, canonical, inside, parse, plain


class Mode(StrEnum):
    READ = "read"


@dataclass(frozen=True, slots=True)
class Amount(Wire):
    value: int
    exactness: str = "exact"


@dataclass(frozen=True, slots=True)
class Flops(Wire):
    WIRE: ClassVar = ("class=kind", "value=amount.value", "exactness=amount.exactness", "double", "note?", "cause?")
    kind: str
    amount: Amount
    note: str | None = None
    cause: tuple[str, ...] | None = None
    secret: str = "not written"

    @property
    def double(self) -> int:
        return 2 * self.amount.value


@dataclass(frozen=True, slots=True)
class Named(Wire):
    WIRE: ClassVar = ("name", *inside("flops", Flops))
    name: str
    flops: Flops


class TestToJson:
    def test_fields_are_written_in_order(self):
        """A class that says nothing writes its fields."""
        assert list(Amount(1).to_json().items()) == [("value", 1), ("exactness", "exact")]

    def test_members_are_renamed_flattened_computed_and_left_out(self):
        """The class lists what its document has."""
        assert Flops("a", Amount(2)).to_json() == {"class": "a", "value": 2, "exactness": "exact", "double": 4}
        assert Flops("a", Amount(2), "n", ()).to_json()["cause"] == []

    def test_a_document_is_flattened_into_another(self):
        """With its names, and with what it leaves out."""
        flat = {"name": "n", **Flops("a", Amount(2)).to_json()}
        assert Named("n", Flops("a", Amount(2))).to_json() == flat
        assert Named("n", Flops("a", Amount(2), "why")).to_json() == {**flat, "note": "why"}

    def test_writing_loads_no_library(self):
        """The path of a cached lookup writes JSON and stays light."""
        code = (
            "import sys; from dataclasses import dataclass; from kopt_kb.base import wire\n"
            "@dataclass(frozen=True)\nclass A(wire.Wire):\n    a: int\n"
            "A(1).to_json(); wire.canonical(A(1)); wire.parse('{}'); assert 'pydantic' not in sys.modules"
        )
        subprocess.run([sys.executable, "-P", "-c", code], check=True)


class TestPlain:
    @pytest.mark.parametrize(
        ("value", "form"),
        [
            (None, None),
            (True, True),
            (Mode.READ, "read"),
            (Fraction(9, 10), "9/10"),
            (Fraction(3), "3"),
            (PurePosixPath("a/b"), "a/b"),
            ((1, (2,)), [1, [2]]),
            (frozenset({"b", "a"}), ["a", "b"]),
            (OrderedDict(a=Amount(1)), {"a": {"value": 1, "exactness": "exact"}}),
        ],
    )
    def test_every_kind_of_value_has_one_form(self, value, form):
        """The types say so too: an enumeration is its bare value."""
        written = plain(value)
        assert written == form
        assert type(written) is type(form)

    @pytest.mark.parametrize("value", [object(), {1: 2}, [b"x"], 1j])
    def test_a_value_without_a_form_is_a_programming_error(self, value):
        """Nothing is written as its repr."""
        with pytest.raises(TypeError, match="no JSON form"):
            plain(value)


class TestCanonical:
    def test_members_are_sorted_and_text_is_ascii(self):
        """Two equal values have equal bytes."""
        assert canonical({"b": "é", "a": [1.5, None]}) == b'{"a":[1.5,null],"b":"\\u00e9"}'

    @pytest.mark.parametrize("value", [float("nan"), float("inf")])
    def test_what_is_no_number_is_refused(self, value):
        """A hash over NaN would not read back."""
        with pytest.raises(ValueError, match="Out of range"):
            canonical({"a": value})


class TestParse:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ('{"a": 1, "a": 2}', "a member stands twice"),
            ('{"a": NaN}', "NaN is no number"),
            ("-Infinity", "-Infinity is no number"),
            ("{", "is no JSON"),
            ("[" * 100_000, "nested too deeply"),
            (b"\xff\xfe{", "is no JSON"),
        ],
    )
    def test_a_text_that_is_no_document_is_refused(self, text, words):
        """With its name."""
        with pytest.raises(WireError, match=rf"^a\.json: .*{words}"):
            parse(text, where="a.json")


@settings(max_examples=50, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_canonical_bytes_read_back_equal(value):
    """No form is lost."""
    assert parse(canonical(value)) == json.loads(json.dumps(value)) == value

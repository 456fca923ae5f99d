"""Typed records are read from plain JSON exactly, and refusals name the field."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.workspace.journal.codec import Count, FieldError, JsonMap, Number, Sha256, Text, decode, encode


@dataclass(frozen=True, slots=True)
class Inner:
    name: Text
    n: Count = 0


@dataclass(frozen=True, slots=True)
class Outer:
    inner: tuple[Inner, ...]
    share: float
    mode: Literal["a", "b"]
    extra: JsonMap
    limits: Mapping[str, float]
    flag: bool
    blob: Sha256 | None = None
    exact: Number = "1"


GOOD = {"inner": [{"name": "x", "n": 2}], "share": 0.5, "mode": "a", "extra": {}, "limits": {}, "flag": True}

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


class TestDecode:
    def test_lists_become_tuples_and_absent_optional_fields_their_default(self):
        """The built object is immutable and complete."""
        built = decode(Outer, GOOD)
        assert built.inner == (Inner("x", 2),)
        assert (built.blob, built.exact) == (None, "1")

    @pytest.mark.parametrize(
        ("change", "place"),
        [
            ({"inner": [{"name": "x"}, {"name": " "}]}, "inner[1].name"),
            ({"inner": [{"n": 1}]}, "inner[0].name"),
            ({"inner": [{"name": "x", "n": -1}]}, "inner[0].n"),
            ({"inner": [{"name": "x", "n": True}]}, "inner[0].n"),
            ({"inner": [{"name": "x", "n": 1.0}]}, "inner[0].n"),
            ({"inner": [{"name": "x", "n": 2**63}]}, "inner[0].n"),
            ({"inner": {}}, "inner"),
            ({"share": float("nan")}, "share"),
            ({"share": float("inf")}, "share"),
            ({"share": "0.5"}, "share"),
            ({"mode": "c"}, "mode"),
            ({"mode": ["a"]}, "mode"),
            ({"extra": {"a": [{"b": float("nan")}]}}, "extra.a[0].b"),
            ({"extra": {"a": {"b": object()}}}, "extra.a.b"),
            ({"extra": {1: 2}}, "extra"),
            ({"limits": {"wall_s": "x"}}, "limits.wall_s"),
            ({"flag": 1}, "flag"),
            ({"blob": "AB" * 32}, "blob"),
            ({"exact": "1/0"}, "exact"),
            ({"exact": "1e3 "}, "exact"),
            ({"surplus": 1}, "surplus"),
        ],
    )
    def test_a_wrong_field_is_named_by_its_path(self, change, place):
        """The error's place is the path to the field."""
        with pytest.raises(FieldError) as caught:
            decode(Outer, {**GOOD, **change})
        assert caught.value.where == place

    def test_the_path_starts_with_the_given_name(self):
        """A caller's name for the record comes first."""
        with pytest.raises(FieldError, match=r"^event\.share: is missing"):
            decode(Outer, {k: v for k, v in GOOD.items() if k != "share"}, "event")

    def test_deep_nesting_is_refused_before_it_can_exhaust_the_stack(self):
        """Thirty-three levels are one too many."""
        value: object = 1
        for _ in range(33):
            value = [value]
        with pytest.raises(FieldError, match="nested deeper than 32"):
            decode(Outer, {**GOOD, "extra": {"a": value}})

    def test_foreign_content_can_not_be_changed_afterwards(self):
        """A JSON object inside a record is read-only at every level."""
        built = decode(Outer, {**GOOD, "extra": {"a": {"b": [1]}}})
        with pytest.raises(TypeError):
            built.extra["a"]["b"] = 2
        assert built.extra["a"]["b"] == (1,)

    def test_a_type_without_a_json_form_is_a_programming_error(self):
        """A dataclass with a set field can't be read."""
        odd = dataclasses.make_dataclass("odd", [("x", Annotated[set[int], 1])])
        with pytest.raises(TypeError, match="no JSON form"):
            decode(odd, {"x": []})


@settings(max_examples=60, deadline=None)
@given(extra=st.dictionaries(st.text(max_size=3), JSON, max_size=3), share=st.floats(-1e300, 1e300))
def test_encode_and_decode_are_inverse(extra, share):
    """What was decoded encodes to the same JSON, and that decodes to the equal object."""
    raw = {**GOOD, "extra": extra, "share": share, "blob": "0" * 64, "exact": "-1.5e-3"}
    built = decode(Outer, raw)
    assert encode(built) == raw
    assert decode(Outer, encode(built)) == built

"""Typed records are read from plain JSON exactly, and refusals name the field."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import (
    Exact,
    JsonMap,
    NonNegativeInt,
    Number,
    Seq,
    Sha256,
    Text,
    Wire,
    WireError,
    pairs,
    plain,
    read,
    schema,
)


@dataclass(frozen=True, slots=True)
class Inner(Wire):
    name: Text
    n: NonNegativeInt = 0


@dataclass(frozen=True, slots=True)
class Outer(Wire):
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


@dataclass(frozen=True, slots=True)
class Told(Wire):
    """A cup.

    More about it.

    Attributes:
        size: How much it holds,
            in cubic centimetres.
    """

    size: int
    colour: str


class TestRead:
    def test_lists_become_tuples_and_absent_optional_fields_their_default(self):
        """The built object is immutable and complete."""
        built = read(Outer, GOOD)
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
        with pytest.raises(WireError) as caught:
            read(Outer, {**GOOD, **change})
        assert caught.value.where == place

    def test_the_path_starts_with_the_given_name(self):
        """A caller's name for the record comes first."""
        with pytest.raises(WireError, match=r"^event\.share: is missing"):
            read(Outer, {k: v for k, v in GOOD.items() if k != "share"}, where="event")

    def test_deep_nesting_is_refused_before_it_can_exhaust_the_stack(self):
        """Thirty-three levels are one too many."""
        value: object = 1
        for _ in range(33):
            value = [value]
        with pytest.raises(WireError, match="nested deeper than 32"):
            read(Outer, {**GOOD, "extra": {"a": value}})

    def test_foreign_content_can_not_be_changed_afterwards(self):
        """A JSON object inside a record is read-only at every level."""
        built = read(Outer, {**GOOD, "extra": {"a": {"b": [1]}}})
        with pytest.raises(TypeError):
            built.extra["a"]["b"] = 2
        assert built.extra["a"]["b"] == (1,)

    def test_a_type_without_a_json_form_is_a_programming_error(self):
        """A class with a field of bytes, or one that is no Wire, can't be read."""
        odd = dataclasses.make_dataclass("odd", [("x", bytes)], bases=(Wire,))
        with pytest.raises(TypeError, match="no JSON form"):
            read(odd, {"x": ""})
        with pytest.raises(TypeError, match="no JSON form"):
            read(dataclasses.make_dataclass("bare", [("x", int)]), {"x": 1})


class Unit(Enum):
    SECOND = "s"
    BYTE = "B"


@dataclass(frozen=True, slots=True)
class Roof(Wire):
    """A document that differs from its fields in every way there is."""

    WIRE: ClassVar = ("class=bound", "share", "name=inner.name", "time_s", "unit?", "options", "tags")
    bound: Literal["compute", "memory"]
    inner: Inner
    share: Exact
    unit: Unit | None = None
    options: tuple[tuple[str, int | str | bool], ...] = ()
    tags: frozenset[str] = frozenset()

    @property
    def time_s(self) -> float:
        return 2.0 * self.inner.n

    @classmethod
    def from_wire(cls, document):
        members = dict(document)
        return {**members, "inner": {"name": "x", "n": 3}, "options": pairs(members.get("options", {}))}


ROOF = {"class": "memory", "share": "9/10", "name": "x", "time_s": 6.0, "options": {}, "tags": ["a", "b"]}


class TestDocumentsThatDifferFromTheirFields:
    def test_names_computed_members_and_converted_fields_are_read_back(self):
        """A renamed field is found, computed members are dropped, `from_wire` gives the rest."""
        built = read(Roof, ROOF)
        assert built == Roof("memory", Inner("x", 3), Fraction(9, 10), tags=frozenset({"a", "b"}))
        assert plain(built) == {**ROOF, "options": []}

    def test_an_enumeration_is_read_by_its_value(self):
        """Other values are refused with all that are allowed."""
        assert read(Roof, {**ROOF, "unit": "s"}).unit is Unit.SECOND
        with pytest.raises(WireError, match=r"^unit: has to be one of s, B, not 'kB'"):
            read(Roof, {**ROOF, "unit": "kB"})

    def test_the_place_of_a_wrong_choice_is_the_document_s(self):
        """A union leaves no trace of the forms that were tried."""
        with pytest.raises(WireError, match=r"^options: has to be an integer or text or true or false, not 1\.5"):
            read(Roof, {**ROOF, "options": {"a": 1, "b": 1.5}})

    def test_exact_numbers_are_text(self):
        """A float has lost digits before it is read; text has not."""
        assert read(Roof, {**ROOF, "share": "0.9"}).share == Fraction(9, 10)
        for wrong in (0.9, 1, "9/0", "a"):
            with pytest.raises(WireError, match=r"^share: has to be an exact number"):
                read(Roof, {**ROOF, "share": wrong})


@dataclass(frozen=True, slots=True)
class Node(Wire):
    name: str
    children: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Positive(Wire):
    n: Seq

    def __post_init__(self):
        if self.n == 13:
            raise BadInput("is unlucky", code="KB999")


class TestKinds:
    def test_a_class_may_hold_itself(self):
        """Strictness holds on every level."""
        assert read(Node, {"name": "a", "children": [{"name": "b"}]}) == Node("a", (Node("b"),))
        with pytest.raises(WireError, match=r"^children\[0\]\.name: has to be text, not 1"):
            read(Node, {"name": "a", "children": [{"name": 1}]})

    def test_tuples_mappings_and_unions_of_classes_are_read(self):
        """The kind need not be a class."""
        assert read(tuple[Inner, ...], [{"name": "x"}]) == (Inner("x"),)
        assert read(Mapping[str, Inner], {"a": {"name": "x"}}) == {"a": Inner("x")}
        assert read(Positive | Inner, {"name": "x"}) == Inner("x")
        with pytest.raises(WireError, match=r"^\[0\]\.n: has to be at least 0"):
            read(tuple[Inner, ...], [{"name": "x", "n": -1}])

    def test_a_class_s_own_refusal_comes_through(self):
        """What `__post_init__` refuses keeps its words and code."""
        with pytest.raises(BadInput, match="is unlucky .*KB999"):
            read(Positive, {"n": 13})

    @pytest.mark.parametrize("value", [None, [], "text", 1])
    def test_a_document_that_is_no_object_is_refused(self, value):
        """In plain words, without a word of the library that checks."""
        with pytest.raises(WireError, match=r"^has to be an object, not [^;]*\[KB301\]$"):
            read(Inner, value)

    def test_a_member_that_was_frozen_is_read_like_its_document(self):
        """A record holds an object of any content as read-only mappings and tuples, at every level."""
        held = read(Outer, {**GOOD, "extra": {"node": {"name": "a", "children": [{"name": "b"}]}}}).extra
        assert read(Node, held["node"]) == Node("a", (Node("b"),))


class TestSchema:
    def test_it_describes_what_is_written_and_refuses_the_rest(self):
        """Renamed, computed and optional members stand as the document has them."""
        found = schema(Roof)
        assert set(found["properties"]) == {"class", "share", "name", "time_s", "unit", "options", "tags"}
        assert set(found["required"]) == set(found["properties"]) - {"unit"}
        assert found["additionalProperties"] is False
        assert found["properties"]["time_s"]["type"] == "number"

    def test_an_object_of_somebody_else_may_hold_anything(self):
        """A JSON object whose shape is not ours."""
        assert schema(Outer)["properties"]["extra"] == {
            "additionalProperties": True,
            "type": "object",
        }

    def test_the_docstring_is_shared_out(self):
        """Its first line describes the class, what it says of an attribute the member, over several lines too."""
        found = schema(Told)
        assert found["description"] == "A cup."
        assert found["properties"]["size"]["description"] == "How much it holds, in cubic centimetres."
        assert "description" not in found["properties"]["colour"]


@settings(max_examples=60, deadline=None)
@given(extra=st.dictionaries(st.text(max_size=3), JSON, max_size=3), share=st.floats(-1e300, 1e300))
def test_writing_and_reading_are_inverse(extra, share):
    """What was read is written as the same document, and that reads as the equal object."""
    raw = {**GOOD, "extra": extra, "share": share, "blob": "0" * 64, "exact": "-1.5e-3"}
    built = read(Outer, raw)
    assert plain(built) == raw
    assert read(Outer, plain(built)) == built

"""An object is cut into members that give its text again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.members import cut

VALUES = st.recursive(
    st.integers() | st.booleans() | st.none() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=6), st.sampled_from([None, 1, 4]), st.booleans())
def test_pieces_are_the_text(value: dict[str, object], indent: int | None, ascii_only: bool) -> None:
    """Every letter of it, and every value."""
    text = f"\n {json.dumps(value, indent=indent, ensure_ascii=ascii_only)} \r\n"
    found = cut(text, "t")
    assert {one.key: one.value for one in found.members} == value
    pieces = [found.gaps[0]]
    for one, gap in zip(found.members, found.gaps[1:], strict=True):
        pieces += [one.text, gap]
    assert "".join(pieces) == text


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('{\n"1": {"a": 1},\n"1": {"a": 2}}', 3, "the key 1 stands twice"),
        ('{\n"1": {"a": 1, "a": 2}}', 2, "a stands twice (in 1)"),
        ('{\n"1": {"a": 1.0}}', 2, "1.0 is no whole number (in 1)"),
        ('{\n"1": {"a": NaN}}', 2, "NaN is no number"),
        ('{\n"1": {"a": 1},\n"2": {"a"', 3, "(in 2)"),
        ('{\n"1": {"a": 1}', 2, "the file ends"),
        ('{"1": {}}\n}', 2, "behind the table"),
        ("[1]", 1, "{ is missing"),
        ("", 1, "the file ends"),
        ('{"1": ' + "[" * 100_000, 1, "nested too deep"),
    ],
)
def test_what_is_no_whole_object_is_named_with_its_line(text: str, line: int, says: str) -> None:
    """And with the key where there is one."""
    with pytest.raises(BadInput) as caught:
        cut(text, "t")
    assert caught.value.where == f"t:{line}"
    assert says in caught.value.what

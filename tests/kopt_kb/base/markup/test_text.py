"""What a page may not obey becomes visible."""

from __future__ import annotations

import pytest

from kopt_kb.base.markup.text import clipped, visible


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain <b>", "plain <b>"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\u202eb\u2066", "a\\u202eb\\u2066"),
        ("a\x00\ufffe", "a\\x00\\ufffe"),
        ("a\udcffb", "a\\udcffb"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("two\nlines\tand\r", "two\nlines and"),
        ("naïve 日本", "naïve 日本"),
    ],
)
def test_control_and_direction_characters_are_escapes(given: str, shown: str) -> None:
    """Letters of every language stay."""
    assert visible(given) == shown


def test_what_is_too_long_ends_in_a_mark() -> None:
    """Never longer than asked for."""
    assert clipped("abc", 3) == "abc"
    assert clipped("abcd", 3) == "ab…"
    assert len(clipped("x" * 10_000, 60)) == 60

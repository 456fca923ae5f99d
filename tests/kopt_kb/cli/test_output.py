"""Tables align, conditions parse."""

from __future__ import annotations

import pytest

from kopt_kb.cli.output import conditions, printable, table
from kopt_kb.errors import BadInput


def test_columns_align_and_the_last_is_not_padded() -> None:
    """Right alignment where asked."""
    assert table([("a", "1", "x"), ("bbb", "22", "y")], indent=2, right=(1,)) == "  a     1  x\n  bbb  22  y"
    assert table([]) == ""


@pytest.mark.parametrize("word", ["a", "=b", "a=", ""])
def test_conditions_are_pairs(word: str) -> None:
    """Anything else is named."""
    with pytest.raises(BadInput, match="axis=value"):
        conditions([word])


def test_conditions_may_hold_colons() -> None:
    """sparsity=2:4."""
    assert conditions(["sparsity=2:4", "dtype=bf16"]) == {"sparsity": "2:4", "dtype": "bf16"}


def test_what_a_terminal_would_obey_is_shown_as_text() -> None:
    """Escape sequences, line breaks and reversed text in a kernel's name; other alphabets stay."""
    assert printable("k\x1b[2J\r\n\u202ex\x00\x9b") == "k\\x1b[2J\\r\\n\\u202ex\\x00\\x9b"
    assert printable("größe<日本>") == "größe<日本>"
    assert "\x1b" not in table([("a\x1b[31m", "b")])

"""Errors are named by their words, with a cause and what to do."""

from __future__ import annotations

import re

import pytest

from kopt_kb.packs.cutile.source.causes import CAUSES, causes_of


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Invalid argument: Dimension #0 of shape (48,) is not a power of two", "no power of two"),
        ("Use of potentially undefined variable `t`", "only a branch defines"),
        ("E   AssertionError: Tensor-likes are not close!", "wrong result"),
        ("CUDA_ERROR_INVALID_IMAGE", "another target"),
        ("mma(): missing a required argument: 'acc'", "without an accumulator"),
    ],
)
def test_known_words(text: str, cause: str) -> None:
    """Wherever they stand in a log; the line that has them is given back."""
    found = list(causes_of(f"first\n{text}\nlast"))
    assert any(cause in one.cause and line == text for one, line in found)


def test_unknown_words_and_whole_rows() -> None:
    """Nothing is said of what nobody knows; each row is whole, and its words are a pattern."""
    assert not list(causes_of("all is well"))
    assert all(one.cause and one.fix and one.source and re.compile(one.words) for one in CAUSES)

"""Shapes are read exactly, and a bad one is told apart by what is wrong with it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.problem.shapes import MAX_DIM, ShapeError, check_shape, format_shape, parse_shape


@pytest.mark.parametrize(
    ("text", "shape"),
    [("8192x4096", (8192, 4096)), (" 1X2x3 ", (1, 2, 3)), ("7", (7,)), ("2×3", (2, 3)), (str(MAX_DIM), (MAX_DIM,))],
)
def test_shapes_are_written_with_an_x_between(text, shape):
    """Upper case, the multiplication sign and outer blanks are accepted."""
    assert parse_shape(text) == shape


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty"), ("8192x", "is empty"), ("x4", "is empty"), ("0x4", "it must be 1"),
        ("-1x4", "'-1'"), ("4x4.0", "'4.0'"), ("4,4", "'4,4'"), ("٣x4", "'٣'"), ("1e3", "'1e3'"),
        ("9" * 19, "it must be 1"), ("9" * 5000, "not a positive whole number"), ("4x 4", "' 4'"),
    ],
)  # fmt: skip
def test_a_bad_shape_says_what_is_wrong_in_one_line(text, complaint):
    """Zero, negative, fractional, foreign digits, other separators and absurd sizes."""
    with pytest.raises(ShapeError) as caught:
        parse_shape(text)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_rank_names_the_form():
    """rms_norm wants MxN."""
    with pytest.raises(ShapeError, match="2x3x4 has 3 dimensions, MxN has 2"):
        check_shape((2, 3, 4), "MxN")


def test_a_bad_dimension_is_named_by_its_letter():
    """K is the third of MxNxK."""
    with pytest.raises(ShapeError, match=r"dimension 2 \(K\) of 1x2x0"):
        check_shape((1, 2, 0), "MxNxK")


@pytest.mark.parametrize("shape", [(True, 2), (2.0, 2), ("2", 2), ()])
def test_what_is_no_integer_is_refused(shape):
    """A boolean is not a dimension, although Python counts with it."""
    with pytest.raises(ShapeError):
        check_shape(shape)


@settings(max_examples=50)
@given(st.lists(st.integers(1, MAX_DIM), min_size=1, max_size=6).map(tuple))
def test_a_shape_reads_back_as_written(shape):
    """format, then parse."""
    assert parse_shape(format_shape(shape)) == shape

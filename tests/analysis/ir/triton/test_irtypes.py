"""Types of the IR: shapes, elements, sizes and dtype names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.analysis.ir.triton.irtypes import parse_type, split_top


@pytest.mark.parametrize(
    ("text", "kind", "shape", "element"),
    [
        ("i32", "scalar", (), "i32"),
        ("index", "scalar", (), "i64"),
        ("f8E4M3FN", "scalar", (), "f8E4M3FN"),
        ("!tt.ptr<f16>", "pointer", (), "f16"),
        ("!tt.ptr<f16, 3>", "pointer", (), "f16"),
        ("tensor<128x64xbf16>", "tensor", (128, 64), "bf16"),
        ("tensor<8x!tt.ptr<f32>>", "tensor", (8,), "f32"),
        ("!tt.ptr<tensor<128x64xf16>>", "pointer", (128, 64), "f16"),
        ("!tt.tensordesc<tensor<128x64xf16>>", "descriptor", (128, 64), "f16"),
        ("!tt.tensordesc<128x64xf16>", "descriptor", (128, 64), "f16"),
        ("!tt.tensordesc<128x64xf16, #shared>", "descriptor", (128, 64), "f16"),
        ("!ttg.async.token", "other", (), "!ttg.async.token"),
    ],
)
def test_types_are_read_from_their_text(text, kind, shape, element):
    """Both descriptor spellings, address spaces and encodings included."""
    found = parse_type(text)
    assert (found.kind, found.shape, found.element) == (kind, shape, element)


@pytest.mark.parametrize("text", ["", "widget<3", "tensor<axf32>", "f"])
def test_other_text_is_no_type(text):
    """The reader turns this into an error with a line."""
    with pytest.raises(ValueError):  # noqa: PT011
        parse_type(text)


@pytest.mark.parametrize(
    ("element", "size", "dtype"),
    [
        ("f64", 8, "fp64"),
        ("bf16", 2, "bf16"),
        ("f8E5M2", 1, "fp8"),
        ("i1", 1, "i1"),
        ("i8", 1, "int8"),
        ("i64", 8, "i64"),
    ],
)
def test_elements_have_sizes_and_dtype_names(element, size, dtype):
    """An i1 takes a whole byte in memory."""
    found = parse_type(element)
    assert (found.itemsize_bytes, found.dtype) == (size, dtype)


def test_a_load_through_a_pointer_yields_its_pointee():
    """Tensors of pointers, scalar pointers and block pointers."""
    assert parse_type("tensor<8x!tt.ptr<f32>>").pointee() == parse_type("tensor<8xf32>")
    assert parse_type("!tt.ptr<i32>").pointee() == parse_type("i32")
    assert parse_type("!tt.ptr<tensor<4x4xf16>>").pointee() == parse_type("tensor<4x4xf16>")
    assert not parse_type("tensor<8x!tt.ptr<f32>>").is_float


@given(st.lists(st.integers(1, 512), min_size=1, max_size=4), st.sampled_from(["f32", "i1", "bf16"]))
def test_a_tensor_has_as_many_lanes_as_the_product_of_its_extents(extents, element):
    """Any rank."""
    product = 1
    for extent in extents:
        product *= extent
    found = parse_type(f"tensor<{'x'.join(map(str, extents))}x{element}>")
    assert (found.lanes, found.shape) == (product, tuple(extents))


def test_splitting_respects_brackets():
    """Commas inside types and lists do not separate."""
    assert split_top("a<b, c>, (d, e), [f, g], h") == ["a<b, c>", "(d, e)", "[f, g]", "h"]
    assert split_top("") == []

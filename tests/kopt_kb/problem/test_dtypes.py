"""Data types have their widths, and engines compute in the types the definitions name."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.dtypes import ALIASES, DTYPES, FORMATS, dtype_of, format_of, matrix_compute, vector_compute
from kopt_kb.wiki.vocabulary import AXES


def test_every_type_is_an_axis_value_of_the_wiki():
    """A count's dtype must be able to find its ceiling."""
    assert set(DTYPES) <= set(AXES["dtype"])
    assert set(ALIASES.values()) <= set(DTYPES)


@pytest.mark.parametrize(
    ("name", "elements", "size"),
    [
        ("fp64", 3, 24), ("bf16", 3, 6), ("fp8", 3, 3), ("fp4", 3, 2), ("fp6", 4, 3), ("int4", 1, 1),
        ("mxfp8", 64, 64 + 2), ("mxfp4", 64, 32 + 2), ("nvfp4", 64, 32 + 4), ("mxfp6", 32, 24 + 1),
        ("nvfp4", 17, 9 + 2),
    ],
)  # fmt: skip
def test_storage_counts_packed_elements_and_their_scales(name, elements, size):
    """Worked by hand: bits rounded up to bytes, one 8-bit scale per started block."""
    assert dtype_of(name).storage_bytes(elements) == size


@pytest.mark.parametrize("name", ["bfloat16", "torch.bfloat16", "BF16", " bf16 "])
def test_names_of_torch_and_letter_case_are_accepted(name):
    """All of them are bf16."""
    assert dtype_of(name).name == "bf16"


@pytest.mark.parametrize(
    ("name", "torch", "triton", "ir", "bits"),
    [
        ("fp8", "float8_e4m3fn", "fp8e4nv", "f8E4M3FN", 8),
        ("torch.float8_e5m2fnuz", "float8_e5m2fnuz", "fp8e5b16", "f8E5M2FNUZ", 8),
        ("f8E5M2", "float8_e5m2", "fp8e5", "f8E5M2", 8),
        ("tf32", "float32", "fp32", "f32", 32),
        ("i8", "int8", "i8", "i8", 8),
        ("u8", "uint8", "u8", "i8", 8),
        ("bool", "bool", "i1", "i1", 8),
        ("e5m2", "float8_e5m2", "fp8e5", "f8E5M2", 8),
        ("e4m3", "float8_e4m3fn", "fp8e4nv", "f8E4M3FN", 8),
        ("float8_e8m0fnu", "float8_e8m0fnu", "fp8e8m0", "f8E8M0FNU", 8),
        ("torch.float4_e2m1fn_x2", "float4_e2m1fn_x2", "fp4x2", "fp4x2", 8),
        ("complex64", "complex64", "complex64", "complex64", 64),
    ],
)
def test_any_spelling_finds_the_storage_format(name, torch, triton, ir, bits):
    """The name alone means the first format of its dtype; the IR's signless `i8` is int8."""
    found = format_of(name)
    assert (found.torch, found.triton, found.ir, found.bits) == (torch, triton, ir, bits)


def test_what_has_no_storage_format():
    """Scaled types, and four bits alone, are no bytes."""
    assert format_of("mxfp4") is format_of("fp4") is format_of("complex256") is None


def test_spellings_of_a_format_are_aliases_of_its_dtype():
    """`f16`, `float16` and `fp8e5` are data types; `int64` is none of the wiki."""
    assert [dtype_of(one).name for one in ("f16", "double", "fp8e5", "f8E4M3FN", "e5m2", "i32")] == [
        "fp16", "fp64", "fp8", "fp8", "fp8", "int32",
    ]  # fmt: skip
    for one in FORMATS:
        assert one.dtype not in DTYPES or dtype_of(one.torch).bits == one.bits
    with pytest.raises(BadInput):
        dtype_of("int64")


def test_an_unknown_type_suggests_a_near_one():
    """One line with a remedy."""
    with pytest.raises(BadInput, match="did you mean bf16"):
        dtype_of("bf61")


def test_vector_work_widens():
    """Narrow floats compute in fp32, fp64 stays."""
    assert [vector_compute(dtype_of(one)) for one in ("bf16", "fp8", "fp64", "int8")] == [
        "fp32", "fp32", "fp64", "int32",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("storage", "mode", "engine", "expected"),
    [
        ("bf16", "storage", "auto", ("bf16", "matrix")),
        ("fp32", "storage", "auto", ("fp32", "vector")),
        ("fp32", "tf32", "auto", ("tf32", "matrix")),
        ("fp32", "storage", "matrix", ("fp32", "matrix")),
        ("fp8", "storage", "vector", ("fp32", "vector")),
        ("fp16", "storage", "vector", ("fp16", "vector")),
        ("fp64", "storage", "auto", ("fp64", "matrix")),
    ],
)
def test_contractions_name_their_type_and_engine(storage, mode, engine, expected):
    """Plain fp32 is vector work unless the caller says otherwise."""
    assert matrix_compute(dtype_of(storage), mode, engine) == expected


def test_tf32_needs_fp32_operands():
    """bf16 is never widened to tf32."""
    with pytest.raises(BadInput, match="tf32 needs fp32"):
        matrix_compute(dtype_of("bf16"), "tf32", "auto")

"""Data types have their widths, and engines compute in the types the definitions name."""

from __future__ import annotations

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.problem.dtypes import ALIASES, DTYPES, dtype_of, matrix_compute, vector_compute
from kopt_kb.wiki.vocabulary import AXES


def test_every_type_is_an_axis_value_of_the_wiki():
    """A count's dtype must be able to find its ceiling."""
    assert set(DTYPES) == set(AXES["dtype"])
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

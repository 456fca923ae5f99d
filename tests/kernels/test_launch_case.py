"""Claims about the description of a launch."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.kernels.launch_case import LaunchCase, TensorSpec


def test_contiguous_strides_are_worked_out():
    """A 2x3x4 tensor steps 12, 4 and 1 elements."""
    assert TensorSpec((2, 3, 4), "fp16").element_strides == (12, 4, 1)


def test_span_counts_padding_between_rows():
    """Two rows of 3 floats at a pitch of 8 span (8 + 3) * 4 bytes."""
    assert TensorSpec((2, 3), "fp32", (8, 1)).span_bytes == 44


def test_an_empty_tensor_spans_nothing():
    """No element, no byte."""
    assert TensorSpec((0, 3), "fp32").span_bytes == 0


@pytest.mark.parametrize(
    ("name", "triton", "size"),
    [("bf16", "bf16", 2), ("torch.float8_e4m3fn", "fp8e4nv", 1), ("int32", "i32", 4), ("bool", "i1", 1)],
)
def test_dtype_names_of_project_and_torch_are_understood(name, triton, size):
    """Both spellings give Triton's type string and the element's bytes."""
    spec = TensorSpec((4,), name)
    assert (spec.triton_dtype, spec.element_bytes) == (triton, size)


def test_unknown_dtype_is_refused_in_one_line():
    """A misspelt dtype names itself and the choices."""
    with pytest.raises(BadInput, match="unknown dtype 'half'") as caught:
        TensorSpec((4,), "half")
    assert "\n" not in str(caught.value)


def test_ranks_must_agree():
    """Strides and block shape have one entry a dimension."""
    with pytest.raises(BadInput, match="strides"):
        TensorSpec((4, 4), "fp16", (1,))
    with pytest.raises(BadInput, match="block_shape"):
        TensorSpec((4, 4), "fp16", block_shape=(2,))


def test_a_spec_can_be_read_off_a_tensor_like_object():
    """Shape, dtype and strides are copied; nothing is allocated."""
    like = SimpleNamespace(shape=(2, 3), dtype="torch.float16", stride=lambda: (1, 2))
    assert TensorSpec.of(like) == TensorSpec((2, 3), "torch.float16", (1, 2))


def test_blocks_is_the_product_of_the_grid():
    """A 4x3 grid launches 12 blocks."""
    assert LaunchCase(None, (4, 3), ()).blocks == 12


def test_importing_it_loads_neither_torch_nor_triton():
    """Describing a launch costs no heavy import."""
    code = "import sys, kopt_kb.kernels.launch_case; print({'torch', 'triton'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

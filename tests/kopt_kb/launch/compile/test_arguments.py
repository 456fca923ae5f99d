"""Claims about kernel arguments in text."""

from __future__ import annotations

import math

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.arguments import parse_argument


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("fp16[4096,4096]", TensorSpec((4096, 4096), "fp16")),
        (" torch.bfloat16[8] ", TensorSpec((8,), "torch.bfloat16")),
        ("fp32[4, 8; strides=16,1]", TensorSpec((4, 8), "fp32", (16, 1))),
        ("fp8[64,64;block=16,32]", TensorSpec((64, 64), "fp8", None, (16, 32))),
        ("4096", 4096),
        ("-0.5", -0.5),
        ("1e-6", 1e-6),
        ("true", True),
        ("None", None),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("int32[4]=0,100,300,512", TensorSpec((4,), "int32", values=(0, 100, 300, 512))),
        ("int64[2,2]=[0, 1, -1, 3]", TensorSpec((2, 2), "int64", values=(0, 1, -1, 3))),
    ],
)
def test_forms(text, value):
    """Tensors by layout, scalars by value."""
    assert parse_argument(text) == value


@pytest.mark.parametrize(
    "text", ["", "x", "fp16", "fp16[a]", "[1, 2]", "half[4]", "fp16[4;pad=1]", "'text'", "int32[2]=1,b"]
)
def test_anything_else_is_refused_in_one_line(text):
    """With what can be written."""
    with pytest.raises(BadInput) as caught:
        parse_argument(text)
    assert "\n" not in str(caught.value)


def test_values_may_come_from_a_file(tmp_path):
    """Numbers of any file, apart by commas or white space."""
    path = tmp_path / "offsets.txt"
    path.write_text("0 100\n300, 512\n")
    assert parse_argument(f"int32[4]=@{path}").values == (0, 100, 300, 512)


@pytest.mark.parametrize(
    ("text", "why"), [("int32[3]=0,1", "2 values for a tensor of 3"), ("fp32[1]=2", "tensors of integers")]
)
def test_values_that_do_not_fit_are_refused(text, why):
    """By number and by type."""
    with pytest.raises(BadInput, match=why):
        parse_argument(text)

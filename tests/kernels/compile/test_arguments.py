"""Claims about kernel arguments in text."""

from __future__ import annotations

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.kernels.compile.arguments import parse_argument
from kopt_kb.kernels.launch_case import TensorSpec


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
    ],
)
def test_forms(text, value):
    """Tensors by layout, scalars by value."""
    assert parse_argument(text) == value


@pytest.mark.parametrize("text", ["", "x", "fp16", "fp16[a]", "[1, 2]", "half[4]", "fp16[4;pad=1]", "'text'"])
def test_anything_else_is_refused_in_one_line(text):
    """With what can be written."""
    with pytest.raises(BadInput) as caught:
        parse_argument(text)
    assert "\n" not in str(caught.value)

"""Types of autocast on CUDA, for tensors without memory."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from kopt_kb.launch.compile.device import DeviceFacts  # noqa: E402
from kopt_kb.launch.record.trace import CallTrace  # noqa: E402


@pytest.fixture(scope="module")
def types():
    """What -> its dtype under autocast."""
    trace = CallTrace(DeviceFacts("Test", "sm_90"))
    with trace.running(), torch.no_grad(), torch.autocast("cuda", dtype=torch.float16):
        x, half = torch.empty(4, 4, device="cuda"), torch.empty(4, 4, device="cuda", dtype=torch.float16)
        with torch.autocast("cuda", enabled=False):
            off = (x @ x).dtype
        return {
            "matmul": (x @ x).dtype,
            "linear": torch.nn.functional.linear(x, x).dtype,
            "softmax": half.softmax(-1).dtype,
            "double": (x.double() @ x.double()).dtype,
            "add": (half + half).dtype,
            "off": off,
        }


@pytest.mark.parametrize(
    ("what", "dtype"),
    [
        ("matmul", "float16"), ("linear", "float16"), ("softmax", "float32"), ("double", "float64"),
        ("add", "float16"), ("off", "float32"),
    ],
)  # fmt: skip
def test_types_are_torchs_own(types, what, dtype) -> None:
    """Products in the narrow type, sums of exponentials in fp32, the rest and fp64 as they are."""
    assert types[what] == getattr(torch, dtype)

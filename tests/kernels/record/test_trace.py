"""The trace of one call: buffers by storage, fills by bytes, marks that follow data."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from kopt_kb.errors import BadInput  # noqa: E402
from kopt_kb.kernels.compile.device import DeviceFacts  # noqa: E402
from kopt_kb.kernels.record.model import Copy, Fill  # noqa: E402
from kopt_kb.kernels.record.trace import Trace, dtype_name  # noqa: E402


@pytest.fixture
def trace() -> Trace:
    """A trace for a device without facts."""
    return Trace(DeviceFacts("Test", "sm_90"))


@pytest.mark.parametrize(
    ("make", "pattern"),
    [
        (lambda x: torch.zeros(4, device=x.device, dtype=torch.float32), "00000000"),
        (lambda x: torch.full((4,), -1, device=x.device, dtype=torch.int32), "ffffffff"),
        (torch.ones_like, "803f"),
        (lambda x: torch.empty_like(x).fill_(2.0), "0040"),
        (lambda x: x.new_full((3,), float("inf")), "807f"),
    ],
)
def test_fills_are_the_bytes_of_one_element(trace: Trace, make, pattern: str) -> None:  # type: ignore[no-untyped-def]
    """bf16 1.0 is 0x3f80, 2.0 is 0x4000, infinity 0x7f80, little-endian."""
    x = trace.tensor("x", (4,), torch.bfloat16, None)
    with trace.running():
        made = make(x)
    (step,) = trace.steps
    assert isinstance(step, Fill)
    assert step.pattern == pattern
    assert step.view == trace.view(made)
    assert not trace.host


def test_views_share_their_buffer(trace: Trace) -> None:
    """Transposes, slices and reshapes of x are x; the offset counts elements."""
    x = trace.tensor("x", (8, 16), torch.bfloat16, None)
    with trace.running():
        part = x[2:, ::2].t()
        flat = x.view(-1)[5:]
    assert trace.view(part).buffer == trace.view(flat).buffer == "x"
    assert (trace.view(part).offset, trace.view(part).strides) == (32, (2, 16))
    assert trace.view(flat).offset == 5
    assert not trace.steps


def test_marks_follow_a_copy_and_end_with_a_fill(trace: Trace) -> None:
    """A copy of computed data is computed; a buffer that is filled anew is not."""
    x = trace.tensor("x", (4,), torch.float32, None)
    with trace.running():
        kept = (x + 1).clone()
    assert isinstance(trace.steps[-1], Copy)
    trace.used(trace.view(kept))
    assert "add" in trace.reasons[0]
    with trace.running():
        kept.zero_()
    trace.reasons.clear()
    trace.used(trace.view(kept))
    assert not trace.reasons


def test_a_cast_is_no_copy(trace: Trace) -> None:
    """It computes: a replay that moved bytes would be wrong."""
    x = trace.tensor("x", (4,), torch.float32, None)
    with trace.running():
        x.to(torch.float16)
    assert list(trace.host) == ["_to_copy"]
    assert not trace.steps


def test_an_input_that_is_changed_outside_the_launches(trace: Trace) -> None:
    """An in-place operation on an input marks the input itself."""
    x = trace.tensor("x", (4,), torch.float32, None)
    with trace.running():
        x.mul_(2)
    trace.used(trace.view(x))
    assert "mul_" in trace.reasons[0]


def test_values_can_not_be_read(trace: Trace) -> None:
    """There are none."""
    x = trace.tensor("x", (4,), torch.float32, None)
    with trace.running(), pytest.raises(BadInput, match="values"):
        x.sum().item()


def test_dtypes_have_the_names_of_the_table() -> None:
    """Triton's spelling; a complex number has none."""
    assert dtype_name(torch.float8_e5m2) == "fp8e5"
    with pytest.raises(BadInput):
        dtype_name(torch.complex64)

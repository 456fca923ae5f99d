"""The trace of one call: buffers by storage, fills by bytes, marks that follow data."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from kopt_kb.base.errors import BadInput  # noqa: E402
from kopt_kb.launch.compile.device import DeviceFacts  # noqa: E402
from kopt_kb.launch.record.model import Copy, Fill  # noqa: E402
from kopt_kb.launch.record.trace import CallTrace, dtype_name  # noqa: E402


@pytest.fixture
def trace() -> CallTrace:
    """A trace for a device without facts."""
    return CallTrace(DeviceFacts("Test", "sm_90"))


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
def test_fills_are_the_bytes_of_one_element(trace: CallTrace, make, pattern: str) -> None:  # type: ignore[no-untyped-def]
    """bf16 1.0 is 0x3f80, 2.0 is 0x4000, infinity 0x7f80, little-endian."""
    x = trace.tensor("x", (4,), torch.bfloat16, None)
    with trace.running():
        made = make(x)
    (step,) = trace.steps
    assert isinstance(step, Fill)
    assert step.pattern == pattern
    assert step.view == trace.view(made)
    assert not trace.host


def test_views_share_their_buffer(trace: CallTrace) -> None:
    """Transposes, slices and reshapes of x are x; the offset counts elements."""
    x = trace.tensor("x", (8, 16), torch.bfloat16, None)
    with trace.running():
        part = x[2:, ::2].t()
        flat = x.view(-1)[5:]
    assert trace.view(part).buffer == trace.view(flat).buffer == "x"
    assert (trace.view(part).offset, trace.view(part).strides) == (32, (2, 16))
    assert trace.view(flat).offset == 5
    assert not trace.steps


def test_marks_follow_a_copy_and_end_with_a_fill(trace: CallTrace) -> None:
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


def test_casts_and_strided_copies_are_steps(trace: CallTrace) -> None:
    """Numbers of both types, any layout, broadcast too: nothing is left to the host, and the result is known."""
    x = trace.tensor("x", (4, 6), torch.float32, None)
    row = trace.tensor("row", (6,), torch.float32, None)
    with trace.running():
        half = x.to(torch.float16)
        turned = x.t().contiguous()
        into = torch.empty(4, 6, device="cuda", dtype=torch.bfloat16)
        into.copy_(row)
        x[:, ::2].copy_(half[:, :3])
    assert not trace.host
    copies = [one for one in trace.steps if isinstance(one, Copy)]
    assert [one.plain for one in copies] == [False] * 4
    assert [(one.source.dtype, one.target.dtype) for one in copies][:2] == [("fp32", "fp16"), ("fp32", "fp32")]
    assert copies[1].source.strides == (1, 6)
    assert copies[2].source.strides == (0, 1)
    assert copies[3].target.strides == (6, 2)
    for one in (half, turned, into):
        trace.used(trace.view(one))
    assert not trace.reasons


def test_a_cast_to_no_number_is_the_hosts(trace: CallTrace) -> None:
    """The judge has no kernel for it, and says so."""
    x = trace.tensor("x", (4,), torch.float32, None)
    with trace.running():
        narrow = x.to(torch.float8_e5m2)
    assert list(trace.host) == ["_to_copy"]
    trace.used(trace.view(narrow))
    assert "_to_copy" in trace.reasons[0]


def test_a_whole_copy_ends_a_mark(trace: CallTrace) -> None:
    """What was computed before is gone; a copy of a part leaves it."""
    x = trace.tensor("x", (4,), torch.float32, None)
    with trace.running():
        made = x + 1
        made[:2].copy_(x[:2])
    trace.used(trace.view(made))
    assert "add" in trace.reasons[0]
    trace.reasons.clear()
    with trace.running():
        made.copy_(x)
    trace.used(trace.view(made))
    assert not trace.reasons


def test_an_input_that_is_changed_outside_the_launches(trace: CallTrace) -> None:
    """An in-place operation on an input marks the input itself."""
    x = trace.tensor("x", (4,), torch.float32, None)
    with trace.running():
        x.mul_(2)
    trace.used(trace.view(x))
    assert "mul_" in trace.reasons[0]


def test_values_can_not_be_read(trace: CallTrace) -> None:
    """There are none."""
    x = trace.tensor("x", (4,), torch.float32, None)
    with trace.running(), pytest.raises(BadInput, match="values"):
        x.sum().item()


def test_dtypes_have_the_names_of_the_table() -> None:
    """Triton's spelling, and this project's where it has none; a quantised integer is no element."""
    assert dtype_name(torch.float8_e5m2) == "fp8e5"
    assert [dtype_name(one) for one in (torch.complex64, torch.float8_e8m0fnu)] == ["complex64", "fp8e8m0"]
    with pytest.raises(BadInput):
        dtype_name(torch.qint8)


def test_scratch_of_the_compiler_and_of_the_launcher_have_names_of_their_own(trace: CallTrace) -> None:
    """Whichever comes first: a name that came twice would give one of them the other's size."""
    with trace.running():
        first = trace.scratch(64)
        second = trace.view(torch.empty(1000, device="cuda"))
        third = trace.scratch(32)
        fourth = trace.view(torch.empty(10, device="cuda"))
    assert len({one.buffer for one in (first, second, third, fourth)}) == 4

"""Values that follow from what was given: for launchers that read them and kernels whose trip counts they are."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.triton]
torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kopt_kb.base.errors import BadInput  # noqa: E402
from kopt_kb.launch.compile.device import DeviceFacts  # noqa: E402
from kopt_kb.launch.record.trace import CallTrace  # noqa: E402


@pytest.fixture
def trace() -> CallTrace:
    """A trace for a device without facts."""
    return CallTrace(DeviceFacts("Test", "sm_90"))


def test_values_follow_through_operations(trace: CallTrace) -> None:
    """Views, arithmetic, factories, operations whose result's size depends on values, and what is read in the end."""
    offsets = trace.tensor("offsets", (4,), torch.int32, values=(0, 16, 16, 40))
    with trace.running():
        lengths = offsets[1:] - offsets[:-1]
        assert lengths.tolist() == [16, 0, 24]
        assert int(lengths.max()) == 24
        assert bool((lengths >= 0).all())
        ids = torch.repeat_interleave(torch.arange(3, device="cuda"), (lengths + 7) // 8)
        assert ids.tolist() == [0, 0, 2, 2, 2]
        assert torch.cat([ids[:2], torch.tensor([7, 8], device="cuda")]).tolist() == [0, 0, 7, 8]
        assert lengths.nonzero().flatten().tolist() == [0, 2]
        assert trace.known.integers(lengths) == (16, 0, 24)


def test_what_is_written_from_elsewhere_is_forgotten(trace: CallTrace) -> None:
    """A random number in place of a known one is nobody's; a known one in place of a random one is known."""
    lengths = trace.tensor("lengths", (3,), torch.int64, values=(1, 2, 3))
    with trace.running():
        lengths[1] = 9
        assert lengths.tolist() == [1, 9, 3]
        lengths.random_(0, 5)
        with pytest.raises(BadInput, match="reads a tensor's values"):
            lengths.tolist()
        lengths.fill_(4)
        assert lengths.tolist() == [4, 4, 4]

"""What torch says of a device that is not there."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from kopt_kb.errors import BadInput  # noqa: E402
from kopt_kb.kernels.record.stand_ins import DeviceFacts, stand_ins  # noqa: E402


def test_facts_answer_and_the_rest_refuses() -> None:
    """A known property is its value; an unknown one names itself and the device; afterwards torch is as before."""
    before = torch.cuda.is_available
    with stand_ins(DeviceFacts("H20", (9, 0), {"multi_processor_count": 78})):
        properties = torch.cuda.get_device_properties(0)
        assert properties.multi_processor_count == 78
        assert (properties.major, torch.cuda.get_device_capability(), torch.cuda.current_device()) == (9, (9, 0), 0)
        assert torch.cuda.current_stream().cuda_stream == 0
        with torch.cuda.device(0):
            torch.cuda.synchronize()
        with pytest.raises(BadInput, match="L2_cache_size") as caught:
            _ = properties.L2_cache_size
        assert caught.value.error_code == "KB442"
        assert getattr(properties, "no_property_of_torch", None) is None
    assert torch.cuda.is_available is before

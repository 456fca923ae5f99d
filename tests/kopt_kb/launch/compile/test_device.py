"""What torch and the vendor's tools say of a device that is not there."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from kopt_kb.base.errors import BadInput  # noqa: E402
from kopt_kb.launch.compile.device import DeviceFacts  # noqa: E402
from kopt_kb.launch.compile.torch_stand_ins import stand_ins  # noqa: E402


def test_facts_answer_and_the_rest_refuses() -> None:
    """A known property is its value; an unknown one names itself and the device; afterwards torch is as before."""
    before = torch.cuda.is_available
    with stand_ins(DeviceFacts("H20", "sm_90", {"multi_processor_count": 78})):
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


@pytest.mark.parametrize(
    ("target", "capability"),
    [("sm_90", (9, 0)), ("sm_120", (12, 0)), ("gfx942", (9, 4)), ("gfx90a", (9, 0)), ("gfx1201", (12, 0))],
)
def test_capabilities_are_those_of_the_runtime(target, capability) -> None:
    """A compute capability, or what HIP calls major and minor."""
    assert DeviceFacts("any", target).capability == capability


def test_an_amd_target_is_one_to_torch_and_to_the_tools() -> None:
    """`torch.version.hip` is there, rocm-smi answers, nvidia-smi is not to be found; afterwards all is as before."""
    with stand_ins(DeviceFacts("MI300X", "gfx942")):
        assert torch.version.hip
        assert torch.cuda.get_device_properties(0).gcnArchName == "gfx942"
        assert subprocess.run(["rocm-smi"], capture_output=True, text=True, check=False).stdout == "MI300X"
        with pytest.raises(FileNotFoundError):
            subprocess.run(["nvidia-smi"], check=False)
    assert torch.version.hip is None


def test_whoever_imports_torch_later_finds_the_stand_ins() -> None:
    """A file that needs no torch does not wait for it; one that does gets the answers at once."""
    code = """
import sys
from kopt_kb.launch.compile.device import DeviceFacts, standing_in
with standing_in(DeviceFacts("H20", "sm_90")):
    assert "torch" not in sys.modules
    import torch
    assert torch.cuda.get_device_capability() == (9, 0)
assert not torch.cuda.is_available()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_launcher_may_take_a_seed_from_the_devices_generator() -> None:
    """Its state is a seed and an offset, which launchers read, move on and set again."""
    with stand_ins(DeviceFacts("H20", "sm_90", {})):
        generator = torch.cuda.default_generators[torch.cuda.current_device()]
        generator.manual_seed(7)
        state = generator.get_state()
        seed, offset = state.view(torch.int64)
        assert (int(seed), int(offset), generator.initial_seed()) == (7, 0, 7)
        offset += 12
        assert generator.get_state().view(torch.int64).tolist() == [7, 0]
        generator.set_state(state)
    assert generator.get_state().view(torch.int64).tolist() == [7, 12]

"""Claims about the driver without a device and arguments without memory."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.device import DeviceFacts
from kopt_kb.launch.compile.target import CompileTarget

pytestmark = pytest.mark.triton
stub = pytest.importorskip("kopt_kb.launch.compile.stub", exc_type=ImportError)


def test_the_driver_names_the_target():
    """Backend, architecture and warp size reach Triton."""
    found = stub.StubDriver(CompileTarget.parse("gfx942")).get_current_target()
    assert (found.backend, found.arch, found.warp_size) == ("hip", "gfx942", 64)


def test_what_needs_a_device_is_refused():
    """No silent stand-in for a clock."""
    with pytest.raises(MissingTool, match="GPU"):
        stub.StubDriver(CompileTarget.parse("sm_80")).get_benchmarker()


def test_properties_are_facts_and_the_rest_is_named():
    """As Triton's drivers call them; what nobody has is an error that names it, what no driver has is a KeyError."""
    facts = DeviceFacts("H20", "sm_90", {"shared_memory_per_block_optin": 232448})
    known = stub.StubDriver(CompileTarget.parse("sm_90"), facts).utils.get_device_properties(0)
    assert known["max_shared_mem"] == 232448
    with pytest.raises(BadInput, match="multi_processor_count of the device, and no sourced value is known for H20"):
        _ = known["multiprocessor_count"]
    with pytest.raises(KeyError):
        _ = known["colour"]


def test_a_pointer_knows_its_type_and_span():
    """The span decides 32-bit offsets on AMD; addresses are aligned."""
    pointer = stub.argument(TensorSpec((2, 3), "bf16", (8, 1)))
    assert (str(pointer.dtype), pointer.dtype.itemsize, pointer.ptr_range(), pointer.data_ptr()) == ("bf16", 2, 22, 0)


@pytest.mark.parametrize(("dtype", "size"), [("fp8", 1), ("fp16", 2), ("int64", 8), ("bool", 1), ("fp32", 4)])
def test_element_sizes(dtype, size):
    """Host descriptors check row strides in bytes."""
    assert stub.argument(TensorSpec((4,), dtype)).dtype.itemsize == size


def test_scalars_pass_unchanged():
    """Triton specialises numbers by their values."""
    assert [stub.argument(value) for value in (3, 0.5, None)] == [3, 0.5, None]

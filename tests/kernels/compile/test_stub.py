"""Claims about the driver without a device and arguments without memory."""

from __future__ import annotations

import pytest

from kopt_kb.errors import MissingTool
from kopt_kb.kernels.compile.target import CompileTarget
from kopt_kb.kernels.launch_case import TensorSpec

pytestmark = pytest.mark.triton
stub = pytest.importorskip("kopt_kb.kernels.compile.stub", exc_type=ImportError)


def test_the_driver_names_the_target():
    """Backend, architecture and warp size reach Triton."""
    found = stub.StubDriver(CompileTarget.parse("gfx942")).get_current_target()
    assert (found.backend, found.arch, found.warp_size) == ("hip", "gfx942", 64)


@pytest.mark.parametrize("method", ["get_active_torch_device", "get_benchmarker"])
def test_what_needs_a_device_is_refused(method):
    """No silent stand-in for a GPU."""
    with pytest.raises(MissingTool, match="GPU"):
        getattr(stub.StubDriver(CompileTarget.parse("sm_80")), method)()


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

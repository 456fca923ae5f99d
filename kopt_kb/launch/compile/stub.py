"""A Triton driver without a device, and arguments without memory: Triton then specialises as at a launch."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from kopt_kb.base.errors import MissingTool
from kopt_kb.kernels.launch_case import Scalar, TensorSpec
from kopt_kb.launch.compile.device import DeviceFacts
from kopt_kb.launch.compile.target import CompileTarget

__all__ = ["StubDriver", "activate", "argument", "gpu_target"]

_INT32_MAX = 2**31 - 1


def gpu_target(target: CompileTarget) -> GPUTarget:
    """Return the target as Triton's own type."""
    return GPUTarget(target.backend, target.arch, target.warp_size)


_FACTS = {
    "max_shared_mem": "shared_memory_per_block_optin",
    "max_num_regs": "regs_per_multiprocessor",
    "multiprocessor_count": "multi_processor_count",
    "warpSize": "warp_size",
    "sm_clock_rate": "clock_rate",
    "mem_clock_rate": "memory_clock_rate",
    "mem_bus_width": "memory_bus_width",
}
"""What Triton's drivers call a property of the device → what torch calls it."""


class _Known(dict[str, int]):
    """The properties that Triton's driver lists; one that nobody has is an error that names it."""

    def __init__(self, facts: DeviceFacts) -> None:
        super().__init__({name: facts.values[one] for name, one in _FACTS.items() if one in facts.values})
        self._facts = facts

    def __missing__(self, name: str) -> int:
        if name not in _FACTS:
            raise KeyError(name)
        return self._facts.value(_FACTS[name])


class _Utils:
    """The part of Triton's driver that knows properties; nothing is loaded or launched."""

    def __init__(self, facts: DeviceFacts) -> None:
        self._facts = facts

    def get_device_properties(self, _device: int = 0) -> dict[str, int]:
        """Return what is known of the device."""
        return _Known(self._facts)


class StubDriver(DriverBase):  # type: ignore[misc] # triton is untyped
    """Names a target and its device's sourced facts, and refuses everything that needs a device."""

    def __init__(self, target: CompileTarget, facts: DeviceFacts | None = None) -> None:
        super().__init__()
        self._target = gpu_target(target)
        self.utils = _Utils(facts or DeviceFacts(target.name, target.name))

    @classmethod
    def is_active(cls) -> bool:
        """Return False: it is set by hand, never found."""
        return False

    def map_python_to_cpp_type(self, ty: str) -> str:
        """Return the type unchanged; no launcher is built."""
        return ty

    def get_current_target(self) -> GPUTarget:
        """Return the target to compile for."""
        return self._target

    def get_current_device(self) -> int:
        """Return the only device number."""
        return 0

    def set_current_device(self, device: int) -> None:
        """Do nothing; there is one device number."""

    def get_current_stream(self, device: int) -> int:
        """Return the default stream."""
        return device

    def get_active_torch_device(self) -> object:
        """Return the name of the device that is compiled for; nothing can be put on it."""
        import torch

        return torch.device("cuda", 0)

    def get_device_interface(self) -> object:
        """Return the part of torch that a module asks about its device."""
        import torch

        return torch.cuda

    def get_benchmarker(self) -> NoReturn:
        """Refuse: nothing can be timed here."""
        raise MissingTool("the kernel wants to be timed, which needs a GPU", where="compile", code="KB125")


class _Dtype(str):
    """Triton's type string of an element, with the sizes that a host descriptor checks."""

    __slots__ = ()

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return max(int("".join(c for c in self.split("e", 1)[0] if c.isdigit()) or 1) // 8, 1)

    @property
    def is_floating_point(self) -> bool:
        """Whether it is a floating type."""
        return self.startswith(("fp", "bf"))


class _Pointer:
    """A tensor argument: so many bytes behind an address that every allocator aligns, and of a known span."""

    def __init__(self, spec: TensorSpec, offset_bytes: int) -> None:
        self.dtype = _Dtype(spec.triton_dtype)
        self.shape = list(spec.shape)
        self._strides = list(spec.element_strides)
        self._span_bytes, self._element_bytes = spec.span_bytes, spec.element_bytes
        self._offset_bytes = offset_bytes

    def data_ptr(self) -> int:
        """Return an address that tells how far the tensor is from an aligned one."""
        return self._offset_bytes

    def stride(self, dim: int | None = None) -> Any:
        """Return the strides in elements, or one of them."""
        return self._strides if dim is None else self._strides[dim]

    def size(self, dim: int | None = None) -> Any:
        """Return the extents, or one of them."""
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)

    def element_size(self) -> int:
        """Return the bytes of an element."""
        return self._element_bytes

    def is_contiguous(self) -> bool:
        """Return whether the elements lie densely in the order of their indices."""
        return self._strides == [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]

    def ptr_range(self) -> int:
        """Return the bytes reachable from the pointer (Triton's hook for 32-bit buffer offsets)."""
        return self._span_bytes


def activate(target: CompileTarget, facts: DeviceFacts | None = None) -> None:
    """Make Triton compile for that target in this process, and answer for its device from facts.

    On AMD the real launcher adds `tt.pointer_range=32` to tensors under 2 GiB, by a check that imports
    torch; the same check without torch is put in its place.
    """
    from triton.backends.amd.compiler import HIPBackend
    from triton.runtime.driver import driver

    HIPBackend.is_within_2gb = staticmethod(_is_within_2gb)
    driver.set_active(StubDriver(target, facts))


def _is_within_2gb(arg: Any) -> bool:
    return hasattr(arg, "ptr_range") and arg.ptr_range() <= _INT32_MAX


def argument(value: TensorSpec | Scalar, *, offset_bytes: int = 0, gluon: bool = False) -> object:
    """Return what stands in for a kernel argument: a pointer, a host tensor descriptor, or the scalar.

    A tensor may lie so many bytes behind the start of an allocation, which decides what alignment Triton assumes. A
    descriptor of Gluon has a layout; here it is the one that Gluon itself chooses for such a block.
    """
    if not isinstance(value, TensorSpec):
        return value
    pointer = _Pointer(value, offset_bytes)
    if value.block_shape is None:
        return pointer
    block = list(value.block_shape)
    if gluon:
        return _gluon_descriptor(pointer, block)
    from triton.tools.tensor_descriptor import TensorDescriptor

    return TensorDescriptor(pointer, pointer.shape, pointer.stride(), block)


def _gluon_descriptor(pointer: _Pointer, block: list[int]) -> object:
    from triton.experimental.gluon.language import NVMMASharedLayout
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
    from triton.language.core import dtype

    layout = NVMMASharedLayout.get_default_for(block, dtype(str(pointer.dtype)))
    return TensorDescriptor(pointer, pointer.shape, pointer.stride(), block, layout)

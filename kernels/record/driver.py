"""What a replay needs of a GPU driver, and CUDA's: memory, code objects, tensor maps, launches.

`Driver` is the interface; `CudaDriver` is written on cuda-bindings, NVIDIA's own (Apache-2.0), and loads neither torch
nor triton.
"""

from __future__ import annotations

import ctypes
from typing import Any, Protocol

from kopt_kb.errors import FindingError, MissingTool
from kopt_kb.kernels.record.model import Launch, TensorMapArg

__all__ = ["CudaDriver", "Driver", "DriverError", "scalar_type"]

_STATIC_SHARED_BYTES = 48 << 10
"""Dynamic shared memory above this needs an attribute of the function (CUDA C++ Programming Guide)."""

_CHUNK_BYTES = 1 << 24
"""Most bytes that a fill by the host holds at once."""

_TENSOR_MAP_BYTES = 128
"""Bytes of a CUtensorMap."""

_TYPES: dict[str, type[ctypes._SimpleCData[int]] | type[ctypes._SimpleCData[float]]] = {
    "i1": ctypes.c_int8, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "u1": ctypes.c_uint8, "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
    "fp32": ctypes.c_float, "f32": ctypes.c_float, "fp64": ctypes.c_double,
}  # fmt: skip


class DriverError(FindingError):
    """The driver refused a call, or a kernel left the device in an error."""

    code = "KB449"


class Driver(Protocol):
    """A device as a replay sees it; addresses are integers, sizes are in bytes."""

    def allocate(self, size: int) -> int:
        """Return the address of new memory."""

    def free(self, address: int) -> None:
        """Give memory back."""

    def write(self, address: int, data: bytes) -> None:
        """Copy bytes to the device."""

    def read(self, address: int, size: int) -> bytes:
        """Copy bytes from the device."""

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        """Write a pattern of 1, 2, 4 or 8 bytes so many times."""

    def copy(self, target: int, source: int, size: int) -> None:
        """Copy on the device."""

    def load(self, code: bytes, entry: str, shared_bytes: int) -> Any:
        """Return the kernel of a code object, allowed so much dynamic shared memory."""

    def tensor_map(self, one: TensorMapArg, address: int) -> Any:
        """Return an encoded tensor map over memory at an address."""

    def launch(self, kernel: Any, step: Launch, values: list[Any], types: list[Any]) -> None:
        """Launch; values as `scalar` and `tensor_map` return them, types beside them."""

    def synchronize(self) -> None:
        """Wait until all is done; raises `DriverError` when a kernel failed."""


class CudaDriver:
    """The first NVIDIA GPU that this process sees, through the driver interface."""

    def __init__(self) -> None:
        try:
            from cuda.bindings import driver
        except ImportError as error:
            fix = "pip install 'kopt-kb[gpu]'"
            raise MissingTool("cuda-bindings is not installed", where="replay", fix=fix, code="KB120") from error
        self._cu: Any = driver
        try:
            self._call("cuInit", 0)
            self._device = self._call("cuDeviceGet", 0)
        except DriverError as error:
            fix = "run on a machine with a GPU"
            raise MissingTool(f"no GPU: {error.what}", where="replay", fix=fix, code="KB122") from error
        self._context = self._call("cuDevicePrimaryCtxRetain", self._device)
        self._call("cuCtxSetCurrent", self._context)
        self._modules: dict[bytes, Any] = {}

    def _call(self, name: str, *args: Any) -> Any:
        error, *values = getattr(self._cu, name)(*args)
        if int(error) != 0:
            raise DriverError(f"{name}: {error.name}", where="replay")
        return values[0] if len(values) == 1 else tuple(values)

    def allocate(self, size: int) -> int:
        """Return the address of new memory."""
        return int(self._call("cuMemAlloc", size))

    def free(self, address: int) -> None:
        """Give memory back."""
        self._call("cuMemFree", address)

    def write(self, address: int, data: bytes) -> None:
        """Copy bytes to the device."""
        self._call("cuMemcpyHtoD", address, data, len(data))

    def read(self, address: int, size: int) -> bytes:
        """Copy bytes from the device."""
        held = bytearray(size)
        if size:
            kept = (ctypes.c_char * size).from_buffer(held)
            self._call("cuMemcpyDtoH", ctypes.addressof(kept), address, size)
        return bytes(held)

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        """Write a pattern of 1, 2, 4 or 8 bytes so many times; one of 8 bytes as two of 4 where its halves differ."""
        if len(pattern) == 8:
            if pattern[:4] != pattern[4:]:
                self._fill_wide(address, pattern, count)
                return
            pattern, count = pattern[:4], 2 * count
        name = {1: "cuMemsetD8", 2: "cuMemsetD16", 4: "cuMemsetD32"}[len(pattern)]
        self._call(name, address, int.from_bytes(pattern, "little"), count)

    def _fill_wide(self, address: int, pattern: bytes, count: int) -> None:
        """Fill with what no memset has, from a chunk of host memory that is bounded whatever the count."""
        chunk = pattern * min(count, _CHUNK_BYTES // len(pattern))
        for start in range(0, count * len(pattern), len(chunk) or 1):
            self.write(address + start, chunk[: count * len(pattern) - start])

    def copy(self, target: int, source: int, size: int) -> None:
        """Copy on the device."""
        self._call("cuMemcpyDtoD", target, source, size)

    def load(self, code: bytes, entry: str, shared_bytes: int) -> Any:
        """Return the kernel of a code object; an object is loaded once."""
        if code not in self._modules:
            self._modules[code] = self._call("cuModuleLoadData", code)
        kernel = self._call("cuModuleGetFunction", self._modules[code], entry.encode())
        if shared_bytes > _STATIC_SHARED_BYTES:
            name = self._cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._call("cuFuncSetAttribute", kernel, name, shared_bytes)
        return kernel

    def tensor_map(self, one: TensorMapArg, address: int) -> Any:
        """Return a tiled tensor map: dimensions innermost first, strides in bytes without the innermost."""
        cu, view = self._cu, one.view
        shape = [*view.shape[:-1], view.shape[-1] * 2] if one.fp4_padded else list(view.shape)
        steps = [step * view.item_bytes for step in reversed(view.strides[:-1])]
        fill = cu.CUtensorMapFloatOOBfill
        return self._call(
            "cuTensorMapEncodeTiled",
            cu.CUtensorMapDataType(one.element_type),
            len(shape),
            address,
            [cu.cuuint64_t(extent) for extent in reversed(shape)],
            [cu.cuuint64_t(step) for step in steps],
            [cu.cuuint32_t(extent) for extent in reversed(one.box)],
            [cu.cuuint32_t(1)] * len(shape),
            cu.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            cu.CUtensorMapSwizzle(one.swizzle),
            cu.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            fill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
            if one.nan_fill
            else fill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )

    def launch(self, kernel: Any, step: Launch, values: list[Any], types: list[Any]) -> None:
        """Launch on the default stream."""
        cu, config = self._cu, self._cu.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = step.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = step.block
        config.sharedMemBytes = step.shared_bytes
        attributes = []
        names = cu.CUlaunchAttributeID
        if max(step.cluster) > 1:
            one = cu.CUlaunchAttribute()
            one.id = names.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            one.value.clusterDim.x, one.value.clusterDim.y, one.value.clusterDim.z = step.cluster
            attributes.append(one)
        if step.cooperative:
            one = cu.CUlaunchAttribute()
            one.id, one.value.cooperative = names.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1
            attributes.append(one)
        self._accepts(kernel, step.entry, types)
        config.numAttrs, config.attrs = len(attributes), attributes
        self._call("cuLaunchKernelEx", config, kernel, (tuple(values), tuple(types)), 0)

    def _accepts(self, kernel: Any, entry: str, types: list[Any]) -> None:
        """Refuse arguments of other sizes than the kernel's parameters: the driver reads what the kernel declares."""
        wanted: list[int] = []
        while len(wanted) <= len(types):
            error, *place = self._cu.cuFuncGetParamInfo(kernel, len(wanted))
            if int(error) != 0:
                break
            wanted.append(int(place[1]))
        given = [ctypes.sizeof(one) if one is not None else _TENSOR_MAP_BYTES for one in types]
        if wanted != given:
            what = f"{entry} takes parameters of {wanted[:64]} bytes, the record gives {given[:64]}"
            raise DriverError(what, where="replay", fix="record it again")

    def synchronize(self) -> None:
        """Wait until all is done; raises `DriverError` when a kernel failed."""
        self._call("cuCtxSynchronize")


def scalar_type(name: str) -> Any:
    """Return the ctypes type of a scalar of a kernel's signature; half-width floats travel as their bits."""
    return ctypes.c_uint16 if name in {"fp16", "bf16"} else _TYPES[name]

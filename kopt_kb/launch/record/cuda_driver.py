"""CUDA's driver behind the interface of `driver.py`, through cuda-bindings, NVIDIA's own (Apache-2.0).

It loads neither torch nor triton. Everything is enqueued on one stream of its own. The judge's own kernels are PTX that
the driver compiles; where it can't, device facts say so and the clock does without.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

from kopt_kb.base.errors import KoptError, MissingTool
from kopt_kb.launch.cuda.cubin import exported
from kopt_kb.launch.record import moves, trusted
from kopt_kb.launch.record.driver import Device, DriverError, Key, VendorDriver
from kopt_kb.launch.record.model import Launch, TensorMapArg
from kopt_kb.launch.record.move_ptx import PTX
from kopt_kb.launch.record.moves import Move
from kopt_kb.launch.record.nvml import Throttle
from kopt_kb.launch.record.own_memory import OwnPlace, own_places

__all__ = ["CudaDriver"]

_STATIC_SHARED_BYTES = 48 << 10
"""Dynamic shared memory above this needs an attribute of the function (CUDA C++ Programming Guide)."""

_TENSOR_MAP_BYTES = 128
"""Bytes of a CUtensorMap."""

_NO_STRIDE = 16
"""Stands for the strides of a map of rank 1, which has none: a driver refuses a missing list (seen on an H100)."""
_HANDLE_BYTES = 64
"""Bytes of a CUipcMemHandle."""

_MASK_THREADS, _MASK_BLOCKS, _MOVE_BLOCKS = 256, 1024, 1 << 16
"""Grids of the mask, and of a move at most, whose threads stride over all that is left."""


class CudaDriver(VendorDriver):
    """The first NVIDIA GPU that this process sees, through the driver interface."""

    memsets: ClassVar = {1: "cuMemsetD8Async", 2: "cuMemsetD16Async", 4: "cuMemsetD32Async"}

    def __init__(self) -> None:
        try:
            from cuda.bindings import driver
        except ImportError as error:
            fix = "install kopt-kb[gpu]"
            raise MissingTool("cuda-bindings is not installed", where="replay", fix=fix, code="KB120") from error
        self._cu: Any = driver
        try:
            self._call("cuInit", 0)
            self._device = self._call("cuDeviceGet", 0)
        except (DriverError, RuntimeError) as error:  # without the driver's library cuda-bindings raise
            fix = "run on a machine with a GPU"
            raise MissingTool(f"no GPU: {_short(error)}", where="replay", fix=fix, code="KB122") from error
        self._context = self._call("cuDevicePrimaryCtxRetain", self._device)
        self._call("cuCtxSetCurrent", self._context)
        self._stream = self._call("cuStreamCreate", int(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
        self._modules: dict[bytes, Any] = {}
        self._own_memory: dict[bytes, tuple[OwnPlace, ...]] = {}
        self._trusted = self._own_kernels()
        self._unpins = True
        try:
            self.unpin()
        except DriverError:
            self._unpins = False
        self._gate = _Gate(self)
        uuid = bytes(self._call("cuDeviceGetUuid", self._device).bytes)
        self._throttle = Throttle(uuid)
        attribute = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
        self._facts = Device(
            name=self._call("cuDeviceGetName", 128, self._device).split(b"\0")[0].decode(errors="replace"),
            uuid=uuid.hex(),
            cache_bytes=int(self._call("cuDeviceGetAttribute", attribute, self._device)),
            memory_bytes=int(self._call("cuDeviceTotalMem", self._device)),
            driver=int(self._call("cuDriverGetVersion")),
            probe=trusted.PROBE in self._trusted,
            hold=self._gate.opens,
            ipc=self._exports(),
        )

    def _own_kernels(self) -> dict[str, object]:
        """Return the judge's own kernels by entry; those of a text that the driver can't compile are missing."""
        found: dict[str, object] = {}
        for text, names in ((trusted.PTX, (trusted.PROBE, trusted.MASK, trusted.IDLE)), (PTX, (moves.ENTRY,))):
            with suppress(DriverError):
                module = self._call("cuModuleLoadData", text.encode() + b"\0")
                found |= {name: self._call("cuModuleGetFunction", module, name.encode()) for name in names}
        return found

    def throttle(self) -> tuple[str, ...]:
        """Return why NVML says that the device is slowed down."""
        return self._throttle.reasons()

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
        """Copy bytes to the device, after what was enqueued; they are there on return."""
        if data:
            self._call("cuMemcpyHtoDAsync", address, data, len(data), self._stream)
            self.synchronize()

    def read(self, address: int, size: int) -> bytes:
        """Copy bytes from the device, after what was enqueued."""
        held = bytearray(size)
        if size:
            kept = (ctypes.c_char * size).from_buffer(held)
            self._call("cuMemcpyDtoHAsync", ctypes.addressof(kept), address, size, self._stream)
            self.synchronize()
        return bytes(held)

    def copy(self, target: int, source: int, size: int) -> None:
        """Enqueue a copy on the device."""
        if size:
            self._call("cuMemcpyDtoDAsync", target, source, size, self._stream)

    def move(self, target: int, source: int, what: Move) -> None:
        """Enqueue a copy between layouts or types, by the judge's own kernel."""
        if what.count:
            types = (*(ctypes.c_uint64,) * (len(what.values) - 1), *(ctypes.c_int32,) * 3)
            blocks = min(-(-what.count // _MASK_THREADS), _MOVE_BLOCKS)
            self._own(moves.ENTRY, blocks, _MASK_THREADS, (target, source, *what.values), types)

    def load(self, code: bytes, entry: str, shared_bytes: int) -> Any:
        """Return the kernel of a code object; an object is loaded once."""
        if code not in self._modules:
            self._modules[code], self._own_memory[code] = self._loaded(code)
        kernel = self._call("cuModuleGetFunction", self._modules[code], entry.encode())
        if shared_bytes > _STATIC_SHARED_BYTES:
            name = self._cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._call("cuFuncSetAttribute", kernel, name, shared_bytes)
        return kernel

    def _loaded(self, code: bytes) -> tuple[Any, tuple[OwnPlace, ...]]:
        """Return a module, with all variables exported where the driver needs that to name them, and its own memory."""
        refused: KoptError | None = None
        for image in (bytes, exported):
            module = self._call("cuModuleLoadData", image(code))
            try:
                places = own_places(code, partial(self._variable, module), last=image is exported)
                return module, tuple(OwnPlace(address, self.read(address, size)) for address, size in places)
            except KoptError as error:
                self._call("cuModuleUnload", module)
                refused = error
                if not isinstance(error, DriverError):
                    break
        raise refused or DriverError("nothing was loaded", where="replay")

    def _variable(self, module: Any, name: str) -> tuple[int, int]:
        address, size = self._call("cuModuleGetGlobal", module, name.encode())
        return int(address), int(size)

    def unload(self) -> None:
        """Unload every code object, with its globals."""
        self._own_memory.clear()
        while self._modules:
            self._call("cuModuleUnload", self._modules.popitem()[1])

    def tensor_map(self, arg: TensorMapArg, address: int) -> Any:
        """Return a tiled tensor map: dimensions innermost first, strides in bytes without the innermost."""
        cu, view = self._cu, arg.view
        shape = [*view.shape[:-1], view.shape[-1] * 2] if arg.fp4_padded else list(view.shape)
        steps = [step * view.item_bytes for step in reversed(view.strides[:-1])]
        fill = cu.CUtensorMapFloatOOBfill
        return self._call(
            "cuTensorMapEncodeTiled",
            cu.CUtensorMapDataType(arg.element_type),
            len(shape),
            address,
            [cu.cuuint64_t(extent) for extent in reversed(shape)],
            [cu.cuuint64_t(step) for step in steps or [_NO_STRIDE]],
            [cu.cuuint32_t(extent) for extent in reversed(arg.box)],
            [cu.cuuint32_t(1)] * len(shape),
            cu.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            cu.CUtensorMapSwizzle(arg.swizzle),
            cu.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            fill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
            if arg.nan_fill
            else fill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )

    def launch(self, kernel: Any, step: Launch, values: list[Any], types: list[Any]) -> None:
        """Enqueue a launch."""
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
        self._accepts(kernel, step.entry, values, types)
        config.numAttrs, config.attrs, config.hStream = len(attributes), attributes, self._stream
        self._call("cuLaunchKernelEx", config, kernel, (tuple(values), tuple(types)), 0)

    def _accepts(self, kernel: Any, entry: str, values: list[Any], types: list[Any]) -> None:
        """Refuse arguments of other sizes than the kernel's parameters: the driver reads what the kernel declares."""
        wanted: list[int] = []
        while len(wanted) <= len(types):
            error, *place = self._cu.cuFuncGetParamInfo(kernel, len(wanted))
            if int(error) != 0:
                break
            wanted.append(int(place[1]))
        given = [_size_of(one if kind is None else kind) for one, kind in zip(values, types, strict=True)]
        if wanted != given:
            what = f"{entry} takes parameters of {wanted[:64]} bytes, the record gives {given[:64]}"
            raise DriverError(what, where="replay", fix="record it again")

    def synchronize(self) -> None:
        """Wait until all is done; raises `DriverError` when a kernel failed."""
        self._call("cuStreamSynchronize", self._stream)

    def event(self) -> Any:
        """Return a new event."""
        return self._call("cuEventCreate", 0)

    def record(self, event: Any) -> None:
        """Enqueue taking the time of an event."""
        self._call("cuEventRecord", event, self._stream)

    def elapsed_s(self, first: Any, second: Any) -> float:
        """Return seconds between two events that have happened."""
        return float(self._call("cuEventElapsedTime", first, second)) * 1e-3

    def unpin(self) -> None:
        """Make lines that a kernel asked the last cache to keep ordinary ones, where the device can."""
        if self._unpins:
            self._call("cuCtxResetPersistingL2Cache")

    def hold(self) -> None:
        """Enqueue a wait for `release`."""
        self._gate.close(self._stream)

    def release(self) -> None:
        """End the wait that was enqueued last."""
        self._gate.open()

    def _own(self, name: str, blocks: int, threads: int, values: tuple[int, ...], types: tuple[Any, ...]) -> None:
        if name not in self._trusted:
            raise DriverError(f"the driver compiled no {name} of the judge", where="replay", fix="offer files")
        kernel = self._trusted[name]
        self._call(
            "cuLaunchKernel", kernel, blocks, 1, 1, threads, 1, 1, 0, self._stream, (values, types) if values else 0, 0
        )

    def probe(self, address: int) -> None:
        """Enqueue a count of clock cycles: two 64-bit integers at the address, cycles and nanoseconds."""
        self._own(trusted.PROBE, 1, 1, (address, trusted.PROBE_NS), (ctypes.c_uint64, ctypes.c_uint64))

    def mask(self, target: int, source: int, size: int, key: Key) -> None:
        """Enqueue target = source under a key's stream of words."""
        self._masked(target, source, size, key, 0)

    def differs(self, target: int, source: int, size: int, key: Key, flag: int) -> None:
        """Enqueue setting a 32-bit flag to 1 where target is not the unmasked source."""
        self._masked(target, source, size, key, flag)

    def _masked(self, target: int, source: int, size: int, key: Key, flag: int) -> None:
        wide = ctypes.c_uint64
        types = (wide, wide, wide, ctypes.c_uint32, wide, wide, wide)
        values = (target, source, size // 8, size % 8, *key, flag)
        self._own(trusted.MASK, _MASK_BLOCKS, _MASK_THREADS, values, types)

    def idle(self) -> None:
        """Enqueue a kernel that does nothing."""
        self._own(trusted.IDLE, 1, 32, (), ())

    def capture(self) -> None:
        """Begin to collect what is enqueued into a graph instead."""
        mode = self._cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        self._call("cuStreamBeginCapture", self._stream, mode)

    def captured(self) -> Any:
        """Return the graph collected since `capture`, ready to be enqueued."""
        graph = self._call("cuStreamEndCapture", self._stream)
        ready = self._call("cuGraphInstantiate", graph, 0)
        self._call("cuGraphDestroy", graph)
        self._call("cuGraphUpload", ready, self._stream)
        self.synchronize()
        return ready

    def enqueue(self, graph: Any) -> None:
        """Enqueue a graph."""
        self._call("cuGraphLaunch", graph, self._stream)

    def discard(self, graph: Any) -> None:
        """Give back a graph that is done."""
        self._call("cuGraphExecDestroy", graph)

    def export(self, address: int) -> str:
        """Return the IPC handle of an allocation in hex; empty where the device offers none."""
        return self._handle(address) if self._facts.ipc else ""

    def _handle(self, address: int) -> str:
        handle = self._call("cuIpcGetMemHandle", address)
        return ctypes.string_at(handle.getPtr(), _HANDLE_BYTES).hex()


class _Gate:
    """A word of pinned memory that the stream waits for (cuStreamWaitValue32): no kernel of ours occupies the device.

    The wait ends when the word has reached a number; each wait takes the next one.
    """

    def __init__(self, driver: CudaDriver) -> None:
        self._cu, self._call = driver._cu, driver._call
        self._number, self._host = 0, 0
        self.opens = False
        try:
            self._host = int(self._call("cuMemHostAlloc", 4096, int(self._cu.CU_MEMHOSTALLOC_DEVICEMAP)))
            self._word = ctypes.c_uint32.from_address(self._host)
            self._word.value = 0
            self._place = self._call("cuMemHostGetDevicePointer", self._host, 0)
            self.close(driver._stream, tried=True)
            self.open()
            driver.synchronize()
            self.opens = True
        except DriverError:
            self._number = 0

    def close(self, stream: Any, *, tried: bool = False) -> None:
        if self.opens or tried:
            self._number += 1
            until = int(self._cu.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_GEQ)
            self._call("cuStreamWaitValue32", stream, self._place, self._number, until)

    def open(self) -> None:
        if self._host:
            self._word.value = self._number


def _size_of(one: Any) -> int:
    """Return the bytes of a ctypes type or structure, or of a tensor map."""
    return ctypes.sizeof(one) if isinstance(one, type | ctypes.Structure) else _TENSOR_MAP_BYTES


def _short(error: Exception) -> str:
    return error.what if isinstance(error, DriverError) else str(error).splitlines()[0][:200]

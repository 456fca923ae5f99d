"""HIP behind the interface of `driver.py`, through ctypes: the first AMD GPU that this process sees.

Enumerations and layouts are those of `include/hip/hip_runtime_api.h` of github.com/ROCm/HIP (commit c5e11fc, HIP 6.2);
the test compiles a library of that interface which does what it is told to. No AMD GPU was at hand: nothing here has
run on one. What could not be shown without one is left out and said: launches are not held back (a wait of the stream
needs signal memory), and the judge has no kernels of its own, so contents travel by file, clocks are not probed, and
chains below 10 µs and moves between layouts are refused.
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from kopt_kb.base.errors import KoptError, MissingTool
from kopt_kb.launch.record.code_object import AmdEntry, CodeObject, read_code_object
from kopt_kb.launch.record.driver import Device, DriverError, Key, VendorDriver
from kopt_kb.launch.record.hip_library import library_of
from kopt_kb.launch.record.model import Launch, TensorMapArg
from kopt_kb.launch.record.moves import Move
from kopt_kb.launch.record.own_memory import OwnPlace, own_places

__all__ = ["HipDriver"]

_L2_CACHE_SIZE = 19
"""hipDeviceAttributeL2CacheSize."""
_NON_BLOCKING, _RELAXED = 1, 2
"""hipStreamNonBlocking, hipStreamCaptureModeRelaxed."""
_NAME_BYTES, _PROPERTY_BYTES, _ARCHITECTURE_AT = 256, 1472, 1160
"""Of hipDeviceProp_tR0600: its size, and where gcnArchName[256] begins in it."""
_UUID_BYTES, _HANDLE_BYTES = 16, 64
"""Bytes of a hipUUID and of a hipIpcMemHandle_t."""
_CACHES = Path("/sys/class/kfd/kfd/topology/nodes")
"""Where the kernel's driver lists the caches of each device, the last level too, which no attribute of HIP tells."""


class HipDriver(VendorDriver):
    """The first AMD GPU that this process sees, through the driver interface.

    Args:
        library: HIP's runtime; None: the one of this machine.
        caches: Folder in which the kernel's driver lists devices.
    """

    memsets: ClassVar = {1: "hipMemsetD8Async", 2: "hipMemsetD16Async", 4: "hipMemsetD32Async"}

    def __init__(self, library: Any = None, caches: Path = _CACHES) -> None:
        self._hip = library_of() if library is None else library
        try:
            self._call("hipInit", 0)
            self._call("hipSetDevice", 0)
        except DriverError as error:
            fix = "run on a machine with a GPU"
            raise MissingTool(f"no GPU: {error.what}", where="replay", fix=fix, code="KB122") from error
        self._stream = self._made("hipStreamCreateWithFlags", _NON_BLOCKING)
        self._modules: dict[bytes, tuple[Any, CodeObject]] = {}
        self._own_memory: dict[bytes, tuple[OwnPlace, ...]] = {}
        self._architecture = self._read_architecture()
        name, uuid = ctypes.create_string_buffer(_NAME_BYTES), ctypes.create_string_buffer(_UUID_BYTES)
        memory = c_size_t()
        self._call("hipDeviceGetName", name, _NAME_BYTES, 0)
        self._call("hipDeviceGetUuid", uuid, 0)
        self._call("hipDeviceTotalMem", byref(memory), 0)
        self._facts = Device(
            name=name.value.decode(errors="replace"),
            uuid=uuid.raw.hex(),
            cache_bytes=max(self._number("hipDeviceGetAttribute", _L2_CACHE_SIZE, 0), _last_cache_bytes(caches)),
            memory_bytes=memory.value,
            driver=self._number("hipDriverGetVersion"),
            probe=False,
            hold=False,
            ipc=self._exports(),
        )

    # ---- calls -------------------------------------------------------------------------------

    def _call(self, name: str, *args: Any) -> None:
        error = int(getattr(self._hip, name)(*args))
        if error:
            said = self._hip.hipGetErrorName(error)
            raise DriverError(f"{name}: {said.decode() if said else error}", where="replay")

    def _made(self, name: str, *args: Any) -> Any:
        """Return the handle or address that a function leaves at its first argument."""
        found = c_void_p()
        self._call(name, byref(found), *args)
        return found.value or 0

    def _number(self, name: str, *args: Any) -> int:
        found = c_int()
        self._call(name, byref(found), *args)
        return found.value

    def _read_architecture(self) -> str:
        """Return the processor without its features: `gfx942` of `gfx942:sramecc+:xnack-`."""
        held = ctypes.create_string_buffer(2 * _PROPERTY_BYTES)  # newer runtimes may have more behind it
        self._call("hipGetDevicePropertiesR0600", held, 0)
        name = held.raw[_ARCHITECTURE_AT : _ARCHITECTURE_AT + _NAME_BYTES].split(b"\0")[0]
        return name.decode(errors="replace").split(":")[0]

    # ---- the device --------------------------------------------------------------------------

    def throttle(self) -> tuple[str, ...]:
        """Return nothing: AMD's management library is not asked."""
        return ()

    def allocate(self, size: int) -> int:
        """Return the address of new memory."""
        return int(self._made("hipMalloc", size))

    def free(self, address: int) -> None:
        """Give memory back."""
        self._call("hipFree", address)

    def write(self, address: int, data: bytes) -> None:
        """Copy bytes to the device, after what was enqueued; they are there on return."""
        if data:
            self._call("hipMemcpyHtoDAsync", address, ctypes.cast(c_char_p(data), c_void_p), len(data), self._stream)
            self.synchronize()

    def read(self, address: int, size: int) -> bytes:
        """Copy bytes from the device, after what was enqueued."""
        held = ctypes.create_string_buffer(max(size, 1))
        if size:
            self._call("hipMemcpyDtoHAsync", held, address, size, self._stream)
            self.synchronize()
        return held.raw[:size]

    def copy(self, target: int, source: int, size: int) -> None:
        """Enqueue a copy on the device."""
        if size:
            self._call("hipMemcpyDtoDAsync", target, source, size, self._stream)

    def move(self, target: int, source: int, what: Move) -> None:  # noqa: ARG002 - the interface's
        """Refuse what needs a kernel of the judge's own."""
        self._lacks("a copy between layouts or types")

    # ---- code objects ------------------------------------------------------------------------

    def load(self, code: bytes, entry: str, shared_bytes: int) -> Any:  # noqa: ARG002 - no limit has to be lifted
        """Return the kernel of a code object with what its file says of it; an object is loaded once."""
        if code not in self._modules:
            self._modules[code], self._own_memory[code] = self._loaded(code)
        module, said = self._modules[code]
        if entry not in said.entries:
            raise DriverError(f"the code object has no kernel {entry}", where="replay", fix="record it again")
        return self._made("hipModuleGetFunction", module, entry.encode()), said.entries[entry]

    def _loaded(self, code: bytes) -> tuple[tuple[Any, CodeObject], tuple[OwnPlace, ...]]:
        said = read_code_object(code)
        if said.target != self._architecture:
            what = f"the code object is for {said.target}, the device is a {self._architecture}"
            raise DriverError(what, where="replay", fix="record it for this device")
        held = ctypes.create_string_buffer(code, len(code))
        module = self._made("hipModuleLoadData", ctypes.cast(held, c_void_p))
        try:
            places = own_places(code, lambda name: self._variable(module, name))
            return (module, said), tuple(OwnPlace(address, self.read(address, size)) for address, size in places)
        except KoptError:
            self._call("hipModuleUnload", module)
            raise

    def _variable(self, module: Any, name: str) -> tuple[int, int]:
        address, size = c_void_p(), c_size_t()
        self._call("hipModuleGetGlobal", byref(address), byref(size), module, name.encode())
        return int(address.value or 0), int(size.value)

    def unload(self) -> None:
        """Unload every code object, with its globals."""
        self._own_memory.clear()
        while self._modules:
            self._call("hipModuleUnload", self._modules.popitem()[1][0])

    def tensor_map(self, arg: TensorMapArg, address: int) -> NoReturn:  # noqa: ARG002 - the interface's
        """Refuse what only NVIDIA's hardware has."""
        self._lacks("a tensor map")

    def launch(self, kernel: Any, step: Launch, values: list[Any], types: list[Any]) -> None:
        """Enqueue a launch; the runtime adds the arguments that the code object calls hidden."""
        function, said = kernel
        if max(step.cluster) > 1:
            self._lacks("a cluster of blocks")
        _accepts(said, step, [ctypes.sizeof(kind or one) for one, kind in zip(values, types, strict=True)])
        held = [one if kind is None else kind(one) for one, kind in zip(values, types, strict=True)]
        pointers = (c_void_p * max(len(held), 1))(*(ctypes.addressof(one) for one in held))
        grid = (*step.grid, *step.block, step.shared_bytes)
        if step.cooperative:
            self._call("hipModuleLaunchCooperativeKernel", function, *grid, self._stream, pointers)
        else:
            self._call("hipModuleLaunchKernel", function, *grid, self._stream, pointers, None)

    # ---- time --------------------------------------------------------------------------------

    def synchronize(self) -> None:
        """Wait until all is done; raises `DriverError` when a kernel failed."""
        self._call("hipStreamSynchronize", self._stream)

    def event(self) -> Any:
        """Return a new event."""
        return self._made("hipEventCreate")

    def record(self, event: Any) -> None:
        """Enqueue taking the time of an event."""
        self._call("hipEventRecord", event, self._stream)

    def elapsed_s(self, first: Any, second: Any) -> float:
        """Return seconds between two events that have happened."""
        found = c_float()
        self._call("hipEventElapsedTime", byref(found), first, second)
        return float(found.value) * 1e-3

    def unpin(self) -> None:
        """Do nothing: no kernel can ask this cache to keep lines."""

    def hold(self) -> None:
        """Do nothing: the device facts offer no hold."""

    def release(self) -> None:
        """Do nothing likewise."""

    def probe(self, address: int) -> None:  # noqa: ARG002 - likewise
        """Refuse what needs a kernel of the judge's own."""
        self._lacks("a clock probe")

    def mask(self, target: int, source: int, size: int, key: Key) -> None:  # noqa: ARG002 - likewise
        """Refuse likewise."""
        self._lacks("a mask")

    def differs(self, target: int, source: int, size: int, key: Key, flag: int) -> None:  # noqa: ARG002 - likewise
        """Refuse likewise."""
        self._lacks("a mask")

    def idle(self) -> None:
        """Refuse likewise."""
        self._lacks("a chain of launches")

    def _lacks(self, what: str) -> NoReturn:
        fix = "judge it where no such thing is needed"
        raise DriverError(f"{what}, which the judge has not for AMD GPUs", where="replay", fix=fix)

    def capture(self) -> None:
        """Begin to collect what is enqueued into a graph instead."""
        self._call("hipStreamBeginCapture", self._stream, _RELAXED)

    def captured(self) -> Any:
        """Return the graph collected since `capture`, ready to be enqueued."""
        graph = c_void_p()
        self._call("hipStreamEndCapture", self._stream, byref(graph))
        ready = self._made("hipGraphInstantiate", graph, None, None, 0)
        self._call("hipGraphDestroy", graph)
        return ready

    def enqueue(self, graph: Any) -> None:
        """Enqueue a graph."""
        self._call("hipGraphLaunch", graph, self._stream)

    def discard(self, graph: Any) -> None:
        """Give back a graph that is done."""
        self._call("hipGraphExecDestroy", graph)

    def export(self, address: int) -> str:
        """Return the IPC handle of an allocation in hex; empty where the device offers none."""
        return self._handle(address) if self._facts.ipc else ""

    def _handle(self, address: int) -> str:
        handle = ctypes.create_string_buffer(_HANDLE_BYTES)
        self._call("hipIpcGetMemHandle", handle, address)
        return handle.raw.hex()


def _accepts(said: AmdEntry, step: Launch, given: list[int]) -> None:
    """Refuse arguments of other sizes than the kernel's parameters: the runtime reads what the kernel declares."""
    if given != list(said.parameters):
        what = f"{step.entry} takes parameters of {list(said.parameters[:64])} bytes, the record gives {given[:64]}"
        raise DriverError(what, where="replay", fix="record it again")
    threads = step.block[0] * step.block[1] * step.block[2]
    if said.most_threads and threads > said.most_threads:
        what = f"{step.entry} was compiled for {said.most_threads} work-items at most, the record launches {threads}"
        raise DriverError(what, where="replay", fix="record it again")


def _last_cache_bytes(nodes: Path) -> int:
    """Return the largest cache of any GPU that the kernel's driver lists; 0 where it lists none.

    Of several kinds of GPU in one machine it may be another's: then more is flushed than has to be.
    """
    sizes = [0]
    for node in nodes.glob("*"):
        if int(_said(node / "properties").get("simd_count", "0")):
            sizes += [int(_said(one).get("size", "0")) << 10 for one in node.glob("caches/*/properties")]
    return max(sizes)


def _said(file: Path) -> dict[str, str]:
    """Return the words of a list of the kernel's driver: a name and a number a line."""
    try:
        lines = [line.split() for line in file.read_text(encoding="ascii", errors="replace").splitlines()]
    except OSError:
        return {}
    return {words[0]: words[1] for words in lines if len(words) == 2 and words[1].isdigit()}

"""What a replay and its clock need of a GPU driver: memory, code objects, launches, events, kernels of the judge's own.

Everything that is enqueued goes to one stream, in order. `CudaDriver` (`cuda_driver.py`) is NVIDIA's,
`HipDriver` (`hip_driver.py`) AMD's.
"""

from __future__ import annotations

import ctypes
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from kopt_kb.base.errors import FindingError
from kopt_kb.base.wire import Wire
from kopt_kb.launch.record.model import Launch, TensorMapArg
from kopt_kb.launch.record.moves import Move
from kopt_kb.launch.record.own_memory import OwnPlace

__all__ = ["Device", "Driver", "DriverError", "Key", "VendorDriver", "scalar_type"]

_CHUNK_BYTES = 1 << 24
"""Most bytes that a fill by the host holds at once."""

_TYPES: dict[str, type[ctypes._SimpleCData[int]] | type[ctypes._SimpleCData[float]]] = {
    "i1": ctypes.c_int8, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "u1": ctypes.c_uint8, "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
    "fp32": ctypes.c_float, "f32": ctypes.c_float, "fp64": ctypes.c_double,
}  # fmt: skip

Key = tuple[int, int]
"""Two 64-bit halves of the key of a mask."""


class DriverError(FindingError):
    """The driver refused a call, or a kernel left the device in an error."""

    code = "KB449"


@dataclass(frozen=True, slots=True)
class Device(Wire):
    """A device, and what of the clock's protocol it offers.

    Attributes:
        name: Product name as the driver says it.
        uuid: Its UUID in hex.
        cache_bytes: Its last level of cache.
        memory_bytes: Its memory.
        driver: Version of the driver's interface.
        probe: Whether the judge's own kernels run here: clock probe and masks; without them contents travel by file.
        hold: Whether launches can be enqueued behind a wait that the host ends.
        ipc: Whether memory can be opened by another process.
    """

    name: str
    uuid: str
    cache_bytes: int
    memory_bytes: int
    driver: int
    probe: bool
    hold: bool
    ipc: bool


class Driver(Protocol):
    """A device as a judge sees it; addresses are integers, sizes are in bytes."""

    def device(self) -> Device:
        """Return what the device is and offers."""

    def now_s(self) -> float:
        """Return the host's clock in seconds; only differences mean something."""

    def throttle(self) -> tuple[str, ...]:
        """Return why the device is slowed down at present, as its management library says; empty without one."""

    def allocate(self, size: int) -> int:
        """Return the address of new memory."""

    def free(self, address: int) -> None:
        """Give memory back."""

    def write(self, address: int, data: bytes) -> None:
        """Copy bytes to the device, after what was enqueued; they are there on return."""

    def read(self, address: int, size: int) -> bytes:
        """Copy bytes from the device, after what was enqueued."""

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        """Enqueue writing a pattern of 1, 2, 4 or 8 bytes so many times."""

    def copy(self, target: int, source: int, size: int) -> None:
        """Enqueue a copy on the device."""

    def move(self, target: int, source: int, what: Move) -> None:
        """Enqueue a copy between layouts or types, by the judge's own kernel."""

    def load(self, code: bytes, entry: str, shared_bytes: int) -> Any:
        """Return the kernel of a code object, allowed so much dynamic shared memory."""

    def own_memory(self, code: bytes) -> tuple[OwnPlace, ...]:
        """Return the memory that a loaded code object has of its own, with what it held at first."""

    def unload(self) -> None:
        """Unload every code object, with its globals."""

    def tensor_map(self, arg: TensorMapArg, address: int) -> Any:
        """Return an encoded tensor map over memory at an address."""

    def launch(self, kernel: Any, step: Launch, values: list[Any], types: list[Any]) -> None:
        """Enqueue a launch; values as `scalar_type` and `tensor_map` give them, types beside them."""

    def synchronize(self) -> None:
        """Wait until all is done; raises `DriverError` when a kernel failed."""

    def event(self) -> Any:
        """Return a new event."""

    def record(self, event: Any) -> None:
        """Enqueue taking the time of an event."""

    def elapsed_s(self, first: Any, second: Any) -> float:
        """Return seconds between two events that have happened."""

    def unpin(self) -> None:
        """Make lines that a kernel asked the last cache to keep ordinary ones, where the device can."""

    def hold(self) -> None:
        """Enqueue a wait for `release`; nothing happens where the device offers none."""

    def release(self) -> None:
        """End the wait that was enqueued last."""

    def probe(self, address: int) -> None:
        """Enqueue a count of clock cycles: two 64-bit integers at the address, cycles and nanoseconds."""

    def mask(self, target: int, source: int, size: int, key: Key) -> None:
        """Enqueue target = source under a key's stream of words; twice is the source again."""

    def differs(self, target: int, source: int, size: int, key: Key, flag: int) -> None:
        """Enqueue setting a 32-bit flag to 1 where target is not the unmasked source."""

    def idle(self) -> None:
        """Enqueue a kernel that does nothing."""

    def capture(self) -> None:
        """Begin to collect what is enqueued into a graph instead."""

    def captured(self) -> Any:
        """Return the graph collected since `capture`, ready to be enqueued."""

    def enqueue(self, graph: Any) -> None:
        """Enqueue a graph."""

    def discard(self, graph: Any) -> None:
        """Give back a graph that is done."""

    def export(self, address: int) -> str:
        """Return the IPC handle of an allocation in hex; empty where the device offers none."""


def scalar_type(name: str) -> Any:
    """Return the ctypes type of a scalar of a kernel's signature; half-width floats travel as their bits."""
    return ctypes.c_uint16 if name in {"fp16", "bf16"} else _TYPES[name]


class VendorDriver(ABC):
    """What the drivers of both vendors do alike, over calls of their own."""

    memsets: ClassVar[Mapping[int, str]]
    """Bytes of a pattern → the vendor's call that writes it many times."""
    _facts: Device
    _own_memory: dict[bytes, tuple[OwnPlace, ...]]
    _stream: Any

    @abstractmethod
    def _call(self, name: str, *args: Any) -> Any: ...

    @abstractmethod
    def _handle(self, address: int) -> str: ...

    @abstractmethod
    def allocate(self, size: int) -> int:
        """Return the address of new memory."""

    @abstractmethod
    def free(self, address: int) -> None:
        """Give memory back."""

    @abstractmethod
    def write(self, address: int, data: bytes) -> None:
        """Copy bytes to the device."""

    def _exports(self) -> bool:
        """Return whether another process can open memory of this one."""
        address = self.allocate(1 << 21)
        try:
            return bool(self._handle(address))
        except DriverError:
            return False
        finally:
            self.free(address)

    def device(self) -> Device:
        """Return what the device is and offers."""
        return self._facts

    def now_s(self) -> float:
        """Return the host's clock in seconds."""
        return time.perf_counter()

    def own_memory(self, code: bytes) -> tuple[OwnPlace, ...]:
        """Return the memory that a loaded code object has of its own, with what it held at first."""
        return self._own_memory[code]

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        """Write a pattern of 1, 2, 4 or 8 bytes so many times; one of 8 bytes as two of 4 where its halves differ."""
        if len(pattern) == 8:
            if pattern[:4] != pattern[4:]:
                self._fill_wide(address, pattern, count)
                return
            pattern, count = pattern[:4], 2 * count
        if count:
            self._call(self.memsets[len(pattern)], address, int.from_bytes(pattern, "little"), count, self._stream)

    def _fill_wide(self, address: int, pattern: bytes, count: int) -> None:
        """Fill with what no memset has, from a chunk of host memory that is bounded whatever the count."""
        chunk = pattern * min(count, _CHUNK_BYTES // len(pattern))
        for start in range(0, count * len(pattern), len(chunk) or 1):
            self.write(address + start, chunk[: count * len(pattern) - start])

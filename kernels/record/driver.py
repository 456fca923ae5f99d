"""What a replay and its clock need of a GPU driver: memory, code objects, launches, events, kernels of the judge's own.

Everything that is enqueued goes to one stream, in order. `CudaDriver` (`cuda_driver.py`) is NVIDIA's,
`HipDriver` (`hip_driver.py`) AMD's.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Protocol

from kopt_kb.errors import FindingError
from kopt_kb.kernels.record.model import Launch, TensorMapArg
from kopt_kb.kernels.record.moves import Move
from kopt_kb.kernels.record.own_memory import OwnPlace
from kopt_kb.wire import Wire

__all__ = ["Device", "Driver", "DriverError", "Key", "scalar_type"]

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

    def tensor_map(self, one: TensorMapArg, address: int) -> Any:
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

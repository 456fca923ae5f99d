"""A GPU in host memory with simulated time, and a reference process for it: what a judge can be tested on anywhere.

A kernel's entry says what it does and how long it takes: `plusone__us36` writes every byte of its first tensor plus one
into its second and takes 36 µs. Time drifts, clocks step and switching between processes costs as a `World` says; a
world can be shared by the devices of several processes that live in one. Run as a program it is a judge child on such
a device (`--serve CLOCK`), a reference process (`--reference`), or a replay for a profiler (`--profiled JOB`).
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import math
import mmap
import random
import struct
import sys
import time
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from kopt_kb.base.wire import Wire, canonical, parse, read
from kopt_kb.launch.judge.channel import ProcessChannel
from kopt_kb.launch.judge.judges import Starting
from kopt_kb.launch.record.driver import Device, DriverError, Key
from kopt_kb.launch.record.exchange import (
    Close,
    Compared,
    CompareSlots,
    Filled,
    FillSlots,
    Open,
    Opened,
    Slot,
    SlotResult,
    Window,
)
from kopt_kb.launch.record.judge import OBJECTS, RECORD
from kopt_kb.launch.record.model import (
    VERSION,
    Buffer,
    Input,
    Launch,
    LaunchRecord,
    TensorAddress,
    TensorMapArg,
    TensorView,
)
from kopt_kb.launch.record.moves import Move, moved
from kopt_kb.launch.record.own_memory import OwnPlace
from kopt_kb.launch.record.reference import CompareFile, Distance, Prepare, Prepared
from kopt_kb.launch.record.trusted import masked

CALL_S = 2e-6
"""What a call of the driver costs the host."""


class World:
    """Time that devices share: the host's clock, the device's clock rate, who had the device last.

    Args:
        noise: Standard deviation of the log of a launch's time.
        drift: Change of the log of all times a second.
        steps: Times in seconds at which the clock changes, and the factor from then on.
        switch: Log by which the first launch after a change of process is slower.
        seed: Of the noise.
        placement: Standard deviation of the log of a kernel's time over the places of its tensors.
    """

    def __init__(
        self, *, noise: float = 0.003, drift: float = 0.0, steps: tuple[tuple[float, float], ...] = (),
        switch: float = 0.08, seed: int = 1, placement: float = 0.0,
    ) -> None:  # fmt: skip
        self.now = 0.0
        self.placement = placement
        self.noise, self.drift, self.steps, self.switch = noise, drift, steps, switch
        self.random = random.Random(seed)
        self.last: object = None
        self.throttle: tuple[str, ...] = ()
        self.sag: dict[str, float] = {}
        """Entry → log by which the clock is lower while it runs: a kernel that draws more power."""

    def call(self) -> None:
        """Let a call of the driver take its time."""
        self.now += CALL_S

    def wait(self, until: float) -> None:
        """Let the host wait for the device."""
        self.now = max(self.now, until) + CALL_S

    def slow(self, at: float) -> float:
        """Return by what every time is longer than at the start."""
        factor = math.exp(self.drift * at)
        for begins, by in self.steps:
            factor = factor * by if at >= begins else factor
        return factor


class SharedWorld(World):
    """A world whose host clock is a file: processes that take turns share its time, however slow the machine is."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(struct.pack("<d", 0.0))
        with path.open("r+b") as file:
            self._held = mmap.mmap(file.fileno(), 8)
        before = self.now
        super().__init__()
        self.now = before

    @property
    def now(self) -> float:
        return float(struct.unpack("<d", self._held[:])[0])

    @now.setter
    def now(self, seconds: float) -> None:
        self._held[:] = struct.pack("<d", seconds)


class FakeDriver:
    """A device; see the module. What no real driver allows raises AssertionError.

    Args:
        world: Its time.
        ipc: Whether memory can be opened by another process (of this interpreter).
        probe: Whether the judge's own kernels run.
        forged: Factor on what events say, as a kernel would have them say that could write them.
    """

    exported: ClassVar[dict[str, tuple[FakeDriver, int]]] = {}
    _ids = itertools.count()

    def __init__(
        self, world: World | None = None, *, ipc: bool = True, probe: bool = True, forged: float = 1.0,
        unkept: float = 1.0,
    ) -> None:  # fmt: skip
        self.world = world or World()
        self.forged, self.unkept = forged, unkept
        self._facts = Device(
            "Fake GPU",
            f"{0x9B5B6CB994BD4CB98CA6285D5677A590 + next(self._ids):032x}",
            4096,
            1 << 34,
            13000,
            probe,
            True,
            ipc,
        )
        self.memory: dict[int, bytearray] = {}
        self._bases: list[int] = []
        self._next = 1 << 20
        self._queue: list[tuple[float, float, Callable[[float], None]]] = []
        self._held = False
        self._device_s = 0.0
        self._lost = ""
        self._sag = 0.0
        self._graph: list[Any] | None = None
        self.loaded: list[str] = []
        self.own: tuple[OwnPlace, ...] = ()
        self.unpinned = 0

    # ---- facts and memory

    def device(self) -> Device:
        return self._facts

    def now_s(self) -> float:
        self.world.call()
        return self.world.now

    def throttle(self) -> tuple[str, ...]:
        return self.world.throttle

    def allocate(self, size: int) -> int:
        base, self._next = self._next, self._next + size + (1 << 20)
        self.memory[base] = bytearray(size)
        self._bases.append(base)
        return base

    def free(self, address: int) -> None:
        assert not self._queue, "memory is given back while something is enqueued"
        del self.memory[address]
        self._bases.remove(address)

    def at(self, address: int) -> tuple[bytearray, int]:
        place = bisect_right(self._bases, address) - 1
        assert place >= 0, f"no memory at {address}"
        base = self._bases[place]
        held = self.memory[base]
        assert address - base <= len(held), f"no memory at {address}"
        return held, address - base

    def poke(self, address: int, data: bytes) -> None:
        held, at = self.at(address)
        assert at + len(data) <= len(held), "beyond an allocation"
        held[at : at + len(data)] = data

    def peek(self, address: int, size: int) -> bytes:
        held, at = self.at(address)
        return bytes(held[at : at + size])

    def write(self, address: int, data: bytes) -> None:
        self.synchronize()
        self.poke(address, data)

    def read(self, address: int, size: int) -> bytes:
        self.synchronize()
        return self.peek(address, size)

    # ---- enqueuing

    def _enqueue(self, seconds: float, action: Callable[[float], None]) -> None:
        if self._graph is not None:
            self._graph.append((seconds, action))
            return
        self.world.call()
        self._queue.append((self.world.now, seconds, action))

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        self._enqueue(1e-6, lambda _: self.poke(address, pattern * count))

    def copy(self, target: int, source: int, size: int) -> None:
        self._enqueue(1e-6, lambda _: self.poke(target, self.peek(source, size)))

    def move(self, target: int, source: int, what: Move) -> None:
        def run(_: float) -> None:
            for place, one in moved(what, lambda at, size: self.peek(source + at, size)):
                self.poke(target + place, one)

        self._enqueue(1e-6, run)

    def load(self, code: bytes, entry: str, shared_bytes: int) -> Any:
        assert not self._held, "loading may wait for the device"
        if entry.startswith("refused"):
            raise DriverError("cuModuleLoadData: CUDA_ERROR_INVALID_IMAGE", where="replay")
        self.loaded.append(entry)
        if entry.startswith("counts") and not self.own:
            self.own = (OwnPlace(self.allocate(4), bytes(4)), OwnPlace(self.allocate(2), b"ab"))
            self.poke(self.own[1].address, b"ab")
        return entry

    def own_memory(self, code: bytes) -> tuple[OwnPlace, ...]:
        return self.own

    def unload(self) -> None:
        self.loaded.clear()
        while self.own:
            self.free(self.own[-1].address)
            self.own = self.own[:-1]

    def tensor_map(self, one: TensorMapArg, address: int) -> Any:
        return ("map", address)

    def launch(self, kernel: Any, step: Launch, values: list[Any], types: list[Any]) -> None:
        what, _, us = kernel.partition("__us")
        seconds = float(us.replace("_", ".")) * 1e-6
        views = [one.view for one in step.arguments if isinstance(one, TensorAddress)]
        sizes = [view.end_bytes - view.offset * view.item_bytes for view in views]

        def run(_: float) -> None:
            if what == "hang":
                time.sleep(3600)
            BEHAVIOURS[what](self, values, sizes)

        if self.world.placement:
            lucky = random.Random(repr(values)).gauss(0, self.world.placement)
            seconds *= math.exp(lucky)
        self._sag = self.world.sag.get(kernel, 0.0)
        self._enqueue(-seconds * math.exp(self._sag), run)

    def synchronize(self) -> None:
        if self._lost:
            raise DriverError(self._lost, where="replay")
        assert self._graph is None, "a graph is being captured"
        assert not (self._held and self._queue), "the host waits for a stream that waits for the host"
        for enqueued, seconds, action in self._queue:
            self._device_s = max(self._device_s, enqueued)
            self._device_s += self._takes(seconds)
            action(self._device_s)
            if self._lost:
                self._queue.clear()
                raise DriverError(self._lost, where="replay")
        self._queue.clear()
        self.world.wait(self._device_s)

    def _takes(self, seconds: float) -> float:
        """Return how long something takes now; negative: a candidate's kernel, which feels noise and switches."""
        world = self.world
        factor = world.slow(self._device_s)
        if seconds >= 0:
            return seconds * factor
        factor *= math.exp(world.random.gauss(0, world.noise))
        if world.last is not self:
            factor *= math.exp(world.switch)
        world.last = self
        return -seconds * factor

    def lose(self, what: str) -> None:
        self._lost = what

    # ---- clock

    def event(self) -> Any:
        return [0.0]

    def record(self, event: Any) -> None:
        def take(at: float) -> None:
            event[0] = at

        self._enqueue(0.0, take)

    def elapsed_s(self, first: Any, second: Any) -> float:
        assert not self._queue
        return (second[0] - first[0]) * self.forged

    def unpin(self) -> None:
        assert not self._held and not self._queue
        self.unpinned += 1

    def hold(self) -> None:
        assert not self._held
        self._held = True

    def release(self) -> None:
        if self._held:
            self._held = False
            self._queue = [(self.world.now, seconds, action) for _, seconds, action in self._queue]

    def probe(self, address: int) -> None:
        def count(at: float) -> None:
            cycles = round(20_000 * 1.7 / self.world.slow(at) / math.exp(self._sag))
            self.poke(address, cycles.to_bytes(8, "little") + (20_000).to_bytes(8, "little"))

        self._enqueue(20e-6, count)

    def mask(self, target: int, source: int, size: int, key: Key) -> None:
        assert self._facts.probe
        self._enqueue(1e-6, lambda _: self.poke(target, masked(self.peek(source, size), key)))

    def differs(self, target: int, source: int, size: int, key: Key, flag: int) -> None:
        def compare(_: float) -> None:
            if self.peek(target, size) != masked(self.peek(source, size), key):
                self.poke(flag, b"\1\0\0\0")

        self._enqueue(1e-6, compare)

    def idle(self) -> None:
        self._enqueue(1e-6, lambda _: None)

    def capture(self) -> None:
        self.synchronize()
        self._graph = []

    def captured(self) -> Any:
        graph, self._graph = self._graph, None
        return graph

    def enqueue(self, graph: Any) -> None:
        self.world.call()
        self._queue += [(self.world.now, seconds, action) for seconds, action in graph]

    def discard(self, graph: Any) -> None:
        assert isinstance(graph, list)

    def export(self, address: int) -> str:
        if not self._facts.ipc:
            return ""
        handle = (self._facts.uuid + f"{address:032x}").ljust(128, "0")
        self.exported[handle] = (self, address)
        return handle


def _plus(number: int) -> Callable[[FakeDriver, list[Any], list[int]], None]:
    def run(device: FakeDriver, values: list[Any], sizes: list[int]) -> None:
        read = device.peek(values[0], sizes[0])
        device.poke(values[1], bytes((one + number) % 256 for one in read))

    return run


def _fault(device: FakeDriver, values: list[Any], sizes: list[int]) -> None:
    device.lose("cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS")


def _beyond(device: FakeDriver, values: list[Any], sizes: list[int]) -> None:
    _plus(1)(device, values, sizes)
    behind = values[1] + sizes[1]
    device.poke(behind, bytes([device.peek(behind, 1)[0] ^ 1]))


def _changes(device: FakeDriver, values: list[Any], sizes: list[int]) -> None:
    _plus(1)(device, values, sizes)
    device.poke(values[0], bytes([device.peek(values[0], 1)[0] ^ 1]))


_STASH: dict[int, bytes] = {}


def _remembers(device: FakeDriver, values: list[Any], sizes: list[int]) -> None:
    """The first answer again and again: right for as long as contents stay the same."""
    if id(device) not in _STASH:
        _plus(1)(device, values, sizes)
        _STASH[id(device)] = device.peek(values[1], sizes[1])
    device.poke(values[1], _STASH[id(device)])


_CALLS = itertools.count()


def _seldom(device: FakeDriver, values: list[Any], sizes: list[int]) -> None:
    """Wrong once in seven launches."""
    _plus(2 if next(_CALLS) % 7 == 6 else 1)(device, values, sizes)


def _copies(device: FakeDriver, values: list[Any], sizes: list[int]) -> None:
    device.poke(values[1], device.peek(values[0], sizes[0]))


COUNTED: list[int] = []
"""What `counts` found in its own memory at each launch."""


def _counts(device: FakeDriver, values: list[Any], sizes: list[int]) -> None:
    """Count launches in memory of its own, and rest after the second."""
    counter, word = (one.address for one in device.own)
    number = int.from_bytes(device.peek(counter, 4), "little")
    COUNTED.append(number if device.peek(word, 2) == b"ab" else -1)
    device.poke(counter, (number + 1).to_bytes(4, "little"))
    device.poke(word, b"xy")
    if number < 2:
        _plus(1)(device, values, sizes)


_LEFT: list[bytes] = []


def _puts_off(device: FakeDriver, values: list[Any], sizes: list[int]) -> None:
    """The second of four launches does nothing and leaves its work to the third, which finds where its output went."""
    mine = bytes((one + 1) % 256 for one in device.peek(values[0], sizes[0]))
    number = len(_LEFT)
    device.poke(values[1], b"\x11" * sizes[1] if number % 4 == 1 else mine)
    for left in _LEFT[-1:]:
        for base, held in device.memory.items():
            at = bytes(held).find(b"\x11" * len(left))
            if at >= 0 and base + at != values[1]:
                device.poke(base + at, left)
    _LEFT.append(mine)


BEHAVIOURS: dict[str, Callable[[FakeDriver, list[Any], list[int]], None]] = {
    "plusone": _plus(1), "wrong": _plus(2), "fault": _fault, "beyond": _beyond, "changes": _changes,
    "remembers": _remembers, "seldom": _seldom, "nothing": lambda *_: None, "hang": _plus(1),
    "counts": _counts, "copies": _copies, "putsoff": _puts_off, "dies": lambda *_: sys.exit(7),
}  # fmt: skip


class FakeReference:
    """A reference process for `plusone`: random bytes in, every byte plus one expected; in files so many of them."""

    size = 24

    def __init__(self) -> None:
        self._offers: dict[str, Open] = {}
        self._wrote: dict[tuple[str, int], tuple[bytes, ...]] = {}
        self.filled = self.checks_asked = 0
        self._random = random.SystemRandom()

    def answer(self, question: Wire) -> Wire:
        if isinstance(question, Open):
            self._offers[question.key] = question
            return Opened("the reference file fails" if "failing" in question.file else "")
        if isinstance(question, Close):
            return Opened("" if self._offers.pop(question.key, None) else "not open")
        if isinstance(question, FillSlots):
            return self._fill(question)
        if isinstance(question, Prepare):
            self._file = Path(question.folder) / "in0.bin"
            self._file.write_bytes(self._random.randbytes(self.size))
            return Prepared((str(self._file),), "it fails" if "failing" in question.file else "")
        if isinstance(question, CompareFile):
            right = Path(question.file).read_bytes() == bytes((one + 1) % 256 for one in self._file.read_bytes())
            return Distance(0.0 if right else 1.0, "" if right else "differs from the reference")
        assert isinstance(question, CompareSlots)
        return Compared(tuple(self._compare(question.key, number) for number in question.slots))

    def _slot(self, key: str, number: int) -> Slot:
        return self._offers[key].slots[number]

    def _fill(self, question: FillSlots) -> Filled:
        self.checks_asked += question.check
        for number in question.slots:
            slot = self._slot(question.key, number)
            if question.like:
                contents = self._wrote[question.like, number]
            else:
                contents = tuple(self._random.randbytes(one.size_bytes) for one in slot.inputs)
                self.filled += 1
            for window, data in zip(slot.inputs, contents, strict=True):
                _put(window, data)
            self._wrote[question.key, number] = contents
        return Filled(tuple(range(len(question.slots))), tuple("plain" for _ in question.slots))

    def _compare(self, key: str, number: int) -> SlotResult:
        expected = bytes((one + 1) % 256 for one in self._wrote[key, number][0])
        found = _get(self._slot(key, number).outputs[0])
        return SlotResult(0.0, "") if found == expected else SlotResult(1.0, "differs from the reference")


CODE = b"\x7fELF\x02\x01\x01\x00\x07" + bytes(9) + b"\xbe\x00" + bytes(28) + b"\x5a" + bytes(15)
"""The head of an ELF file for sm_90."""


def store(
    parent: Path, entry: str, size: int = 24, op: str = "elementwise", shape: tuple[int, ...] = (4,), dtype: str = "u8"
) -> Path:
    """Store a record whose one launch is an entry of the fake device; return its folder, a new one."""
    digest = hashlib.sha256(CODE).hexdigest()
    x, out = (
        TensorView(name, 0, (size // {"fp32": 4, "bf16": 2}.get(dtype, 1),), (1,), dtype) for name in ("x", "out")
    )
    step = Launch(digest, entry, (1, 1, 1), (32, 1, 1), (1, 1, 1), 0, (TensorAddress(x), TensorAddress(out)))
    made = LaunchRecord(
        v=VERSION, label=entry, op=op, shape=shape, dtype=dtype, target="sm_90",
        buffers=(Buffer("x", "input", size, 256, False), Buffer("out", "output", size, 256, True)),
        inputs=(Input("x", x),), outputs=(out,), steps=(step,), codes={digest: len(CODE)},
    )  # fmt: skip
    folder = parent / f"{entry}-{len(list(parent.iterdir()))}"
    (folder / OBJECTS).mkdir(parents=True)
    (folder / OBJECTS / digest).write_bytes(CODE)
    (folder / RECORD).write_bytes(canonical(made.to_json()))
    return folder


def programs(clock: Path) -> Starting:
    """Return how judge and reference are started as programs that share a clock, which may not exist yet."""
    world = SharedWorld(clock)

    def start(word: str) -> ProcessChannel:
        return ProcessChannel((sys.executable, "-P", __file__, word, str(clock)), word.strip("-"))

    def now_s() -> float:
        world.now += 20e-6
        return world.now

    return Starting(lambda: start("--serve"), lambda: start("--reference"), now_s)


def _put(window: Window, data: bytes) -> None:
    if window.handle:
        device, address = FakeDriver.exported[window.handle]
        device.poke(address + window.offset, data)
    else:
        Path(window.path).write_bytes(data)


def _get(window: Window) -> bytes:
    if window.handle:
        device, address = FakeDriver.exported[window.handle]
        return device.peek(address + window.offset, window.size_bytes)
    return Path(window.path).read_bytes()


def _main(words: list[str]) -> None:
    from kopt_kb.launch.record import profiled
    from kopt_kb.launch.record.judge import stored
    from kopt_kb.launch.record.service import Server, serve

    if words[0] == "--serve":
        world = SharedWorld(Path(words[1]))
        serve(Server(FakeDriver(world, ipc=False), stored), sys.stdin.buffer, sys.stdout.buffer)
        return
    if words[0] == "--profiled":
        profiled.main(words[1:], lambda _: FakeDriver(World()))
        return
    reference = FakeReference()
    for line in sys.stdin.buffer:
        question: Any = read(Open | FillSlots | CompareSlots | Close, parse(line))
        sys.stdout.buffer.write(canonical(reference.answer(question).to_json()) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        _main(sys.argv[1:])

"""Timed launches of one record: contents in slots, everything fresh before each launch, events around it.

A turn is what one side does in a row. Its first launch after the other side had the device is discarded by whoever
asked. Before each launch: the slot's contents into the input buffers, poison into outputs and scratch, a flush of twice
the last cache, a clock probe; the launch and its two events wait behind a hold until all of it is enqueued. After it
the outputs go to the slot's output windows.

Contents rest where no kernel can use them: in files that are read when the launch before is over, or in device memory
under a mask whose key this process keeps. A kernel below ten microseconds is timed as a chain: a graph of launches on
buffers of their own, each with contents of its own, less a chain of as many kernels that do nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.record.clock import BLOCK_BYTES, DeviceBench, Turn
from kopt_kb.launch.record.driver import Key
from kopt_kb.launch.record.exchange import Slot, Travel, Window
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.launch.record.replay import Replay

__all__ = ["MAX_SLOTS", "LoadedRecord"]

MAX_SLOTS = 80
"""Most slots that a record may be loaded with."""

_MOST_HELD_STEPS = 200
"""Most steps that wait behind a hold: the queue of a stream is finite, and the host would wait for it for ever."""

_HOST_LAUNCHES = 8
"""Launches in a graph of a host-timed chain."""

_WINDOW_BYTES = 256
"""Windows begin at multiples of this."""


class LoadedRecord:
    """One loaded record with its slots; a context manager.

    Args:
        record: A record that `check_record` let pass.
        code: Returns a code object by sha256.
        bench: The device.
        slots: How many contents it can hold.
        travel: How contents come; by files where the device offers no IPC or no mask.
        folder: Where files of contents lie.
        chain: Launches of a chain, each on buffers of its own; 0: single launches.
    """

    def __init__(
        self, record: LaunchRecord, code: Callable[[str], bytes], bench: DeviceBench, *, slots: int,
        travel: Travel, folder: Path, chain: int = 0,
    ) -> None:  # fmt: skip
        if not chain < slots <= MAX_SLOTS:
            raise BadInput(f"{slots} slots for a chain of {chain}, at most {MAX_SLOTS}", where="judge", code="KB440")
        self.record, self._bench, self._driver = record, bench, bench.driver
        both = bench.facts.ipc and bench.facts.probe
        self.travel: Travel = travel if both else "files"
        self._sizes = {one.name: one.size_bytes for one in record.buffers}
        self._inputs = tuple(one.view.buffer for one in record.inputs)
        self._outputs = tuple(view.buffer for view in record.outputs)
        unknown = {one.name for one in record.buffers if one.role == "input"} - set(self._inputs)
        if unknown:
            what = f"no input of the launcher lies in {', '.join(sorted(unknown))}"
            raise BadInput(what, where=record.label, fix="record it again", code="KB440")
        self._fixed = {one.name for one in record.buffers if one.role == "input" and not one.changed}
        self._sets = [Replay(record, code, bench.driver) for _ in range(max(chain, 1))]
        self._chain, self._count, self._folder = chain, slots, folder
        self._arena = 0
        self._keys: dict[int, Key] = {}
        self._launched_once = False
        self._graphs: tuple[Any, Any] | None = None
        self.slots: tuple[Slot, ...] = ()

    def __enter__(self) -> LoadedRecord:
        try:
            for one in self._sets:
                one.__enter__()
                one.load()  # never behind a hold: loading may wait for the device
            self.slots = self._offered()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._forget_graphs()
        for one in self._sets:
            one.__exit__()
        if self._arena:
            self._driver.free(self._arena)
            self._arena = 0

    # ---- contents ----------------------------------------------------------------------------

    def _offered(self) -> tuple[Slot, ...]:
        if self.travel == "files":
            return tuple(Slot(*(tuple(self._file(n, side, name) for name in names) for side, names in self._sides()))
                         for n in range(self._count))  # fmt: skip
        at, places = 0, []
        for _ in range(self._count):
            sides = []
            for _, names in self._sides():
                windows = []
                for name in names:
                    windows.append(Window(name, self._sizes[name], "-", at))
                    at += -(-self._sizes[name] // _WINDOW_BYTES) * _WINDOW_BYTES
                sides.append(tuple(windows))
            places.append(sides)
        size = -(-max(at, 1) // BLOCK_BYTES) * BLOCK_BYTES
        self._arena = self._driver.allocate(size)
        self._driver.fill(self._arena, b"\0", size)  # answers of a record that was loaded before may lie here
        self._driver.synchronize()  # before another process writes there
        handle = self._driver.export(self._arena)
        return tuple(Slot(*(tuple(Window(one.buffer, one.size_bytes, handle, one.offset) for one in side) for side in
                            sides)) for sides in places)  # fmt: skip

    def _sides(self) -> tuple[tuple[str, tuple[str, ...]], tuple[str, tuple[str, ...]]]:
        return ("in", self._inputs), ("out", self._outputs)

    def _file(self, number: int, side: str, name: str) -> Window:
        return Window(name, self._sizes[name], path=str(self._folder / f"{number}.{side}.{name}"))

    def seal(self, numbers: Sequence[int]) -> None:
        """Mask the contents of slots that were filled anew, each under a new key."""
        if self.travel == "ipc":
            for number in numbers:
                self._keys[number] = (secrets.randbits(64), secrets.randbits(64))
                for input_ in self.slots[number].inputs:
                    self._driver.mask(
                        self._arena + input_.offset,
                        self._arena + input_.offset,
                        input_.size_bytes,
                        self._key(number, input_),
                    )
            self._driver.synchronize()

    def _key(self, number: int, window: Window) -> Key:
        """Return the key of a window: that of its slot, moved by its place, so that no two share a stream."""
        first, second = self._keys[number]
        return (first + window.offset) % (1 << 64), second

    def _read(self, number: int) -> dict[str, bytes]:
        """Return a slot's contents where they come in files; only now, when no launch can see them."""
        if self.travel == "ipc":
            return {}
        given = {}
        for input_ in self.slots[number].inputs:
            path = Path(input_.path)
            if not path.is_file() or path.stat().st_size != input_.size_bytes:
                raise BadInput(
                    f"contents of {input_.buffer} are not there, or of another size", where="judge", code="KB454"
                )
            given[input_.buffer] = path.read_bytes()
        return given

    def _unmask(self, replay: Replay, number: int) -> None:
        if self.travel == "ipc":
            for one in self.slots[number].inputs:
                place = replay.place(one.buffer)
                self._driver.mask(place, self._arena + one.offset, one.size_bytes, self._key(number, one))

    def _hand_out(self, replay: Replay, number: int) -> None:
        """Enqueue the outputs' way to their windows, and the comparison of inputs that may not change."""
        if self.travel == "ipc":
            slot = self.slots[number]
            for one in slot.outputs:
                self._driver.copy(self._arena + one.offset, replay.place(one.buffer), one.size_bytes)
            for place, one in enumerate(slot.inputs):
                if one.buffer in self._fixed:
                    flag = self._bench.flag + 4 * (place % 256)
                    source = self._arena + one.offset
                    self._driver.differs(replay.place(one.buffer), source, one.size_bytes, self._key(number, one), flag)

    def _left(self, replay: Replay, number: int, given: dict[str, bytes]) -> list[str]:
        """Return what a launch did that it may not, and write output files."""
        slot = self.slots[number]
        if self.travel == "files":
            for one in slot.outputs:
                Path(one.path).write_bytes(self._driver.read(replay.place(one.buffer), one.size_bytes))
            return [*replay.guard_faults(), *replay.changed(given), *replay.unclean()]
        raised = self._driver.read(self._bench.flag, 4 * min(max(len(slot.inputs), 1), 256))
        names = [one.buffer for place, one in enumerate(slot.inputs) if raised[4 * (place % 256)]]
        changed = [f"input {name} was changed" for name in dict.fromkeys(names)]
        return [*replay.guard_faults(), *changed, *replay.unclean()]

    # ---- turns -------------------------------------------------------------------------------

    def turn(self, numbers: Sequence[int]) -> Turn:
        """Launch once a slot, in order; with a chain: once on the first slot, then the chain on the others."""
        if any(not 0 <= number < self._count for number in numbers):
            raise BadInput(f"slots {list(numbers)[:8]} of {self._count}", where="judge", code="KB440")
        self._move()
        one = self._sets[0]
        single = [self._launched([(one, number)], one.steps) for number in (numbers[:1] if self._chain else numbers)]
        if self._chain:
            single.append(self._chained(numbers[1:]))
        touched = [fault for launch in single for fault in launch.touched]
        return Turn(
            tuple(one.times_s[0] for one in single), tuple(one.clocks_hz[0] for one in single),
            tuple(one.whole_s[0] for one in single), tuple(one.host_s[0] for one in single),
            tuple(dict.fromkeys(touched)), self._driver.throttle(), single[-1].empty_s,
        )  # fmt: skip

    def _move(self) -> None:
        """Give every set of buffers other places; graphs hold addresses and are collected anew."""
        for one in self._sets:
            one.move()
            one.load()
        self._forget_graphs()

    def _forget_graphs(self) -> None:
        for graph in self._graphs or ():
            self._driver.discard(graph)
        self._graphs = None

    def _launched(self, pairs: Sequence[tuple[Replay, int]], steps: Callable[[], None]) -> Turn:
        """Prepare sets of buffers from slots, do what is timed, hand the outputs out."""
        driver, events = self._driver, self._bench.events
        given = [self._read(number) for _, number in pairs]
        for (replay, _), contents in zip(pairs, given, strict=True):
            if contents:
                replay.write(contents)
        driver.write(self._bench.flag, bytes(1024))
        driver.unpin()
        with self._held():
            driver.record(events[2])
            for replay, number in pairs:
                self._unmask(replay, number)
                replay.poison()
            self._bench.flush()
            self._bench.probe()
            driver.record(events[0])
            steps()
            driver.record(events[1])
            for replay, number in pairs:
                self._hand_out(replay, number)
            driver.record(events[3])
            begin = driver.now_s()
        driver.synchronize()
        end = driver.now_s()
        touched = [fault for (replay, number), contents in zip(pairs, given, strict=True)
                   for fault in self._left(replay, number, contents)]  # fmt: skip
        whole = driver.elapsed_s(events[2], events[3])
        return Turn(
            (driver.elapsed_s(*events[:2]),), (self._bench.clock_hz(),), (whole,), (end - begin,), tuple(touched)
        )

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Enqueue behind a hold, unless there is more to enqueue than a stream takes.

        Nor at the first launch: the driver may have to wait for the device then, to give a kernel local memory.
        """
        held = self._launched_once and len(self.record.steps) <= _MOST_HELD_STEPS
        self._launched_once = True
        if held:
            self._driver.hold()
        try:
            yield
        finally:
            if held:
                self._driver.release()

    def _chained(self, numbers: Sequence[int]) -> Turn:
        if len(numbers) != self._chain:
            raise BadInput(f"{len(numbers)} contents for a chain of {self._chain}", where="judge", code="KB440")
        chain, empty = self._ready()
        pairs = list(zip(self._sets, numbers, strict=True))
        whole = self._launched(pairs, lambda: self._driver.enqueue(chain))
        empty_s = self._empty(empty)
        each = (whole.times_s[0] - empty_s) / self._chain
        return Turn((each,), whole.clocks_hz, whole.whole_s, whole.host_s, whole.touched, (), empty_s / self._chain)

    def _ready(self) -> tuple[Any, Any]:
        """Return the graph of the chain and that of the empty one, built once."""
        if self._graphs is None:
            self._driver.capture()
            for one in self._sets:
                one.steps()
            chain = self._driver.captured()
            self._driver.capture()
            for _ in range(len(self.record.launches) * self._chain):
                self._driver.idle()
            self._graphs = chain, self._driver.captured()
        return self._graphs

    def _empty(self, graph: Any) -> float:
        driver, events = self._driver, self._bench.events
        with self._held():
            self._bench.flush()
            driver.record(events[4])
            driver.enqueue(graph)
            driver.record(events[5])
        driver.synchronize()
        return driver.elapsed_s(events[4], events[5])

    def host_chain(self, repeats: int, *, empty: bool) -> tuple[float, int]:
        """Do a graph of launches so many times without a pause, on what lies in the buffers.

        Args:
            repeats: How often.
            empty: Whether the record's steps are left out: what then remains is subtracted by whoever asks.

        Returns:
            The host's seconds for all, and how often the record is launched in it.
        """
        chain, without, each = self._host_graphs()
        graph, driver = (without if empty else chain), self._driver
        driver.synchronize()
        begin = driver.now_s()
        for _ in range(repeats):
            driver.enqueue(graph)
        driver.synchronize()
        return driver.now_s() - begin, repeats * each

    def _host_graphs(self) -> tuple[Any, Any, int]:
        """Return a graph with and one without the steps, and how many launches of the record the first has."""
        if self._chain:
            return *self._ready(), self._chain
        if self._graphs is None:
            graphs = []
            for steps in (self._sets[0].steps, lambda: None):
                self._driver.capture()
                for _ in range(_HOST_LAUNCHES):
                    self._bench.flush()
                    steps()
                graphs.append(self._driver.captured())
            self._graphs = graphs[0], graphs[1]
        return *self._graphs, _HOST_LAUNCHES

"""Judges for the rooms above: one that invents its answers, and real ones on simulated devices of one world."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.launch.candidate.answers import Contest
from kopt_kb.launch.judge.channel import ChildEndedError
from kopt_kb.launch.judge.judges import Judges, Starting
from kopt_kb.launch.judge.judging import Checked, Contested, JudgeDevice, Profile, Timed
from kopt_kb.launch.record.exchange import Close, CompareSlots, FillSlots, Open
from kopt_kb.launch.record.judge import load_record, stored
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.launch.record.reference import CompareFile, Prepare
from kopt_kb.launch.record.service import Greeting, HostChain, Load, Server, Take, TimeKnown, Unload

Cost = Callable[[LaunchRecord], float]
"""Seconds of a record's launches; zero: its results are wrong."""


class InventedJudge:
    """Judges records by a function of their content, and notes what it was asked."""

    pid = 4711
    faults = 0

    def __init__(self, cost: Cost) -> None:
        self.cost = cost
        self.asked: list[tuple[str, int]] = []
        self.closed = False
        self.slow_s = 0.0
        self.profiles = True

    def machine(self, ends_at: float = math.inf) -> JudgeDevice:
        """Return an invented device, which is there at once."""
        del ends_at
        return JudgeDevice("Invented", "00", "13000")

    def check(self, record: Path, reference: Path, checks: int, ends_at: float) -> Checked:
        """Return a small error, or that the result is wrong."""
        self._note("check", 1, ends_at)
        assert reference.is_file()
        right = self.cost(load_record(record)) > 0
        return Checked("" if right else "wrong", 1e-3 if right else None, checks)

    def time(
        self, records: Sequence[Path], reference: Path, launches: int, ends_at: float, *, again: bool = False
    ) -> list[Timed]:
        """Return times that wobble by a thousandth."""
        self._note("time", len(records), ends_at)
        assert reference.is_file()
        return [self._timed(record, launches) for record in records]

    def contest(
        self, sides: Mapping[str, Mapping[str, Path]], reference: Path, threshold: float, ends_at: float
    ) -> Contested:
        """Return the verdict that follows from the two costs."""
        self._note("contest", len(sides), ends_at)
        assert reference.is_file()
        timed = {shape: {side: self._timed(one, 24) for side, one in pair.items()} for shape, pair in sides.items()}
        wrong = [f"{side}: {one.problem}" for pair in timed.values() for side, one in pair.items() if one.problem]
        if wrong:
            return Contested(problem=wrong[0])
        times = {shape: {side: one.times_s for side, one in pair.items()} for shape, pair in timed.items()}
        gain = min(pair["incumbent"][0] / pair["candidate"][0] - 1 for pair in times.values())
        return Contested(Contest("faster" if gain > threshold else "not_faster", 100 * threshold, 100 * gain), times)

    def profile(self, record: Path, reference: Path, ends_at: float) -> Profile:
        """Return a report of the record's entries, or that there is no profiler."""
        self._note("profile", 1, ends_at)
        entries = tuple(one.entry for one in load_record(record).launches)
        return Profile("report", entries) if self.profiles else Profile(problem="no profiler")

    def _timed(self, record: Path, launches: int) -> Timed:
        cost = self.cost(load_record(record))
        return Timed(tuple(cost * (1 + 1e-3 * (at % 3)) for at in range(launches)), "" if cost else "wrong")

    def _note(self, what: str, count: int, ends_at: float) -> None:
        self.asked.append((what, count))
        time.sleep(self.slow_s)
        if time.monotonic() > ends_at:
            raise TimeoutError(f"the {what} is not over")

    def close(self) -> None:
        """Note it."""
        self.closed = True


@pytest.fixture
def invented() -> type[InventedJudge]:
    """The class of the judge in memory."""
    return InventedJudge


_SUM = """
import torch
import triton
import triton.language as tl

OP = "elementwise"
BLOCK = {block}


@triton.jit
def add(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)


def make_inputs(shape, dtype, device="cuda", seed=0):
    return torch.zeros(shape, device=device), torch.zeros(shape, device=device)


def reference(x, y):
    return x.double() + y.double()


def launch(x, y, *, config=None, out=None):
    out = torch.empty_like(x) if out is None else out
    block = (config or {{}}).get("BLOCK", BLOCK)
    {more}
    add[(triton.cdiv(x.numel(), block),)](x, y, out, x.numel(), BLOCK=block)
    return out
"""


@pytest.fixture
def launcher() -> Callable[..., bytes]:
    """Returns the source of a sum: `block` elements a program, `more` is a line of its launcher."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    return lambda block=128, more="pass": _SUM.format(block=block, more=more).encode()


class Local:
    """A child in this process, over lines all the same."""

    pid = 4712

    def __init__(self, server: Any, greeting: Any = None, world: Any = None) -> None:
        self.server, self.greeting, self.world = server, greeting, world
        self.ended = False

    def first(self, kind: Any, limit_s: float) -> Any:
        return read(kind, parse(canonical(self.greeting.to_json())))

    def ask(self, question: Any, kind: Any, limit_s: float) -> Any:
        if self.ended:
            raise ChildEndedError("has ended")
        union: Any = (
            Load
            | Take
            | TimeKnown
            | HostChain
            | Unload
            | Open
            | FillSlots
            | CompareSlots
            | Close
            | Prepare
            | CompareFile
        )
        if self.world is not None:
            self.world.now += 20e-6
        try:
            answer = self.server.answer(read(union, parse(canonical(question.to_json()))))
        except SystemExit as error:
            self.ended = True
            raise ChildEndedError(f"ended: {error}") from None
        return read(kind, parse(canonical(answer.to_json())))

    def end(self) -> None:
        self.ended = True


class Lab:
    """Judges on fake devices; `started` are the devices in the order of their start."""

    def __init__(self, fake: ModuleType, folder: Path) -> None:
        self.fake, self.folder = fake, folder
        self.world = fake.World()
        self.reference = fake.FakeReference()
        self.started: list[Any] = []
        self.device: dict[str, Any] = {}

    def _judge(self) -> Local:
        driver = self.fake.FakeDriver(self.world, **self.device)
        self.started.append(driver)
        server = Server(driver, stored)
        return Local(server, Greeting(server.device), self.world)

    def starting(self) -> Starting:
        return Starting(self._judge, lambda: Local(self.reference), lambda: self.world.now)

    def judges(self) -> Judges:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        return Judges(self.starting(), folder / "reference.py", folder)


@pytest.fixture
def lab(fake: ModuleType, tmp_path: Path) -> Lab:
    """A world with judges to be made."""
    (tmp_path / "contents").mkdir()
    return Lab(fake, tmp_path / "contents")

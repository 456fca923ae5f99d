"""A judge in memory: times and errors follow from what a kernel's launcher says of itself in its scalar arguments."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from kopt_kb.kernels.record.judge import load_record
from kopt_kb.kernels.record.model import LaunchRecord
from kopt_kb.runners.candidate.answers import Contest
from kopt_kb.runners.replay.judging import Checked, Contested, Machine, Timed

Cost = Callable[[LaunchRecord], float]
"""Seconds of a record's launches; zero: its results are wrong."""


class InventedJudge:
    """Judges records by a function of their content, and notes what it was asked."""

    pid = 4711

    def __init__(self, cost: Cost) -> None:
        self.cost = cost
        self.asked: list[tuple[str, int]] = []
        self.closed = False
        self.slow_s = 0.0

    def machine(self) -> Machine:
        """Return an invented device."""
        return Machine("Invented", "00", "13000")

    def check(self, record: Path, reference: Path, checks: int, ends_at: float) -> Checked:
        """Return a small error, or that the result is wrong."""
        self._note("check", 1, ends_at)
        assert reference.is_file()
        right = self.cost(load_record(record)) > 0
        return Checked("" if right else "wrong", 1e-3 if right else None, checks)

    def time(self, records: Sequence[Path], reference: Path, launches: int, ends_at: float) -> list[Timed]:
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

"""Times in the output of TileGym's benchmarks: lines `Cutile: {'forward': {'mean': …}} ms` of `--print-record`."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire

__all__ = ["BenchRow", "BenchTime", "bench_rows", "read_bench_log"]

_LINE = re.compile(r"^.*?\b(?P<backend>[A-Za-z][\w.-]*)\s*:\s*(?P<times>\{.*\})\s*(?P<unit>ms|us|s)\s*$")
_TEST = re.compile(r"(?P<test>\S+\.py::\S+)")
_NUMBERS = ("mean", "median", "min", "max", "std", "nrep", "peak_mem_mb")
_MS = {"ms": 1.0, "us": 1e-3, "s": 1e3}
_SHAPE = re.compile(r"(?<![\w.])\d+(?:x\d+)+(?![\w.])")
_FAILED = re.compile(r"^(?:FAILED|ERROR)\s+(\S+)|^(\S+\.py::\S+)\s+(?:FAILED|ERROR)\b", re.MULTILINE)
_TIMES = ("mean", "median", "min", "max", "std")


@dataclass(frozen=True, slots=True)
class BenchTime(Wire):
    """One time.

    Attributes:
        test: pytest's name of the test; empty where the log has none.
        backend: Who was timed, as the log spells it.
        part: forward or backward.
        line: Line of the log.
        mean_ms: Mean, which the loop takes for the latency.
        median_ms: Median.
        min_ms: Least.
        max_ms: Largest.
        std_ms: Standard deviation.
        repeats: Runs.
        peak_mb: Memory.
    """

    test: str
    backend: str
    part: str
    line: int
    mean_ms: float
    median_ms: float | None = None
    min_ms: float | None = None
    max_ms: float | None = None
    std_ms: float | None = None
    repeats: int | None = None
    peak_mb: float | None = None


@dataclass(frozen=True, slots=True)
class BenchRow(Wire):
    """One shape's row of a CSV that `kb tune` reads in a project.

    Attributes:
        test: pytest's name.
        shape: Of the problem.
        check: `PASS`, or `FAIL` where pytest says that the test failed.
        forward_ms: Mean of the forward pass.
        backward_ms: Mean of the backward pass; None without one.
    """

    test: str
    shape: str
    check: str
    forward_ms: float
    backward_ms: float | None = None


def bench_rows(
    times: Sequence[BenchTime], text: str, shapes: Mapping[str, str], backend: str = "Cutile", where: str = "log"
) -> tuple[BenchRow, ...]:
    """Return a row for each test of a backend.

    Args:
        times: What was read in the log.
        text: The log, whose summary says which tests failed.
        shapes: Part of a test's name → shape, for tests whose name has none; an empty part fits all.
        backend: Whose times.
        where: The log, for errors.

    Raises:
        BadInput: The backend has no times, or nobody says of which shape a test is.
    """
    own = [one for one in times if one.backend.casefold() == backend.casefold()]
    if not own:
        fix = f"it has times of {', '.join(sorted({one.backend for one in times}))}"
        raise BadInput(f"no times of {backend}", where=where, fix=fix, code="KB116")
    failed = {one or other for one, other in _FAILED.findall(text)}
    rows: dict[str, dict[str, float]] = {}
    for one in own:
        rows.setdefault(one.test, {})[one.part or "forward"] = one.mean_ms
    return tuple(
        BenchRow(
            test, _shape_of(test, shapes, where), "FAIL" if test in failed else "PASS", parts.get("forward", 0.0),
            parts.get("backward"),
        )
        for test, parts in rows.items()
    )  # fmt: skip


def _shape_of(test: str, shapes: Mapping[str, str], where: str) -> str:
    named = next((shape for part, shape in shapes.items() if part in test), "")
    found = _SHAPE.findall(test.partition("[")[2])
    if not named and len(found) != 1:
        fix = "say it: --shape WORD=MxN, where WORD stands in the test's name"
        raise BadInput(f"of which shape is {test or 'a line without a test'}?", where=where, fix=fix, code="KB102")
    return named or found[0]


def read_bench_log(text: str, where: str = "log") -> tuple[BenchTime, ...]:
    """Return the times of a log, in order.

    Raises:
        BadInput: It has none, or a line that looks like one and is none; the error names it.
    """
    found, test = list[BenchTime](), ""
    for number, line in enumerate(text.splitlines(), 1):
        named = _TEST.search(line) if ".py::" in line else None  # else the search of a long word is quadratic
        test = named["test"] if named else test
        said = _LINE.match(line) if "mean" in line else None
        if said and "mean" in said["times"]:
            found += _times(said, test, number, f"{where}:{number}")
    if not found:
        fix = "run the benchmark with --print-record: Cutile: {'forward': {'mean': ...}} ms"
        raise BadInput("no line of times", where=where, fix=fix, code="KB116")
    return tuple(found)


def _times(said: re.Match[str], test: str, number: int, where: str) -> list[BenchTime]:
    try:
        held = ast.literal_eval(said["times"])
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise BadInput(
            "the times are no Python dictionary", where=where, fix="keep the line whole", code="KB116"
        ) from error
    parts = held if isinstance(held, dict) and all(isinstance(one, dict) for one in held.values()) else {"": held}
    return [_time(said, test, str(part), number, one, where) for part, one in parts.items()]


def _time(said: re.Match[str], test: str, part: str, number: int, held: object, where: str) -> BenchTime:
    numbers = {name: _number(held, name, where) for name in _NUMBERS}
    if numbers["mean"] is None:
        raise BadInput(f"no mean for {part or said['backend']}", where=where, fix="keep the line whole", code="KB116")
    ms = {name: None if numbers[name] is None else numbers[name] * _MS[said["unit"]] for name in _TIMES}  # type: ignore[operator]
    repeats = numbers["nrep"]
    return BenchTime(
        test, said["backend"], part, number, ms["mean"] or 0.0, ms["median"], ms["min"], ms["max"], ms["std"],
        None if repeats is None else int(repeats), numbers["peak_mem_mb"],
    )  # fmt: skip


def _number(held: object, name: str, where: str) -> float | None:
    value = held.get(name) if isinstance(held, dict) else None
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise BadInput(f"{name} is {value!r}, no time", where=where, fix="keep the line whole", code="KB116")
    return float(value)

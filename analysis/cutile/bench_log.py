"""Times in the output of TileGym's benchmarks: lines `Cutile: {'forward': {'mean': …}} ms` of `--print-record`."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass

from kopt_kb.errors import BadInput
from kopt_kb.wire import Wire

__all__ = ["BenchTime", "read_bench_log"]

_LINE = re.compile(r"^.*?\b(?P<backend>[A-Za-z][\w.-]*)\s*:\s*(?P<times>\{.*\})\s*(?P<unit>ms|us|s)\s*$")
_TEST = re.compile(r"(?P<test>\S+\.py::\S+)")
_NUMBERS = ("mean", "median", "min", "max", "std", "nrep", "peak_mem_mb")
_MS = {"ms": 1.0, "us": 1e-3, "s": 1e3}
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


def read_bench_log(text: str, where: str = "log") -> tuple[BenchTime, ...]:
    """Return the times of a log, in order.

    Raises:
        BadInput: It has none, or a line that looks like one and is none; the error names it.
    """
    found, test = list[BenchTime](), ""
    for number, line in enumerate(text.splitlines(), 1):
        named = _TEST.search(line)
        test = named["test"] if named else test
        said = _LINE.match(line)
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

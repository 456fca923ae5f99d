"""How long a kernel takes: medians with their spread, cold caches, functions in turn."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.base.wire import Wire

__all__ = [
    "Samples",
    "interleave",
    "measure",
    "summarise",
]

Timer = Callable[[], float]
"""Runs a function once and returns its duration in seconds."""

_LEAST_SAMPLES = 3
_LIKELY_DEVIATION = 1.4826  # standard deviation of a normal distribution, in median absolute deviations


@dataclass(frozen=True, slots=True)
class Samples(Wire):
    """Summary of repeated durations of one function.

    Attributes:
        median_s: Median duration, in seconds.
        p20_s: Duration that a fifth of the runs undercut, in seconds.
        p80_s: Duration that four fifths undercut, in seconds.
        min_s: Shortest duration, in seconds.
        spread_pct: 1.4826 times the median absolute deviation, in percent of the median.
        count: Number of runs.
    """

    median_s: float
    p20_s: float
    p80_s: float
    min_s: float
    spread_pct: float
    count: int


def summarise(durations_s: Sequence[float]) -> Samples:
    """Return the summary of durations in seconds.

    Raises:
        BadInput: Fewer than three, or one that is not a positive finite number.
    """
    ordered = sorted(_checked(durations_s))
    median = statistics.median(ordered)
    deviation = statistics.median(abs(one - median) for one in ordered)
    return Samples(
        median_s=median,
        p20_s=_quantile(ordered, 0.2),
        p80_s=_quantile(ordered, 0.8),
        min_s=ordered[0],
        spread_pct=100 * _LIKELY_DEVIATION * deviation / median,
        count=len(ordered),
    )


def interleave(timers: Sequence[Timer], rounds: int) -> tuple[tuple[float, ...], ...]:
    """Return durations in seconds of functions run in turn; every other round runs them in reverse order.

    Drift of the clock then meets all of them alike, and none is always first.

    Args:
        timers: Each runs its function once.
        rounds: How often each runs.
    """
    found: list[list[float]] = [[] for _ in timers]
    for turn in range(rounds):
        order = range(len(timers)) if turn % 2 == 0 else range(len(timers) - 1, -1, -1)
        for place in order:
            found[place].append(timers[place]())
    return tuple(tuple(one) for one in found)


def measure(
    functions: Sequence[Callable[[], object]],
    *,
    rounds: int = 100,
    warmup: int = 10,
    flush_bytes: int | None = None,
    before: Sequence[Callable[[], object]] = (),
) -> tuple[tuple[float, ...], ...]:
    """Return durations in seconds on the GPU of functions run in turn with a cold L2.

    Args:
        functions: Each launches its work on the current stream.
        rounds: Timed runs of each.
        warmup: Untimed runs of each before.
        flush_bytes: Bytes written before each run to evict the cache; twice the device's L2 if None.
        before: One a function, called before each of its timed runs and outside the time, such as what spoils the
            output; the cache is flushed after it.

    Raises:
        MissingTool: No torch or no GPU.
    """
    torch = _torch_with_gpu()
    device = torch.cuda.current_device()
    size = flush_bytes or 2 * int(torch.cuda.get_device_properties(device).L2_cache_size)
    cold = torch.empty(size, dtype=torch.int8, device=device)
    for function in functions:
        for _ in range(warmup):
            function()
    torch.cuda.synchronize()
    first = before or [_nothing] * len(functions)
    pairs = zip(functions, first, strict=True)
    return interleave([_event_timer(torch, function, cold, once) for function, once in pairs], rounds)


def _nothing() -> None:
    """Do nothing before a run."""


def _event_timer(torch: Any, function: Callable[[], object], cold: Any, once: Callable[[], object]) -> Timer:
    def timed() -> float:
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        once()
        cold.zero_()
        start.record()
        function()
        stop.record()
        stop.synchronize()
        return float(start.elapsed_time(stop)) * 1e-3

    return timed


def _torch_with_gpu() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingTool("torch is not installed", fix="install kopt-kb[gpu]", code="KB120") from error
    if not torch.cuda.is_available():
        raise MissingTool("no GPU is visible to torch", fix="run on a machine with a GPU", code="KB122")
    return torch


def _checked(durations_s: Sequence[float]) -> list[float]:
    if len(durations_s) < _LEAST_SAMPLES:
        raise BadInput(f"{len(durations_s)} runs are too few", fix=f"measure at least {_LEAST_SAMPLES}", code="KB076")
    for one in durations_s:
        if not (math.isfinite(one) and one > 0):
            raise BadInput(f"{one!r} s is not a duration", fix="measure again", code="KB097")
    return list(durations_s)


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])

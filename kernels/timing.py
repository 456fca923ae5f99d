"""How long a kernel takes: medians with their spread, cold caches, interleaved comparison, noise floor."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from kopt_kb.errors import BadInput, MissingTool
from kopt_kb.wire import Wire

__all__ = [
    "Comparison",
    "Samples",
    "compare_samples",
    "interleave",
    "measure",
    "noise_floor",
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


@dataclass(frozen=True, slots=True)
class Comparison(Wire):
    """A candidate against the incumbent, run alternately in one process.

    Attributes:
        incumbent: Durations of the incumbent.
        candidate: Durations of the candidate.
        gain_pct: Median over pairs of (incumbent / candidate − 1), in percent; positive is faster.
        gain_low_pct: Lower end of the gain's 95 % confidence interval (order statistics), in percent.
        gain_high_pct: Upper end, in percent.
        noise_pct: Gain that the incumbent seems to have over itself, in percent.
    """

    WIRE: ClassVar = (
        "incumbent", "candidate", "gain_pct", "gain_low_pct", "gain_high_pct", "noise_pct", "faster", "slower",
    )  # fmt: skip
    incumbent: Samples
    candidate: Samples
    gain_pct: float
    gain_low_pct: float
    gain_high_pct: float
    noise_pct: float

    @property
    def faster(self) -> bool:
        """Whether the gain is above the noise floor and its interval excludes zero."""
        return self.gain_pct > self.noise_pct and self.gain_low_pct > 0

    @property
    def slower(self) -> bool:
        """Whether the loss is beyond the noise floor and its interval excludes zero."""
        return self.gain_pct < -self.noise_pct and self.gain_high_pct < 0


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


def compare_samples(
    incumbent_s: Sequence[float], candidate_s: Sequence[float], *, noise_pct: float = 0.0
) -> Comparison:
    """Return the comparison of paired durations: the i-th of each ran next to each other.

    Raises:
        BadInput: Numbers of runs differ, or as `summarise`.
    """
    if len(incumbent_s) != len(candidate_s):
        raise BadInput(
            f"{len(incumbent_s)} runs against {len(candidate_s)}", fix="run both equally often", code="KB096"
        )
    pairs = zip(_checked(incumbent_s), _checked(candidate_s), strict=True)
    gains = sorted(100 * (old / new - 1) for old, new in pairs)
    low, high = _median_interval(len(gains))
    return Comparison(
        incumbent=summarise(incumbent_s),
        candidate=summarise(candidate_s),
        gain_pct=statistics.median(gains),
        gain_low_pct=gains[low],
        gain_high_pct=gains[high],
        noise_pct=noise_pct,
    )


def noise_floor(runs_s: Sequence[Sequence[float]]) -> float:
    """Return the noise of repeated measurements of the same function, in percent of their median.

    It is the largest deviation of a run's median from the median of all runs' medians.

    Args:
        runs_s: Durations in seconds of at least two runs.
    """
    medians = [statistics.median(_checked(run)) for run in runs_s]
    if len(medians) < 2:
        raise BadInput("one run has no noise to show", fix="measure at least twice", code="KB076")
    centre = statistics.median(medians)
    return 100 * max(abs(one - centre) for one in medians) / centre


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


def _median_interval(count: int) -> tuple[int, int]:
    """Return places of the order statistics that hold the median with at least 95 % confidence.

    Binomial distribution with p = 1/2 (sign test); the whole range when there are too few values.
    """
    below, low = 0.0, 0
    for place in range(count // 2):
        below += math.comb(count, place) / 2**count
        if below > 0.025:
            break
        low = place
    return low, count - 1 - low

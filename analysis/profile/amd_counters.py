"""Work out of AMD counters: FLOPs, bytes, hits and use of the units by the sourced formulas of the wiki."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from kopt_kb.analysis.profile.formulas import Formula, load_formulas
from kopt_kb.quantity import Exactness

__all__ = ["AmdDevice", "CountedMetrics", "averaged_counters", "count_amd", "counter_passes", "counters_used"]

_SUM = "_sum"
_CACHED_SETS = 1024
_COUNTERS_PER_PASS = 4  # more counters of one block than that do not fit one pass on CDNA
_BASE_COUNTER = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?:_sum)?")


@dataclass(frozen=True, slots=True)
class AmdDevice:
    """What a report says about a device; None is not said.

    Attributes:
        name: Product name or agent label.
        target: Compiler target, such as `gfx942`; empty when unknown.
        cu_count: Compute units of the device.
        num_xcd: Dies whose counters the profiler adds up.
        wave_threads: Work-items of a wave.
        max_waves_per_cu: Waves a compute unit can hold.
        lds_banks: Banks of the LDS of a compute unit.
        l2_channels: Channels of L2, over all dies.
    """

    name: str = ""
    target: str = ""
    cu_count: int | None = None
    num_xcd: int | None = None
    wave_threads: int | None = None
    max_waves_per_cu: int | None = None
    lds_banks: int | None = None
    l2_channels: int | None = None

    def parameters(self) -> dict[str, float]:
        """Return the known parameters of formulas by name; 0 is not known."""
        named = {
            "cu_count": self.cu_count,
            "num_xcd": self.num_xcd,
            "max_waves_per_cu": self.max_waves_per_cu,
            "lds_banks": self.lds_banks,
            "l2_channels": self.l2_channels,
        }
        return {name: float(value) for name, value in named.items() if value}


@dataclass(frozen=True, slots=True)
class CountedMetrics:
    """Metrics by vocabulary id, and which of them are bounds."""

    metrics: dict[str, float] = field(default_factory=dict)
    bounds: dict[str, Exactness] = field(default_factory=dict)


def count_amd(counters: Mapping[str, float], device: AmdDevice) -> CountedMetrics:
    """Return what the counters say, by the formulas of `gpuwiki/counters/amd_*.md`.

    Args:
        counters: Sums or means by the tool's names; `X` stands for `X_sum` where only it was collected.
        device: The device they were collected on.

    A metric without its counters, or with a divisor of 0, has no entry.
    """
    if not counters:
        return CountedMetrics()
    values = {name: counters[name] for name in _needed() if name in counters}
    values.update({name: counters[base] for name, base in _sums_needed() if name not in counters and base in counters})
    values.update(device.parameters())
    metrics = CountedMetrics()
    for formula in _usable(frozenset(values), device.target):
        if formula.metric in metrics.metrics:
            continue
        value = formula.expression.value(values)
        if value is None or value < 0:
            continue
        metrics.metrics[formula.metric] = value
        if formula.bound != "exact" and value:
            metrics.bounds[formula.metric] = formula.bound
    _device_memory(metrics)
    return metrics


@lru_cache(maxsize=1)
def averaged_counters() -> frozenset[str]:
    """Return the counters that are ratios of the tool: weighted by time over launches, never summed."""
    return frozenset(name for one in load_formulas() if one.by_time for name in one.expression.names)


@lru_cache(maxsize=1)
def counters_used() -> frozenset[str]:
    """Return the counters that any formula reads, also without the end that stands for their sum."""
    return _needed() | {name.removesuffix(_SUM) for name in _needed()}


@lru_cache(maxsize=1)
def _needed() -> frozenset[str]:
    return frozenset(name for one in load_formulas() for name in one.expression.names)


@lru_cache(maxsize=1)
def _sums_needed() -> tuple[tuple[str, str], ...]:
    """Counters summed over instances, and the name under which some tools print that sum."""
    return tuple((name, name.removesuffix(_SUM)) for name in _needed() if name.endswith(_SUM))


@lru_cache(maxsize=_CACHED_SETS)
def _usable(names: frozenset[str], target: str) -> tuple[Formula, ...]:
    return tuple(one for one in load_formulas() if names.issuperset(one.expression.names) and one.holds_for(target))


def _device_memory(metrics: CountedMetrics) -> None:
    """Book fabric traffic as a bound of DRAM traffic: requests that a memory-side cache answers are in it."""
    for kind in ("read", "write"):
        value = metrics.metrics.get(f"fabric_{kind}_bytes")
        if value is not None:
            metrics.metrics[f"dram_{kind}_bytes"] = value
            metrics.bounds[f"dram_{kind}_bytes"] = metrics.bounds.get(f"fabric_{kind}_bytes", "upper")
    parts = [metrics.metrics.get(f"dram_{kind}_bytes") for kind in ("read", "write")]
    known = [one for one in parts if one is not None]
    if len(known) == len(parts):
        metrics.metrics["dram_bytes"] = sum(known)
        lower = "lower" in {metrics.bounds[f"dram_{kind}_bytes"] for kind in ("read", "write")}
        metrics.bounds["dram_bytes"] = "lower" if lower else "upper"


def counter_passes(target: str, metrics: Collection[str] | None = None) -> tuple[tuple[str, ...], ...]:
    """Return the counters that the wiki's formulas read on a target, in groups that fit one pass each.

    Args:
        target: `gfx942`, …; empty takes the formulas that hold for any.
        metrics: Vocabulary ids that are wanted; None takes every formula. Of several formulas of a metric the first
            that needs basic counters alone counts.
    """
    names: dict[str, None] = {}
    done: set[str] = set()
    for formula in load_formulas():
        counters = [one for one in formula.expression.names if not one.islower()]
        basic = [one for one in counters if _BASE_COUNTER.fullmatch(one)]
        if not formula.holds_for(target) or (metrics is not None and formula.metric not in metrics):
            continue
        if metrics is not None and (formula.metric in done or len(basic) < len(counters)):
            continue
        done.add(formula.metric)
        names.update(dict.fromkeys(basic))
    blocks: dict[str, list[str]] = {}
    for name in sorted(names):
        blocks.setdefault(name.partition("_")[0], []).append(name)
    passes: list[list[str]] = []
    for block in blocks.values():
        for start in range(0, len(block), _COUNTERS_PER_PASS):
            at = start // _COUNTERS_PER_PASS
            if at == len(passes):
                passes.append([])
            passes[at] += block[start : start + _COUNTERS_PER_PASS]
    return tuple(tuple(one) for one in passes)

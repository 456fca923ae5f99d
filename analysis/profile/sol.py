"""ncu's own Speed-of-Light class, computed again from the metrics it is based on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from kopt_kb.analysis.profile.families import SolClass
from kopt_kb.analysis.profile.launch import StoredRule

__all__ = ["SOL_RULE_TITLES", "sol_class", "sol_class_of", "stored_sol_class"]

_HIGH_PCT = 80.0
_LOW_PCT = 60.0
_APART_PCT = 10.0
_ONE_WAVE = 1.0

SOL_RULE_TITLES: Mapping[str, SolClass] = {
    "Small Grid": "small_grid",
    "Latency Issue": "latency",
    "High Compute Throughput": "compute",
    "High Memory Throughput": "memory",
    "Balanced Throughput": "balanced",
    "High Throughput": "high_throughput",
}
"""Titles of the stored rule `SOLBottleneck` and the class each stands for."""


class _Profiled(Protocol):
    @property
    def metrics(self) -> Mapping[str, float]: ...


class _Ruled(Protocol):
    @property
    def rules(self) -> Iterable[StoredRule]: ...


def sol_class(profile: _Profiled) -> SolClass | None:
    """Return ncu's class of a profile or a launch, None when a metric it needs was not collected."""
    return sol_class_of(profile.metrics)


def sol_class_of(metrics: Mapping[str, float]) -> SolClass | None:
    """Return ncu's class from `sm_sol_pct`, `memory_sol_pct` and, where both are low, `waves_per_sm`.

    Rule `SOLBottleneck` of the Nsight Compute section files: 80 % makes a throughput high, under 60 % both are
    low, and a lead of 10 points decides between compute and memory.
    """
    compute_pct, memory_pct = metrics.get("sm_sol_pct"), metrics.get("memory_sol_pct")
    if compute_pct is None or memory_pct is None:
        return None
    if compute_pct >= _HIGH_PCT or memory_pct >= _HIGH_PCT:
        return "high_throughput"
    if compute_pct < _LOW_PCT and memory_pct < _LOW_PCT:
        waves = metrics.get("waves_per_sm")
        if waves is None:
            return None
        return "small_grid" if waves < _ONE_WAVE else "latency"
    if abs(compute_pct - memory_pct) < _APART_PCT:
        return "balanced"
    return "compute" if compute_pct > memory_pct else "memory"


def stored_sol_class(launch: _Ruled) -> SolClass | None:
    """Return the class that ncu stored in the report, None when its rule did not run at collection."""
    for rule in launch.rules:
        if rule.rule == "SOLBottleneck" and rule.title in SOL_RULE_TITLES:
            return SOL_RULE_TITLES[rule.title]
    return None

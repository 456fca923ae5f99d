"""The closed table of bottlenecks: classes, their limiters, and seed words derived from the limiter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

__all__ = ["CLASSES", "LIMITERS", "ROOT_CAUSES", "BottleneckClass", "class_of"]

BottleneckClass = Literal[
    "memory-bound", "compute-bound", "latency-bound", "launch-bound", "communication", "balanced", "insufficient-data"
]

CLASSES: Mapping[BottleneckClass, tuple[str, ...]] = {
    "memory-bound": ("dram", "l2", "l1", "shared", "uncoalesced", "bank-conflict", "spill", "memory"),
    "compute-bound": ("tensor", "fp32", "fp64", "sfu", "int", "issue", "divergence", "compute"),
    "latency-bound": (
        "dependency",
        "barrier",
        "atomics",
        "occupancy-registers",
        "occupancy-shared",
        "occupancy-blocks",
        "small-grid",
        "tail",
        "imbalance",
        "latency",
    ),
    "launch-bound": ("launch-overhead",),
    "communication": ("communication",),
    "balanced": ("balanced",),
    "insufficient-data": ("insufficient-data",),
}
"""Limiters of each class."""

LIMITERS: Mapping[str, BottleneckClass] = {one: name for name, limiters in CLASSES.items() for one in limiters}
"""Class of each limiter."""

_BY_CAUSE = {
    "memory": ("dram", "l2", "l1", "shared", "uncoalesced", "bank-conflict", "memory"),
    "register_pressure": ("spill", "occupancy-registers"),
    "compute": ("tensor", "fp32", "fp64", "sfu", "int", "issue", "divergence", "compute"),
    "occupancy": ("occupancy-shared", "occupancy-blocks"),
    "latency": ("dependency", "barrier", "atomics", "latency"),
    "scheduling": ("small-grid", "tail", "imbalance", "launch-overhead", "communication"),
    "unknown": ("balanced", "insufficient-data"),
}
ROOT_CAUSES: Mapping[str, str] = {limiter: cause for cause, limiters in _BY_CAUSE.items() for limiter in limiters}
"""Root cause of each limiter; `scheduling` and `unknown` are the two that are escalated to the user."""


def class_of(limiter: str) -> BottleneckClass:
    """Return the class of a limiter; raises KeyError for a word outside the table."""
    return LIMITERS[limiter]

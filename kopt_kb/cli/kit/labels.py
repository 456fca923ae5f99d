"""Rows of the wiki for people: a quantity with the conditions that its source states, a value with its prefix."""

from __future__ import annotations

from kopt_kb.quantity.readable import spoken
from kopt_kb.wiki.row import Row

__all__ = ["label", "label_of", "readable_unit"]

_NAMED = {"acc", "clock", "bytes", "shape", "config", "scope", "multiplier"}
"""Conditions whose value says nothing without their name."""
_SILENT = "unstated"
"""What a source does not say; it would stand on nearly every line."""


def label(metric: str, axes: tuple[tuple[str, str], ...]) -> str:
    """Return a metric with its conditions, such as `peak_compute [bf16 matrix dense acc=fp32]`."""
    stated = [(axis, value) for axis, value in axes if value != _SILENT]
    if not stated:
        return metric
    return f"{metric} [{' '.join(f'{axis}={value}' if axis in _NAMED else value for axis, value in stated)}]"


def label_of(key: str) -> str:
    """Return the label of a key, such as `peak_compute[dtype=bf16;engine=matrix]`."""
    metric, _, rest = key.partition("[")
    pairs = [one.partition("=") for one in rest.rstrip("]").split(";") if one]
    return label(metric, tuple((axis, value) for axis, _, value in pairs))


def readable_unit(row: Row) -> str:
    """Return the unit beside a value, with the value as people say it where it is printed with many digits."""
    if row.unit == "-" or row.kind in {"unknown", "none"}:
        return ""
    short = spoken(row.value, row.unit)
    return f"{row.unit} = {short}" if short else row.unit

"""Hardware records: the JSON in which other wikis hold a product's peaks, memory and processors, one file each.

The form is that of alibaba/atrex-kernel-agent (`gpu-wiki/hardware_wiki`, schema `hw-1.0`): an identity and facts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import JSON
from kopt_kb.quantity.units import UNITS
from kopt_kb.wiki.foreign_row import ForeignRow
from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.vocabulary import AXES

__all__ = ["is_record", "read_record"]

_SCHEMA = re.compile(r"hw-\d+(?:\.\d+)*")
_MEMBER = re.compile(r'"((?:[^"\\]|\\.)*)"(?:\s*:\s*(-?\d[\d.eE+\-]*))?')
_ENGINES = {"tensor-core": "matrix", "cuda-core": "vector"}
_SPARSITIES = {"dense": "dense", "sparse_2to4": "2:4"}
_MEMBERS: dict[tuple[str, str], tuple[str, str]] = {
    ("memory", "capacity_gb"): ("memory_capacity", "GB"),
    ("memory", "bandwidth_gbs"): ("memory_bandwidth", "GB/s"),
    ("memory", "l2_cache_mb"): ("l2_capacity", "MB"),
    ("compute_units", "sm_count"): ("sm_count", "count"),
    ("compute_units", "tensor_cores"): ("matrix_units", "count"),
    ("compute_units", "shared_memory_kb_per_sm"): ("shared_memory_per_sm", "kB"),
}
"""Group and member of a record → metric and the unit that the member's name says."""


@dataclass(frozen=True, slots=True)
class _Number:
    """A member that is a number: where it stands in the document, its text, and its line."""

    path: tuple[str | int, ...]
    text: str
    line: int


def is_record(text: str) -> bool:
    """Return whether a text is a record of hardware facts."""
    try:
        body: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(_at(body, "facts"), dict) and _SCHEMA.fullmatch(str(_at(body, "schema"))) is not None


def _at(value: JSON, *keys: str | int) -> JSON:
    """Return a member of members, None when there is none."""
    for key in keys:
        if isinstance(value, dict) and isinstance(key, str):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int):
            value = value[key]
        else:
            return None
    return value


def read_record(registry: Registry, path: str, text: str) -> tuple[list[ForeignRow], dict[str, set[int]]]:
    """Return the values of a record, and why its other numbers are none, with their lines.

    Args:
        registry: Whose products the record can be about.
        path: Its file, for places.
        text: The record; `is_record` says that it is one.
    """
    body = json.loads(text)
    platform, numbers = _product(registry, body), list(_numbers(body, text))
    twice = _said_twice(body)
    rows: list[ForeignRow] = []
    left: dict[str, set[int]] = {}
    for number in numbers:
        meaning = _meaning(body, number)
        why = "no-meaning" if meaning is None else "no-product" if platform is None else ""
        if not why and number.path[:3] in twice:
            why = "several-meanings"
        if why or meaning is None or platform is None:
            left.setdefault(why, set()).add(number.line)
        else:
            metric, unit, axes = meaning
            rows.append(
                ForeignRow(platform, metric, axes, Fraction(number.text), unit, number.text, f"{path}:{number.line}")
            )
    return rows, left


def _product(registry: Registry, body: JSON) -> str | None:
    """Return the one product that the identity names, None when it names a chip family, or none of ours."""
    name = _at(body, "identity", "product")
    if not isinstance(name, str):
        return None
    try:
        return str(registry.platform(name).id)
    except BadInput:
        return None


def _numbers(body: JSON, text: str) -> Iterator[_Number]:
    """Yield the members of the facts that are numbers, in the order of the document."""
    found = [(match[1], match[2], match.start()) for match in _MEMBER.finditer(text) if match[2] is not None]
    for (key, printed, start), path in zip(found, _paths(body), strict=True):
        if path[0] == "facts" and key == path[-1]:
            yield _Number(path, printed, text.count("\n", 0, start) + 1)


def _paths(value: JSON, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        if isinstance(value, dict) and isinstance(member, int | float) and not isinstance(member, bool):
            yield (*at, key)
        else:
            yield from _paths(member, (*at, key))


def _said_twice(body: JSON) -> set[tuple[str | int, ...]]:
    """Return the peaks of one type and engine that stand there more than once: one of them means something else."""
    peaks = _at(body, "facts", "peak_compute")
    named = [(_at(one, "dtype"), _at(one, "unit_kind")) for one in peaks] if isinstance(peaks, list) else []
    return {("facts", "peak_compute", at) for at, name in enumerate(named) if named.count(name) > 1}


def _meaning(body: JSON, number: _Number) -> tuple[str, str, tuple[tuple[str, str], ...]] | None:
    """Return metric, unit and conditions of a number, None when the record's form gives it none."""
    match number.path:
        case ("facts", "peak_compute", int(), str(member)) if member in _SPARSITIES:
            peak = _at(body, *number.path[:3])
            engine, unit, dtype = (str(_at(peak, name)) for name in ("unit_kind", "unit", "dtype"))
            known = unit in UNITS and UNITS[unit].dimension == "op/s" and dtype in AXES["dtype"]
            if engine not in _ENGINES or not known:
                return None
            axes = (("dtype", dtype), ("engine", _ENGINES[engine]), ("sparsity", _SPARSITIES[member]))
            return "peak_compute", unit, axes
        case ("facts", str(group), str(member)) if (group, member) in _MEMBERS:
            metric, unit = _MEMBERS[group, member]
            return metric, unit, ()
    return None

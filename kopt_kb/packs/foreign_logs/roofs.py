"""Speeds of a log against the documented roofs of the product it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from kopt_kb.base.errors import KoptError
from kopt_kb.packs.foreign_logs.names import plain_name
from kopt_kb.packs.foreign_logs.record import Field, ForeignRecord
from kopt_kb.packs.foreign_logs.tree import ForeignTree
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.products import ProductNames
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.workspace.audit.findings import AuditFinding

__all__ = ["above_roofs", "products_of"]

_UNITS = {"tflops": 1e12, "tflop_s": 1e12, "gflops": 1e9, "gflop_s": 1e9, "gb_s": 1e9, "gbps": 1e9, "tb_s": 1e12}
_DTYPE = re.compile(r"(?<![a-z0-9])(mxfp[468]|nvfp4|fp(?:4|6|8|16|32|64)|bf16|tf32|int8)(?![0-9])")
_ABOUT = re.compile(
    r"^#|\b(?:gpu|device|hardware|platform|card|accelerator)\b|^\s*\w*_?(?:gpu|device|platform)\s*:", re.IGNORECASE
)
_SLACK = 1.02
"""A roof is printed with few digits: only what is clearly above counts."""


@dataclass(frozen=True, slots=True)
class _Roof:
    per_s: float
    says: str


def products_of(tree: ForeignTree, registry: Registry) -> frozenset[str]:
    """Return the products that headings and lines about hardware of a log name exactly."""
    names = ProductNames(registry)
    found: set[str] = set()
    for text in tree.texts.values():
        for line in text.split("\n")[:400]:
            if len(line) < 400 and _ABOUT.search(line) and names.occur(line):
                found.update(*(one.platforms for one in names.mentions(line) if len(one.platforms) == 1))
    return frozenset(found)


def above_roofs(records: Iterable[ForeignRecord], platforms: Iterable[Platform]) -> Iterator[AuditFinding]:
    """Yield a finding for each speed above what every named product can do, by its documented rows.

    The dtype narrows the roof where the record names exactly one; else the highest dense peak counts.
    """
    parts = tuple(platforms)
    if not parts:
        return

    @cache
    def roof(kind: str, dtype: str) -> _Roof | None:
        return _highest(parts, kind, dtype)

    for record in records:
        for field in record.of("throughput"):
            unit = _unit(field)
            if unit is None or field.value is None:
                continue
            dtypes = set(_DTYPE.findall(_context(record)))
            limit = roof(
                "bandwidth" if unit in {"gb_s", "gbps", "tb_s"} else "compute", dtypes.pop() if len(dtypes) == 1 else ""
            )
            if limit is not None and field.value * _UNITS[unit] > limit.per_s * _SLACK:
                what = f"{record.label}: {field.name.strip()} {field.text.strip()} is above {limit.says}"
                yield AuditFinding(
                    "above-roof",
                    record.file,
                    field.line,
                    what,
                    "the work, the time or the product is wrong: measure again",
                )


def _context(record: ForeignRecord) -> str:
    """Return the words of a record that may name its dtype."""
    said = " ".join(one.text for one in record.fields if one.role in {"item", "words", "round"} and len(one.text) < 500)
    return f"{plain_name(record.file)} {said}".casefold().replace("_", " ")


def _unit(field: Field) -> str | None:
    words = re.sub(r"[\d.,]+", "", field.text)
    name = f"_{plain_name(f'{field.name} {words}')}_"
    return next((unit for unit in _UNITS if f"_{unit}_" in name), None)


def _highest(parts: tuple[Platform, ...], kind: str, dtype: str) -> _Roof | None:
    """Return the highest documented roof of some products; None when one of them has none."""
    best: tuple[Quantity, str] | None = None
    for part in parts:
        here = _of_part(part, kind, dtype)
        if here is None:
            return None
        if best is None or here.si > best[0].si:
            best = here, part.id
    if best is None:
        return None
    value, platform = best
    per_s = float(value.si)
    what = "memory bandwidth" if kind == "bandwidth" else f"dense peak{f' of {dtype}' if dtype else ''}"
    return _Roof(
        per_s, f"the documented {what} of {platform}, {per_s / 1e12:g} {'TB/s' if kind == 'bandwidth' else 'TFLOPS'}"
    )


def _of_part(part: Platform, kind: str, dtype: str) -> Quantity | None:
    try:
        if kind == "bandwidth":
            rows = part.rows("memory_bandwidth")
        else:
            rows = part.rows("peak_compute", sparsity="dense", **({"dtype": dtype} if dtype else {}))
        values = [part.quantity(row) for row in rows if row.kind == "value"]
    except KoptError:
        return None
    return max((one for one in values if isinstance(one, Quantity)), key=lambda one: one.si, default=None)

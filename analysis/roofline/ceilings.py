"""Ceilings of a platform: which row is the roof of a dtype on an engine, and of device memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.analysis.roofline.basis import Basis
from kopt_kb.analysis.roofline.undocumented import at_least, vendors_best
from kopt_kb.base.wire import Wire
from kopt_kb.problem.work import Work
from kopt_kb.quantity import Grade
from kopt_kb.quantity.quantity import Absent, Quantity, Unknown
from kopt_kb.wiki.registry import Platform
from kopt_kb.wiki.row import Row

__all__ = [
    "Ceiling",
    "best_bandwidth",
    "best_known",
    "compute_ceiling",
    "level_ceiling",
    "memory_ceiling",
    "pattern_of",
    "traffic_pattern",
]

_ACCUMULATORS = {"fp64": ("fp64",), "int8": ("int32",), "int4": ("int32",), "int32": ("int32",)}
_READ_MOSTLY = 16  # a work that reads this many times what it writes is compared with a read stream
_OWN = "measured/"
_HOW = ("pattern", "bytes", "shape")
"""Conditions without which a measurement can't be compared with a work."""


@dataclass(frozen=True, slots=True)
class Ceiling(Wire):
    """One roof, as documented and as measured by ourselves.

    Attributes:
        name: `fp32 vector`, `bf16 matrix`, or `dram`.
        documented: The documented dense peak or bandwidth.
        measured: Our own measured row of this product, if the wiki has a comparable one; where nothing is documented,
            the vendor's.
        notes: What a reader must know: grades, several rows, measurements below the roof.
        is_vendors: Whether it was the vendor who measured.
        at_least: A rate that the engine reaches by other rows, where its roof is UNKNOWN: enough to see that it does
            not bind, never a roof.
    """

    WIRE: ClassVar = ("name", "basis", "documented", "measured", "notes")
    name: str
    documented: Quantity | Unknown
    measured: Quantity | None = None
    notes: tuple[str, ...] = ()
    is_vendors: bool = False
    at_least: Quantity | None = None

    @property
    def basis(self) -> Basis:
        """`measured` where our own measurement exists, else `documented`; `vendor_measured` where only that exists."""
        if self.is_vendors:
            return "vendor_measured"
        return "measured" if self.measured is not None else "documented"

    @property
    def roof(self) -> Quantity | Unknown:
        """The value targets are computed from."""
        return self.measured if self.measured is not None else self.documented


def _quantities(platform: Platform, rows: Iterable[Row]) -> list[tuple[Row, Quantity]]:
    found = []
    for row in rows:
        value = platform.quantity(row)
        if isinstance(value, Quantity):
            found.append((row, value))
    return found


def _highest(pairs: list[tuple[Row, Quantity]]) -> tuple[Row, Quantity]:
    """Return the highest: a roof must not be exceeded, so of several documented values the largest is one."""
    return max(pairs, key=lambda pair: pair[1].si)


def _fit_accumulator(rows: tuple[Row, ...], dtype: str) -> list[Row]:
    """Keep rows with the accumulator kernels use (fp32; fp64 and int32 for their types), else the silent ones."""
    wanted = _ACCUMULATORS.get(dtype, ("fp32",))
    for choice in (wanted, ("unstated",)):
        kept = [row for row in rows if dict(row.axes)["acc"] in choice]
        if any(row.kind == "value" for row in kept):
            return kept
    return list(rows)


def _grade_notes(value: Quantity) -> list[str]:
    grades: set[Grade] = set(value.grades())
    return ["rests on a secondary source"] if "secondary" in grades else []


def best_known(platform: Platform, metric: str, **axes: str) -> Quantity | None:
    """Return the highest measurement the wiki holds, whoever made it: shown beside a roof, never a basis.

    A number counts only with its method, pattern or shape, and footprint, and without an exception to a rule: limits of
    a diagnostic and figures that contradict their own page say nothing of what is reachable.
    """
    pairs = _quantities(platform, (row for row in platform.rows(metric, **axes) if _says_how(row)))
    return _highest(pairs)[1] if pairs else None


def best_bandwidth(platform: Platform, level: str, pattern: str) -> Quantity | None:
    """Return the best measurement of a memory level by this traffic pattern, else by any."""
    best = best_known(platform, "measured_bandwidth", level=level, pattern=pattern)
    return best_known(platform, "measured_bandwidth", level=level) if best is None else best


def _says_how(row: Row) -> bool:
    how = [value for axis, value in row.axes if axis in _HOW]
    return "unstated" not in how and bool(row.note("method")) and not row.note("exception")


def _unknown(platform: Platform, rows: Iterable[Row], key: str) -> Unknown:
    for row in rows:
        value = platform.quantity(row)
        if isinstance(value, Unknown):
            return value
        if isinstance(value, Absent):
            raise value.error()
    return Unknown((f"{platform.id} {key}",), "no row in the wiki", None, key)


def compute_ceiling(platform: Platform, dtype: str, engine: str) -> Ceiling:
    """Return the roof of dense operations of a type on an engine.

    Several documented rows differ in accumulator or clock: rows with the accumulator kernels use are taken (else
    the silent ones), and of those the highest. Sparse peaks are never taken.

    Raises:
        BadInput: The part does not have it (a NONE row).
    """
    rows = platform.rows("peak_compute", dtype=dtype, engine=engine, sparsity="dense")
    fitting = _fit_accumulator(rows, dtype)
    pairs = _quantities(platform, fitting)
    name = f"{dtype} {engine}"
    if not pairs:
        missing = _unknown(platform, rows, f"peak_compute[dtype={dtype};engine={engine};sparsity=dense]")
        vendors = vendors_best(platform, "measured_compute", dtype=dtype, engine=engine)
        return Ceiling(name, missing, vendors, (), vendors is not None, at_least(platform, dtype, engine))
    row, documented = _highest(pairs)
    notes = _grade_notes(documented)
    axes = dict(row.axes)
    silent = [word for axis, word in (("acc", "accumulator"), ("clock", "clock")) if axes.get(axis) == "unstated"]
    if silent:
        notes.append(f"the source states no {' and no '.join(silent)} for it")
    own = [r for r in platform.rows("measured_compute", dtype=dtype, engine=engine) if r.path.startswith(_OWN)]
    measured = _highest(_quantities(platform, own))[1] if _quantities(platform, own) else None
    return Ceiling(name, documented, measured, tuple(notes))


def traffic_pattern(read_bytes: int, write_bytes: int) -> str:
    """Return `read` for work that hardly writes, else `copy`; also when the directions are not known."""
    return "read" if read_bytes > 0 and write_bytes * _READ_MOSTLY <= read_bytes else "copy"


def pattern_of(work: Work) -> str:
    """Return the traffic pattern of a work."""
    read, written = (sum(b.compulsory.value for b in work.bytes if b.direction == d) for d in ("read", "write"))
    return traffic_pattern(read, written)


def _comparable(platform: Platform, pattern: str, footprint_bytes: int) -> Quantity | None:
    """Return our own measurement of that pattern within a factor of two of the footprint, or of the largest one."""
    rows = [r for r in platform.rows("measured_bandwidth", level="dram", pattern=pattern) if r.path.startswith(_OWN)]
    sized = [
        (int(size), pair) for pair in _quantities(platform, rows) if (size := dict(pair[0].axes)["bytes"]).isdigit()
    ]
    if not sized:
        return None
    largest = max(size for size, _ in sized)
    wanted = min(footprint_bytes, largest)
    near = [(size, pair) for size, pair in sized if wanted <= 2 * size and size <= 2 * wanted]
    return min(near, key=lambda item: abs(item[0] - wanted))[1][1] if near else None


def memory_ceiling(platform: Platform, pattern: str, footprint_bytes: int) -> Ceiling:
    """Return the roof of device memory for a traffic pattern and footprint (bytes read plus bytes written)."""
    rows = platform.rows("memory_bandwidth")
    pairs = _quantities(platform, rows)
    if not pairs:
        own = vendors_best(platform, "measured_bandwidth", level="dram", pattern=pattern)
        own = own or vendors_best(platform, "measured_bandwidth", level="dram", pattern="copy")
        return Ceiling("dram", _unknown(platform, rows, "memory_bandwidth"), own, (), own is not None)
    documented = _highest(pairs)[1]
    measured = _comparable(platform, pattern, footprint_bytes)
    return Ceiling("dram", documented, measured, tuple(_grade_notes(documented)))


def level_ceiling(platform: Platform, level: str) -> Ceiling:
    """Return the roof of an on-chip level: L2 as documented, shared memory as bytes a clock x SMs x clock."""
    if level in {"l2", "llc"}:
        metric = f"{level}_bandwidth"
        rows = platform.rows(metric)
        pairs = _quantities(platform, rows)
        return Ceiling(level, _highest(pairs)[1] if pairs else _unknown(platform, rows, metric))
    width = _product_rows(platform, f"{level}_memory_bandwidth" if level == "shared" else f"{level}_bandwidth")
    if isinstance(width, Unknown):
        return Ceiling(level, width)
    count, clock = platform.get("sm_count"), _fastest_clock(platform)
    if isinstance(count, Absent) or isinstance(clock, Unknown) or isinstance(count, Unknown):
        missing = count if isinstance(count, Unknown) else clock
        return Ceiling(level, missing if isinstance(missing, Unknown) else _unknown(platform, (), "sm_count"))
    return Ceiling(level, count * (width * clock))


def _product_rows(platform: Platform, metric: str) -> Quantity | Unknown:
    rows = platform.rows(metric, op="read")
    pairs = _quantities(platform, rows)
    return _highest(pairs)[1] if pairs else _unknown(platform, rows, f"{metric}[op=read]")


def _fastest_clock(platform: Platform) -> Quantity | Unknown:
    rows = platform.rows("sm_clock")
    pairs = _quantities(platform, rows)
    return _highest(pairs)[1] if pairs else _unknown(platform, rows, "sm_clock")

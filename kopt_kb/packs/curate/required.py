"""What every product page must answer: a value, UNKNOWN or NONE for each of these, by vendor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.names import Identity
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import Sheet

__all__ = ["REQUIRED", "Need", "answered", "missing", "unanswered"]

Need = tuple[str, dict[str, str]]


def _peaks(engine: str, *dtypes: str) -> tuple[Need, ...]:
    return tuple(("peak_compute", {"dtype": d, "engine": engine, "sparsity": "dense"}) for d in dtypes)


def _sparse(*dtypes: str) -> tuple[Need, ...]:
    return tuple(("peak_compute", {"dtype": d, "engine": "matrix", "sparsity": "2:4"}) for d in dtypes)


def _plain(*metrics: str) -> tuple[Need, ...]:
    return tuple((metric, {}) for metric in metrics)


_COMMON: tuple[Need, ...] = (
    *_peaks("vector", "fp64", "fp32", "fp16"),
    *_peaks("matrix", "fp64", "tf32", "fp16", "bf16", "fp8", "int8"),
    *_sparse("fp16", "bf16", "fp8", "int8"),
    *_plain("sm_count", "matrix_units", "lanes_per_sm", "sm_clock"),
    *_plain("memory_capacity", "memory_bandwidth", "memory_bus_width", "memory_stacks", "memory_type", "memory_ecc"),
    ("cache_line", {"level": "l2"}),
    *_plain("l2_capacity", "shared_memory_per_sm", "shared_memory_banks", "shared_memory_bank_width"),
    *_plain("warp_size", "threads_per_block", "link_bandwidth", "link_count", "host_bandwidth", "fp8_format"),
    ("board_power", {"kind": "tdp"}),
)

REQUIRED: dict[str, tuple[Need, ...]] = {
    "NVIDIA": (
        *_COMMON,
        *_peaks("matrix", "fp4"),
        *_sparse("tf32"),
        *_plain("l1_shared_pool", "shared_memory_reserved_per_block"),
        ("cache_line", {"level": "l1"}),
        *(("cache_sector", {"level": level}) for level in ("l1", "l2")),
        ("shared_memory_per_block", {"mode": "static"}),
        ("shared_memory_per_block", {"mode": "optin"}),
        ("registers_per_sm", {"file": "gpr"}),
        ("registers_per_thread", {"file": "gpr"}),
        ("register_granule", {"file": "gpr"}),
        *_plain("registers_per_block", "warps_per_sm", "threads_per_sm", "blocks_per_sm"),
        ("cluster_size", {"mode": "portable"}),
        *_plain("compute_capability"),
    ),
    "AMD": (
        *_COMMON,
        *_peaks("matrix", "fp32"),
        *_plain("simds_per_sm", "l1_capacity", "llc_capacity", "llc_bandwidth", "shared_memory_granule"),
        ("die_count", {}),
        ("registers_per_simd", {"file": "vgpr"}),
        ("registers_per_thread", {"file": "vgpr"}),
        ("register_granule", {"file": "vgpr"}),
        *_plain("warps_per_simd", "gfx_target"),
    ),
}


def answered(need: Need, rows: Iterable[Row]) -> bool:
    """Return whether a row of any kind answers the need."""
    metric, axes = need
    return any(row.metric == metric and axes.items() <= dict(row.axes).items() and _of_gpu(row) for row in rows)


def _of_gpu(row: Row) -> bool:
    """Return whether a row is of the GPU as shipped; the power of a superchip stands for the GPU's, which none has."""
    axes = dict(row.axes)
    return "config" not in axes and ("scope" not in axes or row.metric == "board_power")


_CHIPS = ("GDDR", "LPDDR")
"""Memory of single chips: nobody prints their number, and nothing depends on it."""


def missing(sheet: Sheet, vendor: str) -> list[str]:
    """Return the required needs that no row of the sheet answers, printed as keys."""
    lacking = []
    chips = any(row.metric == "memory_type" and row.value.startswith(_CHIPS) for row in sheet.rows)
    for metric, axes in REQUIRED.get(vendor, ()):
        if not answered((metric, axes), sheet.rows) and not (metric == "memory_stacks" and chips):
            parts = ";".join(f"{axis}={value}" for axis, value in axes.items())
            lacking.append(f"{metric}[{parts}]" if parts else metric)
    return lacking


def unanswered(identity: Identity, sheet: Sheet) -> Iterator[Fault]:
    """Yield a fault for each required need that no row of a product answers."""
    for key in missing(sheet, identity.vendor):
        fix = "write the value, UNKNOWN or NONE with a reason"
        yield Fault("WK401", identity.path, 0, f"no row for {key}", fix)

"""Limits of a platform for occupancy: registry rows in, numbers with their citations out."""

from __future__ import annotations

from collections.abc import Mapping

from kopt_kb.analysis.occupancy.limits import Limits
from kopt_kb.base.errors import BadInput
from kopt_kb.quantity.quantity import Absent, Quantity
from kopt_kb.wiki.registry import Product, platform_of

__all__ = ["limits_of"]

_PLAIN = (
    "warp_size", "warps_per_sm", "warps_per_simd", "simds_per_sm", "threads_per_sm", "threads_per_block",
    "blocks_per_sm", "registers_per_block", "shared_memory_per_sm", "shared_memory_reserved_per_block",
    "shared_memory_granule", "tensor_memory_per_sm",
)  # fmt: skip

LimitRow = tuple[str, Mapping[str, str]]


def _rows(vendor: str) -> dict[str, LimitRow]:
    """Return, for each field of `Limits`, the metric and conditions of its row."""
    general = "vgpr" if vendor == "AMD" else "gpr"
    rows: dict[str, LimitRow] = {name: (name, {}) for name in _PLAIN}
    for name in ("registers_per_sm", "registers_per_simd", "registers_per_thread", "register_granule"):
        rows[name] = (name, {"file": general})
    if vendor == "AMD":
        rows["scalar_registers_per_simd"] = ("registers_per_simd", {"file": "sgpr"})
        rows["scalar_register_granule"] = ("register_granule", {"file": "sgpr"})
    else:
        rows["shared_memory_per_block"] = ("shared_memory_per_block", {"mode": "optin"})
        rows["cluster_size"] = ("cluster_size", {"mode": "optin"})
    return rows


def _whole(value: Quantity, key: str) -> int:
    if value.si.denominator != 1:
        raise BadInput(f"{key} = {value} is not a whole number", where=str(value.citations()[0].location), code="KB046")
    return value.si.numerator


def limits_of(product: Product) -> Limits:
    """Return the limits of one SM or CU of a product or of its name; UNKNOWN rows become None, NONE rows 0.

    Raises:
        WikiFaults: A row it needs does not load.
    """
    platform = platform_of(product)
    vendor = platform.identity.vendor
    numbers: dict[str, int] = {}
    citations: dict[str, str] = {}
    for name, (metric, axes) in _rows(vendor).items():
        value = platform.get(metric, **axes)
        if isinstance(value, Quantity):
            numbers[name] = _whole(value, metric)
            citations[name] = str(value.citations()[0])
        elif isinstance(value, Absent):
            numbers[name] = 0
            citations[name] = str(value.citation)
    if vendor == "AMD" and "shared_memory_per_sm" in numbers and "shared_memory_per_block" not in numbers:
        row = platform.get("shared_memory_per_block", mode="static")
        if isinstance(row, Quantity):
            numbers["shared_memory_per_block"] = _whole(row, "shared_memory_per_block")
            citations["shared_memory_per_block"] = str(row.citations()[0])
    return Limits("amd" if vendor == "AMD" else "nvidia", citations=citations, **numbers)

"""No hardware value stands in the code: numbers equal to a peak, bandwidth, capacity or clock row are found."""

from __future__ import annotations

import ast
from fractions import Fraction
from pathlib import Path

import pytest

from kopt_kb.registry.registry import Registry
from kopt_kb.registry.sheet import row_value

METRICS = {
    "peak_compute", "memory_bandwidth", "memory_capacity", "sm_clock", "memory_clock", "l2_capacity", "llc_capacity",
    "l2_bandwidth", "llc_bandwidth", "link_bandwidth", "acceptance_compute", "measured_compute", "measured_bandwidth",
}  # fmt: skip
PREFIXES = [Fraction(10) ** power for power in range(0, 19, 3)] + [Fraction(1024) ** power for power in range(1, 5)]
SMALL = 64
"""Whole numbers up to here are everywhere (indices, widths, percentages) and say nothing."""

ALLOWED: dict[float, str] = {
    80: "column widths and the 80 % thresholds of ncu's own rule",
    90: "the 90 % target and ISA shares, a policy",
    96: "a share or width, policy of a rule",
    100: "percent",
    120: "seconds and widths",
    128: "bytes of a transaction, threads of a block",
    141: "never a value of code; kept out by the scan of memory capacities",
    192: "block sizes of tuning spaces",
    256: "block sizes of tuning spaces, register granules as tests of the oracle",
    300: "seconds",
    400: "lines of a file",
    500: "limits of output",
    512: "block sizes of tuning spaces; the 512 of MFMA_MOPS counters (counter definition)",
    600: "seconds",
    900: "seconds",
    1000: "decimal prefix",
    1024: "binary prefix",
    2048: "block sizes of tuning spaces",
    4096: "block sizes of tuning spaces",
    8192: "block sizes of tuning spaces",
}


def _values() -> set[Fraction]:
    found: set[Fraction] = set()
    registry = Registry.open()
    for name in registry.platforms():
        for row in registry.platform(name).sheet.rows:
            if row.metric in METRICS and row.kind == "value":
                found.update(row_value(row) / prefix for prefix in PREFIXES)
    return found


def _hits(source: str, values: set[Fraction]) -> list[tuple[int, float]]:
    found = []
    for node in ast.walk(ast.parse(source)):
        number = node.value if isinstance(node, ast.Constant) else None
        if (
            isinstance(number, bool)
            or not isinstance(number, int | float)
            or (number <= SMALL and number == int(number))
        ):
            continue
        if Fraction(str(number)) in values and number not in ALLOWED:
            found.append((node.lineno, number))
    return found


@pytest.mark.core
def test_no_hardware_value_is_written_in_code(repo_root: Path) -> None:
    """Every number of the package is compared with every such row under every prefix."""
    values = _values()
    wrong = []
    for folder in ("kopt_kb", "analysis", "kernels"):
        for path in (repo_root / folder).rglob("*.py"):
            relative = path.relative_to(repo_root).as_posix()
            if not relative.startswith(("kopt_kb/analysis/", "kopt_kb/kernels/")):
                wrong += [f"{relative}:{line}: {number}" for line, number in _hits(path.read_text(), values)]
    assert not wrong


@pytest.mark.core
@pytest.mark.parametrize("literal", ["4.0e12", "4000.0", "4e9", "148e12", "0.148e15", "148_000"])
def test_a_planted_literal_is_found(literal: str) -> None:
    """The scan finds the H20's bandwidth and peak under any prefix."""
    assert _hits(f"PEAK = {literal}", _values())

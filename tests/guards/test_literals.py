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

EVERYWHERE: dict[float, str] = {
    80: "the 80 % threshold of ncu's own rule",
    90: "the 90 % target and shares of wide accesses, a policy",
    96: "a share, policy of a rule",
    100: "percent",
    120: "seconds, columns",
    300: "seconds",
    400: "characters shown of a message",
    500: "characters shown of a message",
    600: "seconds",
    900: "seconds",
}

ALLOWED: dict[tuple[str, float], str] = {
    ("analysis/readers/ncu_frames.py", 70): "number of a protobuf field or frame of the report format",
    ("kopt_kb/registry/page.py", 200): "lines of front matter looked at",
    ("kopt_kb/registry/page.py", 3000): "most table lines of a page",
    ("kernels/compile/disassemble.py", 200): "characters shown of a tool's message",
    ("analysis/ttir/count.py", 4000000000): "most elements an exact count may enumerate",
}


def _is_round(number: float) -> bool:
    """Return whether a number is a power of two or ten, or a share of at most two digits: no part is meant by those."""
    exact = Fraction(str(number))
    if exact < 1:
        return len(format(exact.numerator / exact.denominator, ".12f").strip("0.")) <= 2
    whole = int(exact)
    return whole == exact and (whole & (whole - 1) == 0 or set(str(whole)[1:]) <= {"0"} and str(whole)[0] == "1")


def _values() -> set[Fraction]:
    found: set[Fraction] = set()
    registry = Registry.open()
    for name in registry.platforms():
        for row in registry.platform(name).sheet.rows:
            if row.metric in METRICS and row.kind == "value":
                found.update(row_value(row) / prefix for prefix in PREFIXES)
    return found


def _hits(source: str, values: set[Fraction], name: str = "") -> list[tuple[int, float]]:
    found = []
    for node in ast.walk(ast.parse(source)):
        number = node.value if isinstance(node, ast.Constant) else None
        if (
            isinstance(number, bool)
            or not isinstance(number, int | float)
            or (number <= SMALL and number == int(number))
        ):
            continue
        allowed = number in EVERYWHERE or (name, number) in ALLOWED or _is_round(number)
        if Fraction(str(number)) in values and not allowed:
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
                wrong += [f"{relative}:{line}: {number}" for line, number in _hits(path.read_text(), values, relative)]
    assert not wrong


@pytest.mark.core
@pytest.mark.parametrize(
    "literal", ["4.0e12", "4000.0", "4e9", "148e12", "0.148e15", "0.148", "148_000", "3352", "989.4e12"]
)
def test_a_planted_literal_is_found(literal: str) -> None:
    """The scan finds bandwidths and peaks of the H20 and H100 under any prefix."""
    assert _hits(f"PEAK = {literal}", _values())

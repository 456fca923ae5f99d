"""No hardware value stands in the code: numbers equal to a peak, bandwidth, capacity or clock row are found."""

from __future__ import annotations

import ast
import math
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.sheet import row_value
from tests.guards.trees import nodes_of, tree_of

METRICS = {
    "peak_compute", "memory_bandwidth", "memory_capacity", "sm_clock", "memory_clock", "l2_capacity", "llc_capacity",
    "l2_bandwidth", "llc_bandwidth", "link_bandwidth", "acceptance_compute", "measured_compute", "measured_bandwidth",
}  # fmt: skip
PREFIXES = [Fraction(10) ** power for power in range(0, 19, 3)] + [Fraction(1024) ** power for power in range(1, 5)]
SPECIFIC_DIGITS = 3
"""Numbers of one or two significant digits (indices, percentages, seconds, widths) say nothing by themselves …"""

SPECIFIC_SIZE = 1e6
"""… unless they are written out in base units."""

_CALL_NUMBERS = (112, 117, 142, 165, 273, 279, 307, 312)

ALLOWED: dict[tuple[str, float], str] = {
    ("analysis/readers/nvidia/ncu_children.py", 64_000_000): "bytes of a report that one child reads",
    ("kopt_kb/cli/main.py", 130): "exit code of an interrupted process (POSIX shells: 128 + SIGINT)",
    ("kopt_kb/sandbox/caged.py", 126): "exit code of a command that can't be started (POSIX shells)",
    **{("kopt_kb/sandbox/seccomp.py", number): "number of a system call" for number in _CALL_NUMBERS},
}


def _says_something(number: float) -> bool:
    """Return whether a number can be meant as a hardware value: specific, and no power of two or ten."""
    exact = Fraction(str(number))
    digits = format(Decimal(str(number)).normalize(), "f").strip("0.").replace(".", "")
    whole = int(exact)
    if whole == exact and whole > 0 and (whole & (whole - 1) == 0 or str(whole).rstrip("0") == "1"):
        return False
    return len(digits) >= SPECIFIC_DIGITS or exact >= SPECIFIC_SIZE


@cache
def _values() -> set[Fraction]:
    found: set[Fraction] = set()
    registry = Registry.open()
    for name in registry.platforms():
        for row in registry.platform(name).sheet.rows:
            if row.metric in METRICS and row.kind == "value":
                found.update(row_value(row) / prefix for prefix in PREFIXES)
    return found


def _hits(tree: ast.Module, values: set[Fraction], name: str = "") -> list[tuple[int, float]]:
    found = []
    for node in nodes_of(tree):
        number = node.value if isinstance(node, ast.Constant) else None
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            continue
        if _says_something(number) and Fraction(str(number)) in values and (name, number) not in ALLOWED:
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
                wrong += [f"{relative}:{line}: {number}" for line, number in _hits(tree_of(path), values, relative)]
    assert not wrong


@pytest.mark.core
@pytest.mark.parametrize(
    "literal", ["4.0e12", "4_000_000", "4e9", "148e12", "0.148e15", "0.148", "148_000", "3352", "989.4e12"]
)
def test_a_planted_literal_is_found(literal: str) -> None:
    """The scan finds bandwidths and peaks of the H20 and H100 under any prefix."""
    assert _hits(ast.parse(f"PEAK = {literal}"), _values())

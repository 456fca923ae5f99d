"""Packages are held against the versions that kb supports."""

from __future__ import annotations

import pytest

from kopt_kb.launch.machine.package_health import within


@pytest.mark.parametrize(
    ("version", "wanted", "is_within"),
    [
        ("3.6.0", ">=3.6,<3.10", True), ("3.10", ">=3.6,<3.10", False), ("3.5.9", ">=3.6", False),
        ("2.13.0+cu130", ">=2.8", True), ("1.0", "", True), ("1.0", "==1.0.0", True), ("1.1", "!=1.1", False),
    ],
)  # fmt: skip
def test_release_numbers_decide(version: str, wanted: str, is_within: bool) -> None:
    """As numbers, of any length; local parts don't count."""
    assert within(version, wanted) is is_within

"""The machine that a process is on."""

from __future__ import annotations

import os
import sys

from kopt_kb.launch.machine.this_machine import supported, this_machine


def test_it_can_be_asked() -> None:
    """Programs, packages and commands of this process's own machine."""
    host = this_machine()
    assert host.package("pydantic")
    assert host.package("no-such-package") is None
    assert host.ask((sys.executable, "-c", "print(3)")) == (0, "3\n")
    assert os.geteuid() in vars_of(host)


def vars_of(host: object) -> list[object]:
    """Return what it holds."""
    return [getattr(host, name) for name in type(host).__dataclass_fields__]  # type: ignore[attr-defined]


def test_ranges_are_those_of_the_distribution() -> None:
    """Of its extras, tests left out."""
    ranges = supported()
    assert ranges["optuna"] == ">=4"
    assert ranges["triton"].startswith(">=")
    assert "==" not in ranges["triton"] + ranges["torch"]
    assert "pytest" not in ranges

"""What a machine has of FlyDSL."""

from __future__ import annotations

from collections.abc import Iterator

from kopt_kb.launch.machine.health import HealthFinding, Host
from kopt_kb.launch.machine.package_health import language_line

__all__ = ["lines"]


def lines(host: Host) -> Iterator[HealthFinding]:
    """Yield the line of `kb doctor`."""
    yield language_line(host, "FlyDSL", "flydsl", "flydsl", "compiled and recorded for AMD")

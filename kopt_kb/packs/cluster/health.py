"""Whether this machine has what the pack cluster starts processes and cards with."""

from __future__ import annotations

from collections.abc import Iterator

from kopt_kb.launch.machine.health import HealthFinding, Host
from kopt_kb.launch.machine.package_health import package_line

__all__ = ["lines"]


def lines(host: Host) -> Iterator[HealthFinding]:
    """Yield a line for each package."""
    for name in ("optuna", "ray"):
        yield package_line(host, name)

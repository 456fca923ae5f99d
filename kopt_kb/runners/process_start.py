"""When a process started: a pid alone may belong to a later one."""

from __future__ import annotations

from pathlib import Path

__all__ = ["start_ticks"]


def start_ticks(pid: int) -> int | None:
    """Return when the kernel says the process started, in clock ticks since boot; None where it can't be read."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None

"""What a child was held by, as records of what it did say it; `cage.py` does the holding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kopt_kb.base.wire import Wire

__all__ = ["WHOLE", "Isolation"]

WHOLE = (
    "user namespace", "pid namespace", "net namespace", "ipc namespace", "mount namespace", "own /proc",
    "write-protected files", "no capabilities", "filtered system calls",
)  # fmt: skip
"""What has to hold for a cage to be whole. Limits of memory and processes keep a machine up; they hide nothing."""


@dataclass(frozen=True, slots=True)
class Isolation(Wire):
    """What a child was held by, and what could not be had → why."""

    held: tuple[str, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)

    def lacks(self) -> str:
        """Return what a whole cage has and this one has not, each with the reason; empty where it is whole."""
        return "; ".join(f"{one}: {self.missing.get(one, 'not had')}" for one in WHOLE if one not in self.held)

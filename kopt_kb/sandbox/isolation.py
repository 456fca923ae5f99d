"""What a child was held by, as records of what did it say it; `cage.py` does the holding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kopt_kb.base.wire import Wire

__all__ = ["LANDLOCK", "LOCKS", "METADATA", "PROC", "READS", "SOCKETS", "TREE", "WALLS", "WHOLE", "WRITES", "Isolation"]

PROC, TREE, LANDLOCK = "own /proc", "own file tree", "Landlock"
"""Parts that hold files; more than one of them may hold the same wall."""

WRITES, READS, METADATA = "write-protected files", "unreadable files", "unchangeable metadata"
SOCKETS, LOCKS = "no outside sockets", "no outside locks"
WALLS = (WRITES, READS, METADATA, SOCKETS, LOCKS)
"""Walls: each was tried from inside by the child before anything of a stranger ran, and is held only if that failed."""

WHOLE = (
    "user namespace", "pid namespace", "net namespace", "ipc namespace", "mount namespace", PROC, "no capabilities",
    "filtered system calls", WRITES, READS, METADATA, SOCKETS,
)  # fmt: skip
"""What has to hold for a cage to be whole. Limits and locks keep a machine up; they hide nothing."""


@dataclass(frozen=True, slots=True)
class Isolation(Wire):
    """What a child was held by, and what could not be had → why."""

    held: tuple[str, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)

    def lacks(self) -> str:
        """Return what a whole cage has and this one has not, each with the reason; empty where it is whole."""
        return "; ".join(f"{one}: {self.missing.get(one, 'not had')}" for one in WHOLE if one not in self.held)

    def __add__(self, other: Isolation) -> Isolation:
        """Return what both say."""
        return Isolation((*self.held, *other.held), {**self.missing, **other.missing})

"""Error codes that the pack agents alone raises."""

from __future__ import annotations

from kopt_kb.base.error_codes import PackCode
from kopt_kb.doors.pack import PackCause

__all__ = ["CAUSES", "NO_DOCUMENT", "OUTSIDE_ROOTS"]

OUTSIDE_ROOTS = PackCode("KB128")
NO_DOCUMENT = PackCode("KB129")

CAUSES: tuple[PackCause, ...] = (
    PackCause(
        OUTSIDE_ROOTS,
        "outside-roots",
        "a path in a call of a tool leads out of the folders that the server may use",
        "Name a path below one of them, or start kb mcp with another --root.",
    ),
    PackCause(
        NO_DOCUMENT,
        "no-document",
        "a command that a tool ran ended without printing its document",
        "Run the command by hand, or call it again with less work.",
    ),
)

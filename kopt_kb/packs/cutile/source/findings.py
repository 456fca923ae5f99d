"""What a check of a cuTile file says: a finding with its line, what to do, and the versions that it is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.wire import Wire

__all__ = ["FindingLevel", "TileFinding", "TileTarget"]

FindingLevel = Literal["error", "warning", "note"]
"""Does not compile or is wrong; may be wrong or slow; to know."""


@dataclass(frozen=True, slots=True)
class TileFinding(Wire):
    """One finding.

    Attributes:
        rule: Its short name.
        level: How bad it is.
        line: Line of the file; 0 for the whole file.
        what: What was found.
        fix: What to do.
        versions: Versions of cuda-tile or tileiras that it is about.
        source: Where the claim comes from.
    """

    rule: str
    level: FindingLevel
    line: int
    what: str
    fix: str
    versions: str
    source: str


@dataclass(frozen=True, slots=True)
class TileTarget:
    """What a file is checked for.

    Attributes:
        name: Public target name, such as sm_90; empty: any.
        shared_bytes: Shared memory that a block may use, from the wiki; None where it is not known.
        register_bytes: Registers of an SM, from the wiki; None where they are not known.
        item_bytes: Bytes of an element of the operands.
        cuda_tile: Version of cuda-tile, as numbers.
        tileiras: Release of tileiras, as numbers.
    """

    name: str = ""
    shared_bytes: int | None = None
    register_bytes: int | None = None
    item_bytes: int = 2
    cuda_tile: tuple[int, ...] = (1, 7)
    tileiras: tuple[int, ...] = (13, 4)

    @property
    def capability(self) -> int:
        """Number of the target: 90 of sm_90; 0 where it is not known."""
        digits = "".join(one for one in self.name if one.isdigit())
        return int(digits) if digits else 0

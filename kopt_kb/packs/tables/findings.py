"""What an audit of tables can find: a closed list of kinds, how bad each is, and one finding with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from kopt_kb.base.sarif import SarifLevel, SarifResult
from kopt_kb.base.wire import Wire

__all__ = ["KINDS", "TableFinding", "TableKind", "sarif_results"]

TableKind = Literal[
    "unreadable", "escapes-folder", "no-device", "no-product", "never-read", "unknown-setting", "gap", "redundant-row",
    "shadowed-row", "refused", "wrong-launch", "shared-memory", "cannot-launch", "spills", "serialised", "unjudged",
]  # fmt: skip

KINDS: Mapping[TableKind, tuple[SarifLevel, str]] = {
    "unreadable": ("error", "the file is no whole table of its form: the program that reads it fails or goes without"),
    "escapes-folder": ("error", "the name leads out of the folder, so the file is not read"),
    "no-device": ("error", "the name has no device, so no program looks for it"),
    "no-product": ("note", "the device's name is no product of the wiki, or several: rows are not compiled"),
    "never-read": ("warning", "the program never asks for a file of this name"),
    "unknown-setting": ("warning", "no kernel that reads such tables has a setting of that name"),
    "gap": ("note", "neighbouring rows are more than a factor of two apart"),
    "redundant-row": ("note", "without the row the same settings are chosen for every size"),
    "shadowed-row": ("warning", "another row is for the same, and the program takes that one"),
    "refused": ("error", "this compiler refuses the settings for the product's target"),
    "wrong-launch": ("error", "the kernel fails or computes something else with these settings"),
    "shared-memory": ("error", "a block needs more shared memory than it may use on the product"),
    "cannot-launch": ("error", "no block fits on the product"),
    "spills": ("warning", "the code object spills registers to memory"),
    "serialised": ("note", "matrix instructions wait for one another, says the assembler"),
    "unjudged": ("note", "the rows could not be compiled here"),
}
"""Kind → how bad it is, and what it means."""


@dataclass(frozen=True, slots=True)
class TableFinding(Wire):
    """One finding.

    Attributes:
        kind: Of the closed list `KINDS`.
        file: The table.
        line: Line of the row; 0 where the whole table is meant.
        key: Key of the row, as the file writes it; empty where the whole table is meant.
        message: What is wrong, in one line.
    """

    WIRE: ClassVar = ("kind", "level", "file", "line", "key", "message")
    kind: TableKind
    file: str
    message: str
    line: int = 0
    key: str = ""

    @property
    def level(self) -> SarifLevel:
        """How bad it is."""
        return KINDS[self.kind][0]


def sarif_results(findings: tuple[TableFinding, ...]) -> tuple[SarifResult, ...]:
    """Return findings as code hosts show them."""
    return tuple(
        SarifResult(
            rule=one.kind,
            meaning=KINDS[one.kind][1],
            level=one.level,
            message=f"{one.key}: {one.message}" if one.key else one.message,
            file=one.file,
            line=one.line,
        )
        for one in findings
    )

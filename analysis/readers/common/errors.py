"""Errors of report reading: each names the file and, where there is one, the line or the byte."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from kopt_kb.base.errors import KoptError

if TYPE_CHECKING:
    from kopt_kb.base.error_codes import Code

__all__ = ["NoKernelMatches", "ReportError"]


class ReportError(KoptError):
    """A report that is empty, truncated, foreign or damaged (exit 2).

    Attributes:
        file: The report, as the caller named it.
        line: 1-based line, None when the place is not a line.
    """

    code: ClassVar[Code] = "KB200"

    def __init__(
        self, what: str, *, where: str | Path = "", fix: str = "", code: Code | None = None, line: int | None = None
    ) -> None:
        self.file = str(where)
        self.line = line
        super().__init__(what, where=f"{where}:{line}" if line else str(where), fix=fix, code=code)


class NoKernelMatches(ReportError):
    """The kernel pattern matches none of the report's kernels."""

    code: ClassVar[Code] = "KB202"

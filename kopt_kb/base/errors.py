"""The error base of the project: every failure a user can meet says what, where and what to do."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, Self, cast

if TYPE_CHECKING:
    from kopt_kb.base.error_codes import Code, PackCode

__all__ = ["BadInput", "ExitCode", "FindingError", "KoptError", "MissingTool", "UnknownData"]


class ExitCode(IntEnum):
    """Process exit codes of `kb`; part of the command line contract."""

    OK = 0
    """Done."""
    FINDING = 1
    """The check ran and found a problem (audit finding, target not met, gate failed)."""
    USAGE = 2
    """Bad usage or bad input."""
    MISSING = 3
    """Something needed is not installed: an extra, a profiler, a GPU."""
    UNKNOWN = 4
    """The thing is known, its value is UNKNOWN."""


class KoptError(Exception):
    """A failure with a stable code, a fact, a place and a remedy.

    Args:
        what: The fact, one clause, no trailing full stop.
        where: `file:line`, a file, a key or an argument; empty when there is no place.
        fix: What the reader can do next; empty when nothing can be done.
        code: The cause, from the closed list of `kopt_kb.base.error_codes` or the pack's own; a class with one cause
            carries it itself.

    Attributes:
        error_code: The code of this error; faults of wiki pages carry the id of their rule.
    """

    code: ClassVar[Code | PackCode] = "KB000"
    exit_code: ClassVar[ExitCode] = ExitCode.USAGE

    def __init__(self, what: str, *, where: str = "", fix: str = "", code: Code | PackCode | None = None) -> None:
        self.what = what
        self.where = where
        self.fix = fix
        self.error_code: str = code or type(self).code
        super().__init__(str(self))

    def __str__(self) -> str:
        """One line: `where: what. fix [code]`, leaving out what is empty."""
        place = f"{self.where}: " if self.where else ""
        remedy = f"; {self.fix}" if self.fix else ""
        return f"{place}{self.what}{remedy} [{self.error_code}]"

    def restated(self, *, what: str | None = None, where: str | None = None, fix: str | None = None) -> Self:
        """Return the same error, cause included, with other words."""
        words = (
            self.what if what is None else what,
            self.where if where is None else where,
            self.fix if fix is None else fix,
        )
        return cast("Self", _rebuild(type(self), *words, self.error_code))

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        """Pickle by fields, so that errors survive the trip from a child process."""
        return _rebuild, (type(self), self.what, self.where, self.fix, self.error_code)


def _rebuild(kind: type[KoptError], what: str, where: str, fix: str, code: str) -> KoptError:
    error = kind.__new__(kind)
    KoptError.__init__(error, what, where=where, fix=fix)
    error.error_code = code
    return error


class BadInput(KoptError):
    """An argument, file or table that can't be used as given."""


class FindingError(KoptError):
    """A check ran to its end and found something wrong."""

    exit_code = ExitCode.FINDING


class MissingTool(KoptError):
    """An optional package, a profiler or a GPU that the command needs is absent."""

    exit_code = ExitCode.MISSING


class UnknownData(KoptError):
    """The wiki names the value and says that nobody publishes it."""

    exit_code = ExitCode.UNKNOWN

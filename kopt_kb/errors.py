"""The error base of the project: every failure a user can meet says what, where and what to do."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

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
        code: Overrides the class's stable code (wiki faults carry a rule id).
    """

    code: ClassVar[str] = "KB000"
    exit_code: ClassVar[ExitCode] = ExitCode.USAGE

    def __init__(self, what: str, *, where: str = "", fix: str = "", code: str | None = None) -> None:
        self.what = what
        self.where = where
        self.fix = fix
        self.error_code = code or type(self).code
        super().__init__(str(self))

    def __str__(self) -> str:
        """One line: `where: what. fix [code]`, leaving out what is empty."""
        place = f"{self.where}: " if self.where else ""
        remedy = f"; {self.fix}" if self.fix else ""
        return f"{place}{self.what}{remedy} [{self.error_code}]"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        """Pickle by fields, so that errors survive the trip from a child process."""
        return _rebuild, (type(self), self.what, self.where, self.fix, self.error_code)


def _rebuild(kind: type[KoptError], what: str, where: str, fix: str, code: str) -> KoptError:
    error = kind.__new__(kind)
    KoptError.__init__(error, what, where=where, fix=fix, code=code)
    return error


class BadInput(KoptError):
    """An argument, file or table that can't be used as given."""

    code = "KB001"


class FindingError(KoptError):
    """A check ran to its end and found something wrong."""

    code = "KB002"
    exit_code = ExitCode.FINDING


class MissingTool(KoptError):
    """An optional package, a profiler or a GPU that the command needs is absent."""

    code = "KB003"
    exit_code = ExitCode.MISSING


class UnknownData(KoptError):
    """The wiki names the value and says that nobody publishes it."""

    code = "KB004"
    exit_code = ExitCode.UNKNOWN

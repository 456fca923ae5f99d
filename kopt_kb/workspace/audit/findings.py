"""What an audit says: its codes, one finding, and where in a text it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.base.wire import Wire

__all__ = ["AUDIT_CODES", "AuditFinding", "line_of"]

AUDIT_CODES: dict[str, str] = {
    "journal": "the journal can't be read or its chain is broken",
    "object": "a blob the journal names is missing or damaged",
    "kernel": "kernel.py is not the last accepted version",
    "record": "a record or a gate's word is not what its run answered",
    "floor": "a record is faster than the least time of its shape",
    "times": "times of the journal do not fit each other",
    "machine": "a recorded machine is none that the wiki knows, or says what no driver prints",
    "captured": "a file that kb wrote or captured is gone, or is another one: a test, reference, plan or .gitignore",
    "replay": "a version that was replayed here is wrong, or takes other times than its records say",
    "recompile": "a code object that is said to come from its source is another one when it is made again here",
    "anchor": "an anchor outside the workspace shows an event that this journal does not have",
    "bundle": "a bundle is damaged, incomplete, or its statement says something else than its journal",
    "foreign-row": "targets of a bundle rest on a row that this machine's wiki lacks, or that it says otherwise",
    "this-wiki": "a note: this machine's wiki says otherwise of a row of a bundle that no target rests on",
    "own-words": "a note: the README's text outside of its blocks is a person's",
    "reported": "a note: gains rest on times that the project itself reported",
    "other-wiki": "a note: the targets rest on a wiki that is not the packaged one",
    "git": "a commit shows an event that this journal does not have",
    "changed": "a cited row has other content now",
    "missing": "a cited row or page is gone",
    "refused": "the wiki refuses a row this workspace rests on",
    "target": "a target is not what its cited rows and work give",
    "no-target": "a shape has no target because an input is UNKNOWN",
    "placeholder": "a user's stand-in is recorded in place of a value",
    "edited-block": "a rendered block is not what the journal renders",
    "edited-view": "a rendered file was edited, removed, or written by something else than kb",
    "stale-view": "a rendered file shows an earlier journal",
    "unrendered": "a note: nothing that is installed renders these files, so they are not compared with the journal",
    "not-again": "a note: a result of a project can't be compared with the reference again here",
    "absent-pack": "a note: what an absent pack brought can't be checked here",
    "set-by": "a note: the targets in force were set by a person, with a reason",
    "moved": "a note: a cited row stands on another line now, unchanged",
    "tbd": "a field is still TBD",
    "citation": "a citation in a text does not hold",
    "hedged": "a hardware number stands beside a word that makes a guess of it",
    "unregistered": "a value of this platform is used without being registered in the README or the current plan",
    "unsourced": "a hardware number is no row, target or measurement of this workspace",
}
"""Code of a finding or note → what it means."""


@dataclass(frozen=True, slots=True)
class AuditFinding(Wire):
    """One finding or note.

    Attributes:
        code: One of `AUDIT_CODES`.
        file: File relative to the workspace.
        line: Line in it; 0 where the file as a whole is meant.
        message: What is wrong.
        fix: What to do.
        number: The number in a text that it is about, as it stands there; empty where it is about something else.
    """

    WIRE: ClassVar = ("code", "file", "line", "message", "fix")
    code: str
    file: str
    line: int
    message: str
    fix: str
    number: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}; {self.fix} [{self.code}]"


def line_of(text: str, needle: str) -> int:
    """Return the first line that holds `needle`, or 1."""
    return next((n for n, line in enumerate(text.split("\n"), 1) if needle in line), 1)

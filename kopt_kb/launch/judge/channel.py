"""A question to a child and its answer as types, within seconds and a size; what is no answer ends the child."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from kopt_kb.base.errors import FindingError, KoptError
from kopt_kb.base.wire import Wire, canonical, parse, read
from kopt_kb.launch.record.service import MAX_LINE_BYTES
from kopt_kb.sandbox.process import environment
from kopt_kb.sandbox.talk import Silent, Talk

__all__ = ["JUDGE", "REFERENCE", "Channel", "ChildEndedError", "ProcessChannel"]

T = TypeVar("T", bound=Wire)

JUDGE = (sys.executable, "-P", "-m", "kopt_kb.launch.record.judge")
REFERENCE = (sys.executable, "-P", "-m", "kopt_kb.launch.record.reference")
"""Commands of the two kinds of children."""


class ChildEndedError(FindingError):
    """A child ended, hung or answered what is no answer; it is no longer there."""

    code = "KB457"


class Channel(Protocol):
    """A child as its asker sees it."""

    @property
    def pid(self) -> int:
        """Its process."""

    def first(self, kind: type[T], limit_s: float) -> T:
        """Return what it says before it is asked anything."""

    def ask(self, question: Wire, kind: type[T], limit_s: float) -> T:
        """Return its answer; raises `ChildEndedError` when there is none in time."""

    def end(self) -> None:
        """End it."""


class ProcessChannel:
    """A child process that answers lines.

    Args:
        command: Program and arguments.
        what: What it is called in errors.
        more: Variables of its environment beside this one's.
    """

    def __init__(self, command: Sequence[str], what: str, more: Mapping[str, str] | None = None) -> None:
        self._what = what
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        self._talk = Talk(command, env=environment(more, ours=True), stderr=self._log)
        self._ended = False

    @property
    def pid(self) -> int:
        """Its process."""
        return self._talk.child.pid

    def first(self, kind: type[T], limit_s: float) -> T:
        """Return what it says before it is asked anything."""
        try:
            return read(kind, parse(self._talk.line(MAX_LINE_BYTES, limit_s), where=self._what), where=self._what)
        except Silent as silent:
            if silent.gone:
                self._talk.child.has_ended(5.0)
            how = f"ended: {self._last_line()}" if silent.gone else str(silent)
            self.end()
            raise ChildEndedError(f"the {self._what} {how}", where="replay", fix="run it again") from None
        except KoptError:
            self.end()
            raise

    def ask(self, question: Wire, kind: type[T], limit_s: float) -> T:
        """Return its answer; raises `ChildEndedError` when there is none in time."""
        if self._ended:
            raise ChildEndedError(f"the {self._what} has ended", where="replay", fix="start another")
        try:
            self._talk.say(canonical(question.to_json()) + b"\n", limit_s)
        except Silent as silent:
            if not silent.gone:  # what it said before it went is more telling
                self.end()
                raise ChildEndedError(f"the {self._what} {silent}", where="replay", fix="run it again") from None
        return self.first(kind, limit_s)

    def _last_line(self) -> str:
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - 4096))
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else "no message"

    def end(self) -> None:
        """End it with all it started."""
        if not self._ended:
            self._ended = True
            self._talk.end()
            self._log.close()

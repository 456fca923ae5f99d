"""stdout and stderr as `kb` writes them: a failure of the output is an error of its own, never of another file."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from kopt_kb.base.errors import BadInput

__all__ = ["Output", "ReaderGone", "own_streams"]

_PLAIN = {"…": "...", "–": "-", "—": "-", "→": "->", "←": "<-", "×": "x", "·": "*", "≥": ">=", "≤": "<=", "µ": "u"}
"""What an output without these letters shows in their place; all others are shown as \\u escapes."""


class ReaderGone(Exception):
    """The program that read our output has closed its end."""


class Output:
    """A stream that prints what its encoding lacks in plain letters, and says when it can't be written.

    Args:
        stream: The process's stream; None: it was closed when the process began.
        quiet: Whether a failure is dropped: nobody is left to hear of stderr's.
    """

    def __init__(self, stream: TextIO | None, *, quiet: bool = False) -> None:
        self._stream = stream
        self._quiet = quiet
        self._lost = stream is None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def isatty(self) -> bool:
        """Whether a person sees what is written."""
        return self._stream is not None and self._stream.isatty()

    def write(self, text: str) -> int:
        """Write the text; raises `BadInput` (KB117) when it can't be, `ReaderGone` when nobody reads it."""
        if self._quiet and self._lost:
            return len(text)
        with self._watched() as stream:
            try:
                stream.write(text)
            except UnicodeEncodeError as error:
                plain = "".join(_PLAIN.get(letter, letter) for letter in text)
                stream.write(plain.encode(error.encoding, "backslashreplace").decode(error.encoding))
        return len(text)

    def write_bytes(self, data: bytes) -> None:
        """Write bytes as they are; raises like `write`."""
        with self._watched() as stream:
            stream.flush()
            stream.buffer.write(data)
            stream.buffer.flush()

    def flush(self) -> None:
        """Hand everything to the system; raises like `write`."""
        if not self._lost:
            with self._watched() as stream:
                stream.flush()

    @contextmanager
    def _watched(self) -> Iterator[TextIO]:
        try:
            if self._lost or self._stream is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            yield self._stream
        except OSError as error:
            self._drop()
            if self._quiet:
                return
            if isinstance(error, BrokenPipeError):
                raise ReaderGone from error
            what = f"can't be written: {error.strerror or error}"
            raise BadInput(what, where="stdout", fix="the output is not whole", code="KB117") from error

    def _drop(self) -> None:
        """Send what is still held to nowhere, so that the interpreter's last flush can't fail again."""
        if self._lost or self._stream is None:
            return
        self._lost = True
        try:
            number = self._stream.fileno()
        except (OSError, ValueError):
            return
        hole = os.open(os.devnull, os.O_WRONLY)
        os.dup2(hole, number)
        os.close(hole)


def _occupy() -> None:
    """Keep 0, 1 and 2 taken: a file opened under a closed one's number would receive the output of children."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


@contextmanager
def own_streams() -> Iterator[Output]:
    """Put `Output`s in place of stdout and stderr for a while; yields stdout's."""
    _occupy()
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    before = sys.stdout, sys.stderr
    output = Output(before[0])
    sys.stdout, sys.stderr = output, Output(before[1], quiet=True)
    try:
        yield output
    finally:
        sys.stdout, sys.stderr = before

"""How somebody's program ends: where its error stands, what it said last, and that its seconds are over."""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO, cast

__all__ = ["LIMIT", "LastOutput", "LateError", "is_machinery", "listening", "place_of", "within"]

_KEPT = 4000
"""Bytes of a program's last output that are kept."""

_SHOWN = 200
_EARLY = 0.95
"""Share of the seconds behind which a program is told to end; at all of them its process is killed."""


class LateError(BaseException):
    """The seconds of a program are over; no `except Exception` of its own holds it."""


class _Limit:
    """Wall time of a request in seconds, as whoever serves it has it; 0: none."""

    seconds = 0.0


LIMIT = _Limit()


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise `LateError` in the block shortly before its seconds are over; 0: never."""

    def late(_number: int, _frame: FrameType | None) -> None:
        raise LateError(f"not ended after {seconds * _EARLY:.3g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds * _EARLY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class LastOutput(io.RawIOBase):
    """What a program writes to its output: the last of it is kept."""

    def __init__(self) -> None:
        self._last = bytearray()

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the process's own output, for those who write behind Python."""
        return 1

    def write(self, data: Any) -> int:
        """Keep the last bytes."""
        held = bytes(data)
        self._last += held[-_KEPT:]
        del self._last[:-_KEPT]
        return len(held)

    @property
    def shown(self) -> str:
        """The end of it as a clause for a message; empty where nothing was written."""
        line = " ".join(self._last.decode(errors="replace").split())
        text = "".join(one if one.isprintable() else "?" for one in line)
        return f"; its last output: {'…' if len(text) > _SHOWN else ''}{text[-_SHOWN:]}" if text else ""


@contextmanager
def listening() -> Iterator[LastOutput]:
    """Keep what is printed in the block."""
    said = LastOutput()
    stream = io.TextIOWrapper(cast("BinaryIO", said), encoding="utf-8", errors="replace", write_through=True)
    with redirect_stdout(stream), redirect_stderr(stream):
        yield said


_PYTHON = str(Path(os.__file__).parent)
_OURS = str(Path(__file__).resolve().parents[2])


def place_of(error: BaseException) -> str:
    """Return file:line of the innermost statement of somebody's own that ran into an error; empty when there is none.

    Statements of installed packages count where no other does, those of torch and Triton never.
    """
    frames = [one for one in traceback.extract_tb(error.__traceback__) if not one.filename.startswith("<")]
    packages = [one for one in frames if not is_machinery(one.filename)]
    own = [one for one in packages if "site-packages" not in one.filename]
    if not (own or packages):
        return ""
    last = (own or packages)[-1]
    place = os.path.relpath(last.filename)
    return f"{last.filename if place.startswith(os.pardir) else place}:{last.lineno}"


def is_machinery(file: str) -> bool:
    """Return whether a file is Python's own, torch's, Triton's or this package's."""
    if file.startswith(_OURS):
        return True
    if "site-packages" in file:
        return file.partition("site-packages/")[2].split("/")[0] in {"torch", "triton"}
    return file.startswith((_PYTHON, sys.base_prefix))

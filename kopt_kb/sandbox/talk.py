"""A conversation with a child over its pipes: lines and bytes, within seconds and a size, whatever the child does."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

from kopt_kb.sandbox.process import Child, ChildLimits

__all__ = ["Silent", "Talk"]

_CHUNK = 1 << 16
_NO_LIMITS = ChildLimits()


class Silent(Exception):
    """The child said nothing in time, said too much, or is gone; the text says which."""

    def __init__(self, what: str, *, gone: bool = False) -> None:
        super().__init__(what)
        self.gone = gone


class Talk:
    """A child that is asked and answers; end it.

    Args:
        argv: Program and arguments.
        env: Its whole environment.
        stderr: Where its errors go, as for `subprocess`; by default nowhere.
        limits: As for `Child`.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        stderr: int | IO[bytes] = subprocess.DEVNULL,
        limits: ChildLimits = _NO_LIMITS,
    ) -> None:
        pipe = subprocess.PIPE
        self.child = Child(argv, env=env, stdin=pipe, stdout=pipe, stderr=stderr, limits=limits)
        asked, said = self.child.process.stdin, self.child.process.stdout
        if asked is None or said is None:
            raise OSError("a child without pipes")
        self._pipes = (asked, said)
        self._in, self._out = asked.fileno(), said.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._held = bytearray()

    def say(self, data: bytes, timeout_s: float) -> None:
        """Write bytes; raises `Silent` when the child does not take them in time, or is gone."""
        end, left = time.monotonic() + timeout_s, memoryview(data)
        while left:
            if not _ready(self._in, select.POLLOUT, end):
                raise Silent(f"took nothing for {timeout_s:g} s")
            try:
                left = left[os.write(self._in, left[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise Silent("is gone", gone=True) from None

    def is_heard(self, timeout_s: float) -> bool:
        """Return whether the child has said something, or is gone, after waiting for that; nothing is taken."""
        return bool(self._held) or _ready(self._out, select.POLLIN, time.monotonic() + timeout_s)

    def line(self, most: int, timeout_s: float) -> bytes:
        """Return the next line without its end; raises `Silent`."""
        end = time.monotonic() + timeout_s
        while (at := self._held.find(b"\n")) < 0:
            if len(self._held) > most:
                raise Silent(f"said more than {most} bytes")
            self._more(end, timeout_s)
        return self._taken(at, 1)

    def exactly(self, count: int, timeout_s: float) -> bytes:
        """Return so many bytes; raises `Silent`."""
        end = time.monotonic() + timeout_s
        while len(self._held) < count:
            self._more(end, timeout_s)
        return self._taken(count, 0)

    def _taken(self, count: int, ending: int) -> bytes:
        taken = bytes(self._held[:count])
        del self._held[: count + ending]
        return taken

    def _more(self, end: float, timeout_s: float) -> None:
        if not _ready(self._out, select.POLLIN, end):
            raise Silent(f"said nothing for {timeout_s:g} s")
        read = b""
        with suppress(BlockingIOError):
            read = os.read(self._out, _CHUNK)
            if not read:
                raise Silent("is gone", gone=True)
        self._held += read

    def end(self) -> int:
        """End the child with its session and return its status."""
        code = self.child.end()
        for pipe in self._pipes:
            with suppress(OSError):
                pipe.close()
        return code


def _ready(descriptor: int, event: int, end: float) -> bool:
    """Return whether a pipe can be read or written before a moment; one that was closed can."""
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(max(0.0, end - time.monotonic()) * 1000))

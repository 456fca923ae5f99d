"""JSON documents of any size, packed by gzip or not, walked from the outside in: only one element is held at a time.

Not ijson: reports of profilers hold what it refuses (NaN, 64-bit handles with its quick numbers, names that are not
UTF-8, a byte order mark), its errors name no place, and 40 kB of brackets take it 970 MiB. Without its C library it is
13 times as slow, with it a third faster. `benchmarks/json_walkers.py` shows all of it.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.unpacked import open_unpacked

__all__ = ["JsonStream"]

_CHUNK_BYTES = 1 << 18
_MAX_ELEMENT_CHARS = 1 << 25
_MAX_DEPTH = 64
_KEPT_CHARS = 1 << 20
_NO_SPACE = re.compile(r"[^ \t\r\n]")
_AGAIN = "copy or record the report again"


class JsonStream:
    """A cursor over a JSON file.

    The caller walks containers with `members` and `elements` and takes or skips each value before the next step.
    Every method raises `ReportError` with the offset for damaged or truncated text.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stream = open_unpacked(path)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._scan = json.JSONDecoder().raw_decode
        self._text = ""
        self._at = 0
        self._dropped = 0
        self._ended = False

    def __enter__(self) -> JsonStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def _more(self, size: int = _CHUNK_BYTES) -> bool:
        if self._ended:
            return False
        if self._at > _KEPT_CHARS:
            self._dropped += self._at
            self._text = self._text[self._at :]
            self._at = 0
        data = self._stream.read(size)
        self._ended = not data
        self._text += self._decoder.decode(data, final=self._ended)
        return True

    def fault(self, what: str) -> ReportError:
        """Return an error at the current place."""
        return ReportError(f"{what} at character {self._dropped + self._at}", where=self._path, fix=_AGAIN)

    def peek(self) -> str:
        """Return the next character that is no white space, without taking it; empty at the end."""
        while True:
            match = _NO_SPACE.search(self._text, self._at)
            if match is not None:
                self._at = match.start()
                return match[0]
            self._at = len(self._text)
            if not self._more():
                return ""

    def _take(self, wanted: str) -> None:
        found = self.peek()
        if found != wanted:
            raise self.fault(f"{wanted!r} is missing" if found else "the document ends too early")
        self._at += 1

    def value(self) -> Any:
        """Take and return the next value."""
        self.peek()
        size = _CHUNK_BYTES
        while True:
            try:
                found, end = self._scan(self._text, self._at)
            except RecursionError as error:
                raise self.fault("values nested too deep") from error
            except ValueError as error:
                if len(self._text) - self._at > _MAX_ELEMENT_CHARS or not self._more(size):
                    raise self.fault(
                        "no JSON value" if not self._ended else "a value that is cut or damaged"
                    ) from error
            else:
                if end < len(self._text) or not self._more(size):
                    self._at = end
                    return found
            size *= 2

    def elements(self) -> Iterator[None]:
        """Walk an array: the caller takes or skips one value a step."""
        self._take("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield
            if self.peek() == "]":
                self._at += 1
                return
            self._take(",")

    def members(self) -> Iterator[str]:
        """Walk an object: yields each key; the caller takes or skips its value."""
        self._take("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                raise self.fault("a key is missing")
            key = self.value()
            self._take(":")
            yield str(key)
            if self.peek() == "}":
                self._at += 1
                return
            self._take(",")

    def skip(self, depth: int = 0) -> None:
        """Leave out the next value without holding all of it."""
        if depth > _MAX_DEPTH:
            raise self.fault("values nested too deep")
        kind = self.peek()
        if depth >= 2 or kind not in {"[", "{"}:
            self.value()
        elif kind == "[":
            for _ in self.elements():
                self.skip(depth + 1)
        else:
            for _ in self.members():
                self.skip(depth + 1)

    def finish(self) -> None:
        """Check that nothing but white space follows."""
        if self.peek():
            raise self.fault("text after the end of the document")

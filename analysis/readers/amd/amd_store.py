"""Rows of one dispatch put together: several counters, several passes, several files."""

from __future__ import annotations

from collections import OrderedDict

from kopt_kb.analysis.readers.amd.amd_collect import AmdCollector
from kopt_kb.analysis.readers.amd.amd_dispatch import Dispatch, DispatchShape

__all__ = ["DispatchStore"]

_WINDOW = 20_000
_LATE = "some dispatches come again long after their first pass: later times are left out, counters are averaged"
_PAGE_BITS = 13
_MAX_PAGES = 1 << 13

DispatchKey = tuple[str, int, str, str]


class DispatchStore:
    """Hands each dispatch to a collector once, after its last row.

    Dispatches are kept open while fewer than `window` newer ones came; so memory doesn't grow with the report. Rows
    that come later than that count no launch and no time, only their counters, and the profiles say so.
    """

    def __init__(self, collector: AmdCollector, *, window: int = _WINDOW) -> None:
        self._collector = collector
        self._window = window
        self._open: OrderedDict[DispatchKey, Dispatch] = OrderedDict()
        self._closed: dict[tuple[str, int], bytearray] = {}

    def open(self, scope: str, number: int, shape: DispatchShape, file: str, line: int | str) -> Dispatch:
        """Return the record of a dispatch.

        Args:
            scope: Process, or another thing inside which numbers are unique.
            number: Dispatch id.
            shape: Its configuration; one with extents replaces one without.
            file: Where the row stands.
            line: Its line, or the place as text.
        """
        key = (scope, number, shape.name, shape.device.name)
        found = self._open.get(key)
        if found is None:
            again = bool(self._closed) and self._was_closed(scope, number)
            found = self._open[key] = Dispatch(number, file, line, shape, again=again)
            if again:
                self._collector.note(_LATE)
            if len(self._open) > self._window:
                self._close(*self._open.popitem(last=False))
        elif found.shape.threads is None and shape.threads is not None:
            found.shape = shape
        return found

    def note(self, text: str) -> None:
        """Keep a remark for the profiles."""
        self._collector.note(text)

    def _close(self, key: DispatchKey, record: Dispatch) -> None:
        self._collector.add(record)
        page = self._closed.get((key[0], key[1] >> _PAGE_BITS))
        if page is None:
            if len(self._closed) >= _MAX_PAGES:
                return
            page = self._closed[key[0], key[1] >> _PAGE_BITS] = bytearray(1 << (_PAGE_BITS - 3))
        bit = key[1] & ((1 << _PAGE_BITS) - 1)
        page[bit >> 3] |= 1 << (bit & 7)

    def _was_closed(self, scope: str, number: int) -> bool:
        page = self._closed.get((scope, number >> _PAGE_BITS))
        bit = number & ((1 << _PAGE_BITS) - 1)
        return page is not None and bool(page[bit >> 3] & (1 << (bit & 7)))

    def flush(self) -> None:
        """Hand over all open dispatches."""
        for record in self._open.values():
            self._collector.add(record)
        self._open.clear()

"""Rows of one dispatch put together: several counters, several passes, several files."""

from __future__ import annotations

import statistics
from collections import OrderedDict
from dataclasses import dataclass, field

from kopt_kb.analysis.profile import Place
from kopt_kb.analysis.readers.amd_collect import AmdCollector, Dispatch, Shape

__all__ = ["DispatchStore", "OpenDispatch"]

_WINDOW = 20_000
_LATE = "some dispatches come again long after their first pass: later times are left out, counters are averaged"
_PAGE_BITS = 13
_MAX_PAGES = 1 << 13

Key = tuple[str, int, str, str]


@dataclass(slots=True)
class OpenDispatch:
    """A dispatch whose rows are still coming.

    Attributes:
        spans_ns: Time by start, one for each pass.
        counters: First value of each counter.
        repeated: All values of counters that came in several passes.
        again: Whether the dispatch was handed over before.
        rows: Rows by start, for tools that weigh a pass by its rows.
    """

    id: str
    place: Place
    shape: Shape
    spans_ns: dict[int, float] = field(default_factory=dict)
    counters: dict[str, float] = field(default_factory=dict)
    repeated: dict[str, list[float]] = field(default_factory=dict)
    again: bool = False
    rows: dict[int, int] = field(default_factory=dict)

    def count(self, name: str, value: float) -> None:
        """Take one counter value; a second one of the same name comes from another pass."""
        if name in self.counters:
            self.repeated.setdefault(name, [self.counters[name]]).append(value)
        else:
            self.counters[name] = value

    def done(self) -> Dispatch:
        """Return the dispatch: medians over passes, never sums."""
        for name, values in self.repeated.items():
            self.counters[name] = statistics.median(values)
        usable = [one for start, one in self.spans_ns.items() if one > 0 for _ in range(self.rows.get(start, 1))]
        duration_ns = float(statistics.median(usable)) if usable else None
        return Dispatch(self.id, self.place, self.shape, duration_ns, self.counters)


class DispatchStore:
    """Hands each dispatch to a collector once, after its last row.

    Dispatches are kept open while fewer than `window` newer ones came; so memory doesn't grow with the report. Rows
    that come later than that count no launch and no time, only their counters, and the profiles say so.
    """

    def __init__(self, collector: AmdCollector, *, window: int = _WINDOW) -> None:
        self._collector = collector
        self._window = window
        self._open: OrderedDict[Key, OpenDispatch] = OrderedDict()
        self._closed: dict[tuple[str, int], bytearray] = {}

    def open(self, scope: str, number: int, shape: Shape, place: Place) -> OpenDispatch:
        """Return the record of a dispatch.

        Args:
            scope: Process, or another thing inside which numbers are unique.
            number: Dispatch id.
            shape: Its configuration; one with extents replaces one without.
            place: Where the row stands.
        """
        key = (scope, number, shape.name, shape.device.name)
        found = self._open.get(key)
        if found is None:
            found = self._open[key] = OpenDispatch(str(number), place, shape, again=self._was_closed(scope, number))
            if found.again:
                self._collector.note(_LATE)
            if len(self._open) > self._window:
                self._close(*self._open.popitem(last=False))
        elif found.shape.threads is None and shape.threads is not None:
            found.shape = shape
        return found

    def _close(self, key: Key, record: OpenDispatch) -> None:
        self._collector.add(record.done(), again=record.again)
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
            self._collector.add(record.done(), again=record.again)
        self._open.clear()

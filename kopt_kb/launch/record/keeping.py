"""Things that are kept for a second use, up to a number of bytes; the oldest goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["Keeping"]

T = TypeVar("T")


class Keeping(Generic[T]):
    """A dictionary that forgets.

    Args:
        most_bytes: Bytes that all it keeps may have together.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._bytes = 0

    def keep(self, key: Hashable, what: T, size_bytes: int) -> None:
        """Keep something, unless it is larger than all that may be kept."""
        self.drop(key)
        if size_bytes > self._most_bytes:
            return
        while self._bytes + size_bytes > self._most_bytes:
            self._bytes -= self._kept.popitem(last=False)[1][1]
        self._kept[key] = what, size_bytes
        self._bytes += size_bytes

    def find(self, key: Hashable) -> T | None:
        """Return what is kept under a key, which is then the youngest; None when there is nothing."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def drop(self, key: Hashable) -> None:
        """Forget what is kept under a key."""
        if key in self._kept:
            self._bytes -= self._kept.pop(key)[1]

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()
        self._bytes = 0

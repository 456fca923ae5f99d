"""The table of readers, in the order their tests are tried."""

from __future__ import annotations

from kopt_kb.analysis.readers.base import Reader

__all__ = ["READERS"]

READERS: tuple[Reader, ...] = ()

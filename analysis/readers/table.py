"""The table of readers, in the order their tests are tried."""

from __future__ import annotations

from kopt_kb.analysis.readers.base import Reader
from kopt_kb.analysis.readers.ncu_rep import NCU_REP

__all__ = ["READERS"]

READERS: tuple[Reader, ...] = (NCU_REP,)

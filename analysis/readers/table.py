"""The table of readers, in the order their tests are tried."""

from __future__ import annotations

from kopt_kb.analysis.readers.base import Reader
from kopt_kb.analysis.readers.ncu_csv import NCU_CSV, NCU_OTHER_PAGE
from kopt_kb.analysis.readers.ncu_rep import NCU_REP
from kopt_kb.analysis.readers.ncu_text import NCU_TEXT

__all__ = ["READERS"]

READERS: tuple[Reader, ...] = (NCU_REP, NCU_CSV, NCU_OTHER_PAGE, NCU_TEXT)

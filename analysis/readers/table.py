"""The table of readers, in the order their tests are tried."""

from __future__ import annotations

from kopt_kb.analysis.readers.att import ATT
from kopt_kb.analysis.readers.base import Reader
from kopt_kb.analysis.readers.ncu_csv import NCU_CSV, NCU_OTHER_PAGE
from kopt_kb.analysis.readers.ncu_rep import NCU_REP
from kopt_kb.analysis.readers.ncu_text import NCU_TEXT
from kopt_kb.analysis.readers.rocpd import ROCPD
from kopt_kb.analysis.readers.rocprof_compute import ROCPROF_COMPUTE
from kopt_kb.analysis.readers.rocprof_compute_db import ROCPROF_COMPUTE_DB
from kopt_kb.analysis.readers.rocprof_v1 import ROCPROF_V1, ROCPROF_V1_DB
from kopt_kb.analysis.readers.rocprofv3_csv import ROCPROFV3_CSV
from kopt_kb.analysis.readers.rocprofv3_json import ROCPROFV3_JSON

__all__ = ["READERS"]

READERS: tuple[Reader, ...] = (
    NCU_REP,
    NCU_CSV,
    NCU_OTHER_PAGE,
    NCU_TEXT,
    ROCPD,
    ROCPROF_COMPUTE_DB,
    ROCPROF_V1_DB,
    ROCPROFV3_JSON,
    ROCPROF_COMPUTE,
    ROCPROFV3_CSV,
    ROCPROF_V1,
    ATT,
)

"""The table of readers, in the order their tests are tried."""

from __future__ import annotations

from kopt_kb.analysis.readers.amd.att import ATT
from kopt_kb.analysis.readers.amd.rocpd import ROCPD
from kopt_kb.analysis.readers.amd.rocprof_compute import ROCPROF_COMPUTE
from kopt_kb.analysis.readers.amd.rocprof_compute_db import ROCPROF_COMPUTE_DB
from kopt_kb.analysis.readers.amd.rocprof_compute_passes import ROCPROF_COMPUTE_PASSES
from kopt_kb.analysis.readers.amd.rocprof_v1 import ROCPROF_V1, ROCPROF_V1_DB
from kopt_kb.analysis.readers.amd.rocprofv3_csv import ROCPROFV3_CSV
from kopt_kb.analysis.readers.amd.rocprofv3_json import ROCPROFV3_JSON
from kopt_kb.analysis.readers.common.base import Reader
from kopt_kb.analysis.readers.nvidia.ncu_csv import NCU_CSV, NCU_OTHER_PAGE
from kopt_kb.analysis.readers.nvidia.ncu_rep import NCU_REP
from kopt_kb.analysis.readers.nvidia.ncu_text import NCU_TEXT
from kopt_kb.analysis.readers.trace.chrome import CHROME_TRACE
from kopt_kb.analysis.readers.trace.hatchet import HATCHET
from kopt_kb.analysis.readers.trace.nsys import NSYS_SQLITE
from kopt_kb.analysis.readers.trace.rpd import RPD

__all__ = ["READERS"]

READERS: tuple[Reader, ...] = (
    NCU_REP,
    NCU_CSV,
    NCU_OTHER_PAGE,
    NCU_TEXT,
    NSYS_SQLITE,
    RPD,
    ROCPROF_COMPUTE_PASSES,
    ROCPD,
    ROCPROF_COMPUTE_DB,
    ROCPROF_V1_DB,
    ROCPROFV3_JSON,
    HATCHET,
    CHROME_TRACE,
    ROCPROF_COMPUTE,
    ROCPROFV3_CSV,
    ROCPROF_V1,
    ATT,
)

"""From a profiler's report of a candidate to a gate result and a profile record bound to the candidate's blob."""

from __future__ import annotations

import tempfile
from pathlib import Path

from kopt_kb.analysis.profile.sol import sol_class
from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.errors import KoptError
from kopt_kb.runners.candidate.answers import Evidence
from kopt_kb.tuning.decision import GateResult
from kopt_kb.workspace.journal.setup_events import ProfileRead

__all__ = ["read_evidence"]

_SHOWN = (
    "memory_sol_pct", "sm_sol_pct", "dram_sol_pct", "achieved_occupancy_pct", "registers_per_thread", "waves_per_sm",
    "duration_s",
)  # fmt: skip


def read_evidence(result: Evidence, report: str, kernel: str) -> tuple[GateResult, ProfileRead | None]:
    """Return the gate's word and the record of a profiling run.

    Args:
        result: The run's answer.
        report: Blob of the CSV.
        kernel: Blob of the candidate it was taken of.
    """
    with tempfile.TemporaryDirectory(prefix="kb-ncu-") as folder:
        path = Path(folder) / "ncu.csv"
        path.write_text(result.csv, encoding="utf-8")
        try:
            found = next(iter(read_profiles(path)), None)
        except KoptError as error:
            return GateResult("evidence", "unavailable", str(error)[:300]), None
    if found is None:
        return GateResult("evidence", "unavailable", "the report has no kernel"), None
    code = sol_class(found) or "unclassified"
    metrics = {name: float(found.metrics[name]) for name in _SHOWN if name in found.metrics}
    evidence = ({"kernel": found.name, "shape": result.shape, "metrics": metrics},)
    return GateResult("evidence", "pass", f"{found.name}: {code}"), ProfileRead(report, "ncu", kernel, code, evidence)

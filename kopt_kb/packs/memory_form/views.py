"""Everything that the form renders: memory, reports and logs, each attempt's memory made once for all."""

from __future__ import annotations

from kopt_kb.packs.memory_form.logs import optimize_log, performance_trend
from kopt_kb.packs.memory_form.memory import memories_of, memory_files
from kopt_kb.packs.memory_form.reports import baseline_report, round_summaries
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["form_texts"]


def form_texts(state: WorkspaceState, blob: BlobReader) -> dict[str, str]:
    """Return memory/v<N>.json, baseline_report.md, rounds/round-<N>/summary.md and two files of logs/."""
    memories = memories_of(state, blob)
    files: dict[str, str] = {}
    for view in (memory_files, baseline_report, round_summaries, performance_trend, optimize_log):
        files |= view(state, blob, memories)
    return files

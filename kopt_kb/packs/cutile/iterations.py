"""Renders sandbox/perf_results.md: one line an iteration, as the cuTile loop keeps it; no commit holds it."""

from __future__ import annotations

from kopt_kb.launch.candidate.job import Ending
from kopt_kb.wiki.tables import cell
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.words import SANDBOX, finish

__all__ = ["RESULTS", "perf_results"]

RESULTS = f"{SANDBOX}perf_results.md"

_HEAD = (
    "| iteration | optimization | latency_ms | correctness | status |",
    "|----------:|:-------------|-----------:|:------------|-------:|",
)
_DIED: tuple[Ending, ...] = ("crash", "hang", "oom")


def perf_results(state: WorkspaceState, _: BlobReader) -> dict[str, str]:
    """Return sandbox/perf_results.md: decided rounds that are not masked.

    The latency is the geometric mean over the shapes of the medians, in milliseconds with six decimals; empty where
    the candidate was not timed. Correctness is PASS where that gate passed, else FAIL.
    """
    shown = [one for one in state.rounds if one.decided is not None and one.number not in state.masked]
    return {RESULTS: finish([*_HEAD, *(_row(one) for one in shown)])}


def _row(attempt: Round) -> str:
    claim = attempt.hypothesis.claim if attempt.hypothesis is not None else "baseline"
    mean_s = attempt.mean_s()
    latency = f"{1e3 * mean_s:.6f}" if mean_s is not None else ""
    judged = attempt.gates.get("correctness")
    is_right = judged is not None and judged.result == "pass"
    is_same = attempt.decided is not None and attempt.decided.rule == "unchanged"  # byte for byte what was right
    verdict = "PASS" if is_right or is_same else "FAIL"
    return f"| {attempt.number} | {cell(claim)} | {latency} | {verdict} | {_status(attempt)} |"


def _status(attempt: Round) -> str:
    """Return keep, revert, or crash where the candidate did not build or its process died."""
    if attempt.accepted:
        return "keep"
    built = attempt.gates.get("build")
    own = [one.finished for one in attempt.runs.values() if one.started.candidate == attempt.name]
    died = any(one is not None and one.outcome in _DIED for one in own)
    return "crash" if died or (built is not None and built.result == "fail") else "revert"

"""A suite's results in the forms that KernelBench, SOL-ExecBench and FlashInfer-Bench keep.

Scores need a measured time of the reference, which a suite does not take: without one they are UNSCORED.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_json
from kopt_kb.base.wire import JSON, plain
from kopt_kb.packs.problem_sets.suite_rows import Suite, SuiteRow

__all__ = ["read_baselines", "sol_score", "write_results"]

UNSCORED = "UNSCORED"
_MS, _US = 1e3, 1e6
Baselines = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Status:
    """Word of the benches for a verdict."""

    word: str
    compiled: bool


_STATUS = {
    "correct": _Status("PASSED", compiled=True),
    "wrong": _Status("INCORRECT_NUMERICAL", compiled=True),
    "not judged": _Status("RUNTIME_ERROR", compiled=False),
    "no kernel": _Status("COMPILE_ERROR", compiled=False),
    "refused": _Status("INVALID_REFERENCE", compiled=False),
}


def read_baselines(path: Path) -> dict[str, float]:
    """Return problem, or `problem shape`, → measured seconds of its reference.

    The file is `{"36_RMSNorm_": 0.0123, "rmsnorm_h4096 7": 1.1e-5}`, or KernelBench's own table of baseline times,
    whose means are milliseconds.

    Raises:
        BadInput: It is neither.
    """
    data = read_json(path)
    found: dict[str, float] = {}
    if not isinstance(data, dict):
        raise BadInput("is no table of times", where=str(path), fix="docs/problems.md shows both forms", code="KB116")
    for name, value in data.items():
        if isinstance(value, dict):
            means = {key: one.get("mean") for key, one in value.items() if isinstance(one, dict)}
            found |= {Path(key).stem: mean / _MS for key, mean in means.items() if isinstance(mean, int | float)}
        elif isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            found[name] = float(value)
        else:
            raise BadInput(f"{name} is no time", where=str(path), fix="give seconds", code="KB105")
    return found


def sol_score(median_s: float, least_s: float, reference_s: float) -> float:
    """Return SOL-ExecBench's score: 1 at the least time, 0.5 at the reference's.

    >>> round(sol_score(2e-6, 1e-6, 3e-6), 3)
    0.667
    """
    gap = reference_s - least_s
    if gap <= 0:
        return 1.0 if median_s <= least_s else 0.0
    return 1.0 / (1.0 + max(median_s - least_s, 0.0) / gap)


def write_results(suite: Suite, out: Path, baselines: Baselines) -> list[Path]:
    """Write one file for each form that the suite has problems of; returns them."""
    written = []
    bench = [one for one in suite.rows if one.source == "KernelBench"]
    if bench:
        written.append(_document(out / "kernelbench_eval_results.json", _kernelbench(bench, baselines, suite.platform)))
    forms: tuple[tuple[str, str], ...] = (
        ("SOL-ExecBench", "sol_execbench_traces.jsonl"), ("FlashInfer-Bench", "flashinfer_bench_traces.jsonl"),
    )  # fmt: skip
    for source, name in forms:
        rows = [one for one in suite.rows if one.source == source]
        if rows:
            lines = [json.dumps(_trace(one, baselines, suite.platform)) for one in rows]
            (out / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
            written.append(out / name)
    return written


def _document(path: Path, data: JSON) -> Path:
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return path


def _reference_s(row: SuiteRow, baselines: Baselines) -> float | None:
    names = (f"{row.problem} {row.shape}", row.problem, Path(row.file).stem)
    return next((baselines[one] for one in names if one in baselines), None)


def _kernelbench(rows: Iterable[SuiteRow], baselines: Baselines, platform: str) -> JSON:
    """Return `eval_results.json`: problem number → samples; times in microseconds, as its schema says."""
    found: dict[str, JSON] = {}
    for row in rows:
        number = re.match(r"\d+", Path(row.file).stem)
        status, reference = _STATUS[row.verdict], _reference_s(row, baselines)
        time_us = row.median_s * _US if row.median_s is not None and not row.simulated else -1.0
        metadata = {"hardware": platform, "device": "cuda:0", "reason": row.reason, "judge": row.trust}
        found[number[0] if number else row.problem] = plain(
            [
                {
                    "sample_id": 0,
                    "compiled": status.compiled,
                    "correctness": row.verdict == "correct",
                    "metadata": metadata,
                    "runtime": time_us,
                    "runtime_stats": {"median": time_us} if time_us >= 0 else {},
                    "ref_runtime": -1.0 if reference is None else reference * _US,
                }
            ]
        )
    return plain(found)


def _trace(row: SuiteRow, baselines: Baselines, platform: str) -> JSON:
    """Return one trace; errors of single elements are not what judges, so none is stated."""
    reference, timed = _reference_s(row, baselines), row.median_s is not None and not row.simulated
    performance = None
    if row.verdict == "correct" and timed and row.median_s is not None:
        speedup = None if reference is None else reference / row.median_s
        reference_ms = None if reference is None else reference * _MS
        performance = {
            "latency_ms": row.median_s * _MS, "reference_latency_ms": reference_ms, "speedup_factor": speedup,
            "sol_latency_ms": None if row.least_s is None else row.least_s * _MS, "sol_score": _score(row, reference),
        }  # fmt: skip
    evaluation = {
        "status": _STATUS[row.verdict].word,
        "log": row.reason or "judged by kopt-kb: norm, blocks and elements against a float64 reference",
        "correctness": None,
        "performance": performance,
        "environment": {"hardware": platform, "libs": {}},
        "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    workload = {"uuid": row.workload, "shape": row.shape}
    return plain(
        {"definition": row.problem, "solution": "kopt-kb baseline", "workload": workload, "evaluation": evaluation}
    )


def _score(row: SuiteRow, reference_s: float | None) -> float | str:
    if reference_s is None or row.least_s is None or row.median_s is None:
        return UNSCORED
    return sol_score(row.median_s, row.least_s, reference_s)

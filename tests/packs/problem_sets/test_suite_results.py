"""A suite in the benches' own forms; what was not measured has no score."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.problem_sets.suite_results import read_baselines, sol_score, write_results
from kopt_kb.packs.problem_sets.suite_rows import Suite, SuiteRow

ROWS = (
    SuiteRow("kernelbench_36", "KernelBench", "l/36_RMSNorm_.py", "correct", "", "8x8", "", 2e-6, 1e-6),
    SuiteRow("kernelbench_7", "KernelBench", "l/7_Norm.py", "wrong", "relative error 1", "8x8"),
    SuiteRow("rms", "SOL-ExecBench", "s/definition.json", "correct", "", "7", "w7", 2e-6, 1e-6),
    SuiteRow("rms", "SOL-ExecBench", "s/definition.json", "correct", "", "8", "w8", 2e-6, 1e-6, simulated=True),
    SuiteRow("own", "problem.toml", "problem.toml", "correct", "", "7", "", 2e-6, 1e-6),
)


def test_scores_need_a_measured_reference(tmp_path: Path) -> None:
    """UNSCORED without one; simulated times are no performance."""
    plain, scored = tmp_path / "a", tmp_path / "b"
    for out, baselines in ((plain, {}), (scored, {"rms 7": 3e-6})):
        out.mkdir()
        write_results(Suite("T10", ROWS), out, baselines)
    lines = [json.loads(one) for one in (plain / "sol_execbench_traces.jsonl").read_text().splitlines()]
    assert [one["workload"]["uuid"] for one in lines] == ["w7", "w8"]
    assert lines[0]["evaluation"]["performance"]["sol_score"] == "UNSCORED"
    assert lines[0]["evaluation"]["performance"]["speedup_factor"] is None
    assert lines[1]["evaluation"]["performance"] is None
    first = json.loads((scored / "sol_execbench_traces.jsonl").read_text().splitlines()[0])["evaluation"]["performance"]
    assert first["sol_score"] == pytest.approx(2 / 3)
    assert first["speedup_factor"] == pytest.approx(1.5)


def test_kernelbench_keeps_microseconds_by_number(tmp_path: Path) -> None:
    """A wrong answer has no time."""
    write_results(Suite("T10", ROWS), tmp_path, {"36_RMSNorm_": 4e-6})
    found = json.loads((tmp_path / "kernelbench_eval_results.json").read_text())
    assert found["36"][0] | {"metadata": None} == {
        "sample_id": 0, "compiled": True, "correctness": True, "metadata": None, "runtime": 2.0,
        "runtime_stats": {"median": 2.0}, "ref_runtime": 4.0,
    }  # fmt: skip
    assert (found["7"][0]["correctness"], found["7"][0]["runtime"]) == (False, -1.0)


@pytest.mark.parametrize(("median", "score"), [(1e-6, 1.0), (3e-6, 0.5), (5e-6, 1 / 3), (0.5e-6, 1.0)])
def test_the_score(median: float, score: float) -> None:
    """1 at the least time, a half at the reference's."""
    assert sol_score(median, 1e-6, 3e-6) == pytest.approx(score)
    assert sol_score(2e-6, 1e-6, 1e-6) == 0.0


def test_both_forms_of_baselines(tmp_path: Path) -> None:
    """Seconds of one's own; KernelBench's table is in milliseconds."""
    path = tmp_path / "b.json"
    path.write_text(json.dumps({"a": 0.5, "level1": {"36_RMSNorm_.py": {"mean": 12.0}}}))
    assert read_baselines(path) == {"a": 0.5, "36_RMSNorm_": 0.012}
    for bad in ("[]", '{"a": "b"}', '{"a": -1}'):
        path.write_text(bad)
        with pytest.raises(BadInput):
            read_baselines(path)

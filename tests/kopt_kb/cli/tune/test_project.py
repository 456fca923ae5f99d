"""`kb tune` on a workspace of a project: no further flags, a dry run that shows the project, a patch at the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


@pytest.fixture
def workspace(project_root: Path, wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Its workspace, on two shapes."""
    words = [
        "init", "demo", "--project", str(project_root / "project.toml"), "--platform", "T10", "--framework", "Python",
        "--accept-reported",
        "--shape", "512x512x512", "--shape", "2048x2048x2048", "--parent", str(tmp_path), "--wiki", str(wiki_root),
    ]  # fmt: skip
    file = project_root / "project.toml"
    file.write_text(
        file.read_text()
        .replace('--csv {csv}", limit_s = 600', '--csv {csv} --shapes {shapes}", limit_s = 600')
        .replace('"all"', '["512x512x512", "2048x2048x2048"]')
    )
    assert main(words) == 0
    capsys.readouterr()
    return str(tmp_path / "kernel_opt_demo")


def plan(tmp_path: Path, **answer: object) -> str:
    """A plan file."""
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"category": "memory_traffic", "claim": "more", "expected": "less time", **answer}))
    return str(path)


def test_a_dry_run_shows_the_project(workspace: str, capsys: pytest.CaptureFixture[str], project_root: Path) -> None:
    """Commands, paths, target; nothing is written."""
    before = (Path(workspace) / "journal.jsonl").read_bytes()
    assert main(["tune", "run", workspace, "--dry-run", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["test"] == "{python} tests/check_gemm.py (at most 600 s)"
    assert (found["editable"], found["performance_target"]) == (["ops/*.py"], "> 30 TFLOPS")
    assert found["root"] == str(project_root) and found["proposers"] == []
    assert main(["tune", "run", workspace, "--dry-run"]) == 0
    assert "ops/*.py" in capsys.readouterr().out
    assert (Path(workspace) / "journal.jsonl").read_bytes() == before


@pytest.mark.parametrize("flag", [["--simulate"], ["--executor-command", "srun"]])
def test_other_ways_to_run_are_refused(workspace: str, capsys: pytest.CaptureFixture[str], flag: list[str]) -> None:
    """The project's commands are the way."""
    assert main(["tune", "run", workspace, "--yes", *flag]) == 2
    assert f"{flag[0]} on a workspace that runs a project's own commands" in capsys.readouterr().err


def test_a_campaign_and_its_patch(
    workspace: str, tmp_path: Path, project_root: Path, capsys: pytest.CaptureFixture[str], wiki_root: Path
) -> None:
    """Baseline alone, then one step at a time with a plan; status, report, patch and audit agree."""
    assert main(["tune", "patch", workspace]) == 2
    assert "no accepted version yet" in capsys.readouterr().err
    assert main(["tune", "run", workspace, "--yes", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["stop"]["reason"] == "exhausted"
    assert main(["tune", "patch", workspace]) == 0
    assert capsys.readouterr().out == ""
    source = (project_root / "ops" / "gemm.py").read_text().replace("TILE = 64", "TILE = 256")
    patch = '--- a/ops/config.py\n+++ b/ops/config.py\n@@ -1,3 +1,3 @@\n """What the kernel is launched with."""\n \n-STAGES = 2\n+STAGES = 3\n'
    for answer in ({"files": {"ops/gemm.py": source}}, {"patch": patch, "claim": "deeper"}):
        words = ["tune", "run", workspace, "--plan", plan(tmp_path, **answer), "--budget-rounds", "1", "--yes"]
        assert main(words) in {0, 1}
        capsys.readouterr()
    assert main(["tune", "patch", workspace, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["baseline"], found["files"]) == ("v0", ["ops/config.py", "ops/gemm.py"])
    subprocess.run(["git", "init", "-q"], cwd=project_root, check=True)
    subprocess.run(["git", "apply", "-"], input=found["patch"].encode(), cwd=project_root, check=True)
    assert (project_root / "ops" / "config.py").read_text().endswith("STAGES = 3\n")
    assert (Path(workspace) / "project" / "ops" / "config.py").read_text().endswith("STAGES = 3\n")
    assert main(["tune", "report", workspace]) in {0, 1}
    assert main(["audit", workspace, "--wiki", str(wiki_root)]) == 0, capsys.readouterr().out


def test_a_patch_keeps_the_files_own_bytes(workspace: str, tmp_path: Path, project_root: Path) -> None:
    """Also where the terminal speaks another encoding."""
    source = (project_root / "ops" / "gemm.py").read_text().replace("TILE = 64", "TILE = 256  # größer")
    words = ["--plan", plan(tmp_path, source=source), "--budget-rounds", "1", "--yes"]
    assert main(["tune", "run", workspace, *words]) in {0, 1}
    command = [sys.executable, "-m", "kopt_kb", "tune", "patch", workspace]
    done = subprocess.run(
        command, capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    )
    assert "+TILE = 256  # größer\n".encode() in done.stdout and done.stderr == b""


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"files": {"tests/check_gemm.py": "x"}}, "'tests/check_gemm.py' is outside the editable paths"),
        ({"files": {"../x.py": "x"}}, "'../x.py' is no plain path"),
        ({"files": {"ops/gemm.py": 3}}, "either source, patch or files"),
        ({"files": {}, "source": "x"}, "either source, patch or files"),
        ({"source": "x = 1\n", "risk": "huge"}, "the risk is 'huge'"),
        ({"patch": "nonsense"}, "names no file"),
        ({"files": {}}, "the proposal changes nothing"),
    ],
)
def test_bad_plans_are_refused_in_one_line(
    workspace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], answer: dict[str, object], said: str
) -> None:
    """Nothing of the round is written."""
    assert main(["tune", "run", workspace, "--plan", plan(tmp_path, **answer), "--yes"]) == 2
    error = capsys.readouterr().err.splitlines()
    assert said in error[-1] and not any("Traceback" in line for line in error)
    assert (Path(workspace) / "journal.jsonl").read_text().count('"kind":"round_started"') == 1


def test_a_patch_of_a_kernel_file(tmp_path: Path, wiki_root: Path, repo_root: Path, capsys) -> None:
    """Without a project it is the difference of kernel.py."""
    words = [
        "init", "norm", "--platform", "T10", "--framework", "Triton", "--kernel-demo",
        str(repo_root / "kernels" / "naive" / "rms_norm.py"), "--shape", "1024x512", "--dtype", "bf16",
        "--parent", str(tmp_path), "--wiki", str(wiki_root),
    ]  # fmt: skip
    assert main(words) == 0
    root = str(tmp_path / "kernel_opt_norm")
    assert main(["tune", "run", root, "--simulate", "--max-rounds", "1", "--evaluations", "4", "--yes"]) == 0
    capsys.readouterr()
    assert main(["tune", "patch", root]) == 0
    assert capsys.readouterr().out.startswith("diff --git a/kernel.py b/kernel.py\n")


def test_a_host_meets_no_condition_of_a_gpu(
    project_root: Path, wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A benchmark on a processor prints rates above a product's target: nothing is met, and it says why."""
    file = project_root / "project.toml"
    text = file.read_text().replace("> 30 TFLOPS", "> 0.01 TFLOPS").replace('"all"', '["512x512x512"]')
    file.write_text(text.replace('--csv {csv}", limit_s = 600', '--csv {csv} --shapes {shapes}", limit_s = 600'))
    words = ["init", "demo", "--project", str(file), "--platform", "T10", "--framework", "Python", "--accept-reported"]
    assert main([*words, "--parent", str(tmp_path), "--wiki", str(wiki_root)]) == 0
    root = str(tmp_path / "kernel_opt_demo")
    capsys.readouterr()
    assert main(["tune", "run", root, "--yes", "--json"]) == 1
    said = capsys.readouterr()
    assert "Stop Conditions of T10 are not evaluable" in said.err
    report = json.loads(said.out)
    assert report["stop"]["reason"] == "exhausted"
    assert report["stop_conditions"] == "not evaluable"
    assert "| yes |" not in (Path(root) / "README.md").read_text()


def test_a_patch_of_a_version_that_is_not_confirmed(
    project_root: Path, wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A budget ended the campaign before its last round: people are told."""
    words = [
        "init",
        "demo",
        "--project",
        str(project_root / "project.toml"),
        "--platform",
        "T10",
        "--framework",
        "Python",
        "--accept-reported",
    ]
    shapes = [f"--shape={one}" for one in ("512x512x512", "1024x1024x1024", "2048x2048x2048", "8192x8192x8192")]
    file = project_root / "project.toml"
    file.write_text(file.read_text().replace('"> 30 TFLOPS"', '"> 90 TFLOPS"'))
    bench = project_root / "benchmark" / "bench_gemm.py"
    bench.write_text(bench.read_text().replace(', "4096x4096x4096"', ""))
    assert main([*words, *shapes, "--parent", str(tmp_path), "--wiki", str(wiki_root)]) == 0
    workspace = str(tmp_path / "kernel_opt_demo")
    source = (project_root / "ops" / "gemm.py").read_text().replace("TILE = 64", "TILE = 128")
    chosen = ["--plan", plan(tmp_path, source=source), "--budget-rounds", "1", "--yes"]
    assert main(["tune", "run", workspace, *chosen]) in {0, 1}
    capsys.readouterr()
    assert main(["tune", "patch", workspace]) == 0
    found = capsys.readouterr()
    assert found.out.startswith("diff --git a/ops/gemm.py") and "v1 was measured on the representative" in found.err

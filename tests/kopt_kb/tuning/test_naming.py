"""A named campaign: manifest, branch, tips, quick script, snapshots, trend of both passes; the project is not touched."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from campaign_words import Make, decisions, finish, kernel

from kopt_kb.tuning.naming import tips_path
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from tests.packs.training_step.test_gate import FEW, SHAPES

_CAMPAIGN = """[campaign]
op = "gemm_fp16"
backend = "CK"
execution_mode = "workspace"
constraints = ["matmul keeps its arguments"]

[csv]
"""
TABLE = ("[csv]\n", _CAMPAIGN)


def _git(folder: Path, *words: str) -> str:
    own = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_a_campaign_with_a_name(make_project, project_campaign: Make, project_root: Path, wiki_root: Path) -> None:
    """Its branch holds accepted versions, made without touching index, files or HEAD of the project."""
    _git(project_root, "init", "-q", "-b", "main")
    workspace = make_project(TABLE, *FEW, shapes=SHAPES)
    _git(project_root, "add", "-A")
    _git(project_root, "commit", "-qm", "as it was")
    before = _git(project_root, "rev-parse", "HEAD"), _git(project_root, "status", "--porcelain")
    answers = [("double the tile", kernel(128)), ("half of it", kernel(32))]
    finish(project_campaign(workspace, answers, name="primus"))
    assert [one[1] for one in decisions(workspace)][:3] == ["accept", "accept", "rollback"]
    state, root = workspace.state(), workspace.layout.root
    named = state.named
    assert named is not None
    assert re.fullmatch(r"gemm_fp16_ck_sm_00_\d{8}_[0-9a-f]{6}", named.name)
    assert (named.backend, named.language, named.upstream) == ("CK", "HIP", before[0])
    branch = f"optimize/{named.name}"
    assert "TILE = 128" in _git(project_root, "show", f"{branch}:ops/gemm.py")
    assert _git(project_root, "rev-parse", f"{branch}~1") == before[0]
    assert _git(project_root, "diff", "--name-only", f"{branch}~1", branch) == "ops/gemm.py"
    assert (_git(project_root, "rev-parse", "HEAD"), _git(project_root, "status", "--porcelain")) == before
    manifest = (root / "manifest.yaml").read_text()
    for line in (
        'target_backend: "CK"', 'target_lang: "HIP"', 'execution_mode: "workspace"', f'git_branch: "{branch}"',
        'constraints: ["matmul keeps its arguments"]', f'upstream_commit: "{before[0]}"', "max_iterations: 119",
    ):  # fmt: skip
        assert line in manifest
    assert re.search(r'^created: "\d{4}-\d\d-\d\d \d\d:\d\d"$', manifest, re.MULTILINE)
    for place in ("src/ops/gemm.py", "tests/tests/check_gemm.py", "bench/benchmark/bench_gemm.py"):
        assert (root / place).is_file(), place
    shots = [(root / f"rounds/round-{at}/kernel_snapshot/ops/gemm.py").read_text() for at in (1, 2, 3)]
    assert [next(word for word in ("= 64", "= 128", "= 32") if f"TILE {word}" in one) for one in shots] == [
        "= 64", "= 128", "= 32"
    ]  # fmt: skip
    summary = (root / "rounds/round-2/summary.md").read_text()
    for line in ("Bucket: K1 ", "Cache key: no cache", "Decision: ACCEPT-as-real", "4-step trace hit rate: no cache"):
        assert f"- {line}" in summary
    assert "clean" in (root / "logs/optimize.md").read_text()
    assert "T4 user stop: no" in (root / "logs/optimize.md").read_text()
    tips = tips_path(root.parent / "agent/historical_experience", "sm_00", "gemm_fp16", "CK")
    lines = tips.read_text().splitlines()[2:]
    assert [line.split(":")[0] for line in lines] == ["- worked", "- did not work"]
    assert re.search(
        r"; \+[\d.]+ % \(\+[\d.]+ to \+[\d.]+\) \(times reported by the project, .*R3 improved \[shapes about .*; on the baseline\] \(gemm_",
        lines[0],
    )
    assert audit(root, Registry.open(wiki_root)).findings == ()
    (root / "rounds/round-2/kernel_snapshot/ops/gemm.py").write_text("x")
    assert [one.code for one in audit(root, Registry.open(wiki_root)).findings] == ["edited-view"]
    _runs_quickly(root, project_root)


def _runs_quickly(root: Path, project_root: Path) -> None:
    """The script passes on the project as it is, fails where the kernel is wrong, and runs nothing without shapes."""
    script = root / "quick_test_bench.py"

    def run(file: Path) -> tuple[int, str]:
        done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    code, out = run(script)
    assert (code, "PASS" in out, "over 2 of 2 shapes" in out) == (0, True, True)
    kept = project_root / "ops" / "gemm.py"
    text = kept.read_text()
    kept.write_text(f"{text}\n\ndef matmul(a, b):\n    return a\n")
    assert run(script)[0] == 1
    kept.write_text(text)
    empty = root.parent / "empty.py"
    empty.write_text(re.sub(r"^SHAPES = .*$", "SHAPES = ()", script.read_text(), flags=re.MULTILINE))
    assert run(empty)[0] == 2

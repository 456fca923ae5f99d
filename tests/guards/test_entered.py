"""A simulated round loads what it needs: no wiki, no profiler, no executor of children, no model library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_UNNEEDED = {
    "pydantic", "kopt_kb.wiki.registry", "kopt_kb.quantity.quantity", "kopt_kb.analysis.ir.machine.scan", "kopt_kb.sandbox.cage",
    "kopt_kb.launch.candidate.executor", "kopt_kb.tuning.setup", "kopt_kb.tuning.project",
    "kopt_kb.workspace.journal.old_notes", "kopt_kb.workspace.journal.insight_events", "kopt_kb.analysis.rules.classify",
    "kopt_kb.analysis.profile", "kopt_kb.wiki.wiki",
    "kopt_kb.workspace.views.adopted", "kopt_kb.workspace.views.bench", "kopt_kb.packs.training_step.views",
    "kopt_kb.launch.project", "kopt_kb.launch.cuda",
}  # fmt: skip
_ROUND = """
import sys
from kopt_kb.cli.main import main
words = ["tune", "run", sys.argv[1], "--simulate", "--yes", "--samples", "3", "--evaluations", "2", "--budget-rounds"]
assert main([*words, sys.argv[2]]) == 0
print("loaded", *sys.modules)
"""


def _loaded(*words: str) -> set[str]:
    command = [sys.executable, "-c", _ROUND, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_a_simulated_round_loads_what_it_needs(tmp_path: Path, wiki_root: Path, repo_root: Path) -> None:
    """After a baseline, one round: search, gates, decision, commit and views."""
    demo = str(repo_root / "kernels" / "naive" / "rms_norm.py")
    init = ["init", "norm", "--platform", "T10", "--framework", "Triton", "--kernel-demo", demo, "--dtype", "bf16"]
    command = [sys.executable, "-m", "kopt_kb", *init, "--shape", "1024x512", "--parent", str(tmp_path)]
    subprocess.run([*command, "--wiki", str(wiki_root)], check=True, capture_output=True)
    workspace = str(tmp_path / "kernel_opt_norm")
    assert "kopt_kb.tuning.setup" in _loaded(workspace, "0")
    loaded = _loaded(workspace, "1") & _UNNEEDED
    assert not loaded

"""The form of plans."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.workspace.plans import SECTIONS, plan_faults

GOOD = """# Plan of v1

## Input Evidence

- profile of v0: ncu, BN-MEMORY

## Search Log

| Source | Query | Finding | Actionability |
|---|---|---|---|
| gpu-wiki | vectorized loads | advice/dram.md | high |

## Optimization Action

- category: memory_access
- change: load eight values at once

## Expected Impact

- fewer sectors

## Risks and Rollback

- rollback: kernel.py of v0
"""


def test_a_whole_plan() -> None:
    """Nothing is missing."""
    assert plan_faults(GOOD) == ()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("## Expected Impact", "## Else", "no section Expected Impact"),
        ("- fewer sectors", "", "Expected Impact is empty"),
        ("- fewer sectors", "- TBD", "is open: TBD"),
        ("| gpu-wiki | vectorized loads | advice/dram.md | high |\n", "", "Search Log is no table"),
        ("| Source | Query |", "| A | B |", "Search Log is no table"),
        ("- change: load eight values at once", "- change: a\n- change: b", "this one has 2"),
        ("- change: load", "- load", "this one has 0"),
        ("## Input Evidence", "## Risks and Rollback", "another order"),
    ],
)
def test_what_a_plan_lacks(old: str, new: str, said: str) -> None:
    """By its line."""
    found = plan_faults(GOOD.replace(old, new))
    assert any(said in one.what for one in found)
    assert all(one.line > 0 for one in found)


def test_an_empty_file_lacks_everything() -> None:
    """Each section is named."""
    assert len(plan_faults("")) == len(SECTIONS)


@pytest.mark.torch
def test_each_round_leaves_its_plan(tmp_path: Path, wiki_root: Path, repo_root: Path) -> None:
    """In the checked form; the audit of the workspace stays clean."""
    demo = repo_root / "kernels" / "naive" / "rms_norm.py"
    words = [
        "--platform",
        "T10",
        "--framework",
        "Triton",
        "--shape",
        "1024x512",
        "--dtype",
        "bf16",
        "--wiki",
        str(wiki_root),
    ]
    assert main(["init", "n", *words, "--kernel-demo", str(demo), "--parent", str(tmp_path)]) == 0
    root = tmp_path / "kernel_opt_n"
    run = ["tune", "run", str(root), "--simulate", "--yes", "--max-rounds", "1", "--evaluations", "2"]
    assert main([*run, "--wiki", str(wiki_root)]) in {0, 1}
    text = (root / "plans" / "v1_plan.md").read_text()
    assert plan_faults(text) == ()
    assert "- change: " in text
    assert main(["audit", str(root), "--wiki", str(wiki_root)]) == 0
    assert main(["workspace", "plan", str(root)]) == 0
    assert main(["workspace", "plan", str(root), "--check", str(root / "plans" / "v2_plan.md")]) == 1

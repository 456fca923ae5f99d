"""Rule 11 in campaigns: what does not reach a training step is never accepted, and what does is said round by round."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaign_words import Make, decisions, finish, kernel, reason

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.main import main
from kopt_kb.packs.training_step import rounds as transfer
from kopt_kb.packs.training_step.rounds import unchecked
from kopt_kb.tuning.lint import lint_files
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.project import ProjectAdapter
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.journal.blobs import ObjectStore
from tests.packs.training_step.test_caches import W1, W2
from tests.packs.training_step.test_transfer import STEP

SHAPES = ["512x512x512", "2048x2048x2048"]
FEW = (
    ('--csv {csv}", limit_s = 600', '--csv {csv} --shapes {shapes}", limit_s = 600'),
    ('"all"', '["512x512x512", "2048x2048x2048"]'),
)
"""Changes of the small project: two shapes, so that every round is decided on all."""


@pytest.mark.torch
def test_caches_are_judged_before_anything_is_run(
    make_project, project_campaign: Make, wiki_root: Path, capsys, monkeypatch
) -> None:
    """An activation's cache fails, a weight's passes with its bound and eight steps; the rest is a kernel's gain."""
    workspace = make_project(*FEW, shapes=SHAPES)
    answers = [
        ("seen before", kernel(128, W2)),
        ("the weight once, W1 bound: 1.8 %", kernel(256, W1 + STEP)),
    ]
    finish(project_campaign(workspace, answers, name="primus"))
    found = decisions(workspace)
    assert found[1] == (1, "rollback", "gate training_step.transfer")
    assert reason(workspace, 1).startswith("Rule 11, W2: line ")
    assert found[2][1] == "accept", reason(workspace, 2)
    root = workspace.layout.root
    second = (root / "rounds/round-3/summary.md").read_text()
    assert "## Real-training transfer check" in second
    assert "- 4-step trace hit rate: 4/8" in second
    assert "within the bound of 1.8 %" in second
    assert "Decision: ACCEPT-with-asterisk" in second
    log = (root / "logs/optimize.md").read_text()
    assert "### Real-training applicability audit" in log
    assert "inflated: roll back" in log  # the tile doubled too, and the bound of the cache is far below that
    state = workspace.state()
    assert unchecked(state, ObjectStore(workspace.layout.objects).get) == ()
    assert audit(root, Registry.open(wiki_root)).findings == ()
    assert main(["tune", "report", str(root)]) in {0, 1}
    assert "KB462" not in capsys.readouterr().err
    monkeypatch.setattr(transfer, "bucket_of_round", lambda *_: None)
    assert main(["tune", "report", str(root)]) == 1
    assert "v2 has no transfer check" in capsys.readouterr().err


def test_the_lint_of_other_policies_refuses_any_cache_by_identity() -> None:
    """Where Rule 11 judges caches, the lint leaves them to it."""
    old, new = {"ops/gemm.py": "x = 1\n"}, {"ops/gemm.py": W2}
    assert "uses id() of a tensor" in lint_files(old, new).reason
    assert lint_files(old, new, caches=False).result == "pass"


def test_grouped_products_need_uneven_experts(make_project, project_root: Path) -> None:
    """A project whose benchmark spreads rows evenly is refused before it starts, with the way out."""
    workspace = make_project()
    adapter = ProjectAdapter.of(workspace.state(), ObjectStore(workspace.layout.objects).get)
    assert adapter is not None
    object.__setattr__(adapter.project, "op", "grouped_gemm")
    with pytest.raises(BadInput, match=r"\[scoring\] skewed"):
        adapter.policy(policy_named("primus"))
    object.__setattr__(adapter.project.scoring, "skewed", ("512x512x512",))
    assert adapter.policy(policy_named("primus")).skewed_shapes == ("512x512x512",)
    assert adapter.policy(policy_named("gpu-wiki")).skewed_shapes == ()

"""Claims about files that people may edit: what a step captured of them has to be there as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.plans import kept_plan
from kopt_kb.workspace.workspace import Workspace


def found(workspace: Workspace, wiki_root: Path) -> list[tuple[str, str]]:
    """(file, what) of the findings about captured files."""
    findings = audit(workspace.layout.root, Registry.open(wiki_root)).findings
    return [(one.file, one.message.removeprefix(f"{one.file} ")) for one in findings if one.code == "captured"]


def test_a_test_that_was_changed_or_removed(workspace: Workspace, wiki_root: Path) -> None:
    """It judges what people are shown, so that nobody may weaken it unseen."""
    test = workspace.layout.root / "test_kernel.py"
    assert found(workspace, wiki_root) == []
    test.write_text(test.read_text().replace("assert code == 0, found", "pass"))
    assert found(workspace, wiki_root) == [("test_kernel.py", "is not what was captured")]
    test.unlink()
    assert found(workspace, wiki_root) == [("test_kernel.py", "is gone")]
    test.symlink_to("/dev/zero")
    ((_, what),) = found(workspace, wiki_root)
    assert "can't be read" in what


@pytest.mark.parametrize("change", ["edit", "remove"])
def test_a_plan_that_a_round_was_judged_with(change: str, story, wiki_root: Path) -> None:
    """Until the round submits its candidate anybody may write in it."""
    workspace, plan = story.workspace, story.workspace.layout.plans / "v1_plan.md"
    plan.write_text("wider loads\n")
    kernel = workspace.state().created.kernel
    story.round(0, None)
    story.add("round_started", round=1, incumbent=kernel)
    kept = kept_plan(workspace.layout, story.store, 1)
    story.add("candidate_submitted", round=1, candidate="v1", blob=kernel, params={}, proposer="ann", plan=kept)
    assert found(workspace, wiki_root) == []
    plan.unlink() if change == "remove" else plan.write_text("another idea\n")
    what = "is gone" if change == "remove" else "is not what was captured"
    assert found(workspace, wiki_root) == [("plans/v1_plan.md", what)]


def test_a_plan_that_is_not_there_is_not_kept(story) -> None:
    """Nor one that is no file."""
    layout = story.workspace.layout
    assert kept_plan(layout, story.store, 1) is None
    (layout.plans / "v1_plan.md").mkdir()
    assert kept_plan(layout, story.store, 1) is None

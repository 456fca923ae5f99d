"""Rendered files and commits name events; a journal without those events lost its end and is not continued."""

from __future__ import annotations

import shutil

import pytest

from kopt_kb.sandbox.gitrun import GitError
from kopt_kb.workspace.anchors import commit_anchors, latest_view, refuse_cut
from kopt_kb.workspace.gitview import Repository, ensure_repository
from kopt_kb.workspace.journal.chain import JournalError
from kopt_kb.workspace.snapshot import commit_workspace
from kopt_kb.workspace.views.render import render_workspace


def test_the_latest_view_is_the_anchor(played) -> None:
    """All events are there, or those before the last: the file that was rendered from the last names it."""
    layout, events = played.workspace.layout, played.workspace.events()
    assert latest_view(layout) is None
    render_workspace(played.workspace)
    anchor = latest_view(layout)
    assert anchor is not None and anchor.head.seq == len(events) and (layout.root / anchor.name).is_file()
    assert (anchor.is_in(events), anchor.is_in(events[:-1])) == (True, False)
    refuse_cut(layout, events)
    with pytest.raises(JournalError, match=f"ends with event {len(events) - 1}, yet .* shows event {len(events)}"):
        refuse_cut(layout, events[:-1])


def test_an_edited_view_and_a_file_of_somebody_elses_anchor_nothing(played) -> None:
    """What a person changed may say anything, and so may a page that no view is called after."""
    layout, events = played.workspace.layout, played.workspace.events()
    render_workspace(played.workspace)
    shutil.copy(layout.root / "baseline_report.md", layout.root / "other.md")
    for folder in (layout.root / "memory", layout.root / "rounds", layout.logs):
        shutil.rmtree(folder)
        folder.mkdir()
    report = layout.root / "baseline_report.md"
    report.write_bytes(report.read_bytes() + b"mine\n")
    assert latest_view(layout) is None
    refuse_cut(layout, events[:-1])


def test_a_commit_is_an_anchor(played) -> None:
    """Where no view is left, the commit of the decision names it."""
    layout, events = played.workspace.layout, played.workspace.events()
    decision = next(one for one in events if one.kind == "decided")
    commit_workspace(layout, decision, "V0", {})
    anchor = max(commit_anchors(layout), key=lambda one: one.head.seq)
    assert (anchor.head.seq, anchor.head.zh) == (decision.seq, decision.zh)
    refuse_cut(layout, events)
    with pytest.raises(JournalError, match="commit .* shows event") as caught:
        refuse_cut(layout, events[: decision.seq - 1])
    assert caught.value.where == f"{layout.journal}:{decision.seq - 1}" and caught.value.fix


def test_a_broken_repository_is_no_repository_without_commits(played) -> None:
    """The one can't be read and says so, the other has nothing to say; neither stops the loop."""
    layout, events = played.workspace.layout, played.workspace.events()
    (layout.root / ".git" / "HEAD").write_text("nonsense\n")
    with pytest.raises(GitError, match="git log failed"):
        list(commit_anchors(layout))
    refuse_cut(layout, events)
    shutil.rmtree(layout.root / ".git")
    assert list(commit_anchors(layout)) == []
    assert ensure_repository(layout.root) is Repository.CREATED
    assert list(commit_anchors(layout)) == []

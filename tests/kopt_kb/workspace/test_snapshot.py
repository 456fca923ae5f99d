"""A commit of an accepted round holds the workspace as it stood at the decision, and is the same when repeated."""

from __future__ import annotations

import shutil
import subprocess

from kopt_kb.workspace import snapshot
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.fold import fold
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.snapshot import commit_workspace
from kopt_kb.workspace.views.files import split_view


def committed(root) -> dict[str, bytes]:
    """Path → content of HEAD."""
    git = ["git", "-C", str(root)]
    names = subprocess.run([*git, "ls-tree", "-r", "--name-only", "HEAD"], check=True, capture_output=True, text=True)
    shown = {
        name: subprocess.run([*git, "show", f"HEAD:{name}"], check=True, capture_output=True)
        for name in names.stdout.split()
    }
    return {name: done.stdout for name, done in shown.items()}


def decision(story, number):
    """The event that decided an attempt."""
    return next(one for one in story.workspace.events() if one.kind == "decided" and one.data.round == number)


def test_journal_views_blobs_and_what_people_wrote_are_committed(played, registry, tmp_path):
    """A clone of the commit alone is a workspace that audits clean; events after the decision are not in it."""
    layout = played.workspace.layout
    (layout.plans / "v1_plan.md").write_text("wider loads\n")
    (layout.notes / "idea.md").write_text("persist\n")
    layout.readme.write_bytes(layout.readme.read_bytes() + b"\nmy words\n")
    better = b"# v1\n"
    played.round(4, None)
    played.add("candidate_submitted", round=4, candidate="v4", blob=played.store.put(better), params={}, proposer="ann")
    played.add("decided", round=4, measured=[], decision="accept", policy="gpu-wiki", rule="R3")
    event = decision(played, 4)
    commit_workspace(layout, event, "V4: wider loads", {"kernel.py": better})
    files = committed(layout.root)
    assert {"kernel.py", "journal.jsonl", "memory/v1.json", "rounds/round-2/summary.md", "logs/optimize.md"} <= set(
        files
    )
    assert (files["plans/v1_plan.md"], files["notes/idea.md"]) == (b"wider loads\n", b"persist\n")
    assert files["README.md"].endswith(b"\nmy words\n")
    assert len(files["journal.jsonl"].splitlines()) == event.seq
    assert split_view("v1.json", files["memory/v1.json"]).head.seq == event.seq
    assert f"objects/{played.workspace.state().created.kernel}" in files
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(layout.root), str(clone)], check=True)
    assert audit(clone, registry).findings == ()


def test_repeating_it_gives_the_same_commit(played):
    """Also when a plan changed between the two, as after a kill; a blob is sent once."""
    layout, event = played.workspace.layout, decision(played, 1)
    first = commit_workspace(layout, event, "V1", {"kernel.py": b"# v1\n"})
    (layout.plans / "v1_plan.md").write_text("later\n")
    assert commit_workspace(layout, event, "V1", {"kernel.py": b"# v1\n"}) == first
    second = commit_workspace(layout, decision(played, 3), "V3", {"kernel.py": b"# v3\n"})
    assert second != first
    assert committed(layout.root)["plans/v1_plan.md"] == b"later\n"


def test_two_workspaces_of_one_story_commit_alike(played, tmp_path):
    """Journal, blobs and views depend on the events alone."""
    copy = tmp_path / "copy"
    shutil.copytree(played.workspace.layout.root, copy)
    event = decision(played, 1)
    made = [commit_workspace(layout, event, "V1", {}) for layout in (played.workspace.layout, Layout(copy))]
    assert made[0] == made[1]


def test_links_are_not_followed_and_a_missing_blob_stops_nothing(played):
    """A plan that points out of the workspace is no plan; the audit names the lost blob."""
    layout = played.workspace.layout
    (layout.plans / "v9_plan.md").symlink_to("/etc/hostname")
    lost = played.store.put(b"lost")
    played.say("note_added", "words", topic="tip", by="ann")
    played.add("run_finished", run="x", outcome="ok", exit=0, signal=None, wall_s=1.0, output=lost)
    played.store.path(lost).unlink()
    commit_workspace(layout, played.workspace.events()[-1], "X", {})
    assert not {"plans/v9_plan.md", f"objects/{lost}"} & set(committed(layout.root))


def test_a_state_that_the_caller_has_is_not_folded_again(played, tmp_path, monkeypatch):
    """At its own event it gives the commit that the journal gives; a later one is not used."""
    layout, event = played.workspace.layout, decision(played, 1)
    copies = [Layout(tmp_path / name) for name in ("a", "b", "c")]
    for copy in copies:
        shutil.copytree(layout.root, copy.root)
    told = fold(played.workspace.events()[: event.seq], played.store.get)
    expected = commit_workspace(copies[0], event, "V1", {})
    assert commit_workspace(copies[1], event, "V1", {}, played.workspace.state()) == expected
    monkeypatch.setattr(snapshot, "parse_events", None)
    assert commit_workspace(copies[2], event, "V1", {}, told) == expected

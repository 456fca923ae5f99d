"""Commits are a function of events and contents, and touch no repository but the workspace's own."""

from __future__ import annotations

import subprocess

import pytest

from kopt_kb.sandbox.gitrun import Git, GitError
from kopt_kb.workspace.gitview import (
    CommitIdentity,
    Repository,
    commit_event,
    enclosing_repository,
    ensure_repository,
)
from kopt_kb.workspace.journal.events import Event, checked_data

FILES = {"kernel.py": b"x = 1\r\n", "memory/v0.json": b"\xff\x00", "empty": b""}


@pytest.fixture
def event(note):
    return Event(1, 3, "2026-01-31T12:00:00.500000Z", "note_added", checked_data("note_added", note), "cd" * 32)


@pytest.fixture
def later(note):
    return Event(1, 4, "2026-01-31T12:00:09.000000Z", "note_added", checked_data("note_added", note), "ef" * 32)


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "w"
    folder.mkdir()
    ensure_repository(folder)
    return folder


def outside(folder, *arguments):
    """git as a user runs it."""
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return done.stdout


class TestEnsure:
    def test_a_repository_is_made_once(self, tmp_path):
        """On branch main, whatever the user's default is."""
        assert ensure_repository(tmp_path) is Repository.CREATED
        assert ensure_repository(tmp_path) is Repository.EXISTING
        assert (tmp_path / ".git/HEAD").read_text() == "ref: refs/heads/main\n"

    def test_no_repository_is_made_inside_another_one_unasked(self, tmp_path):
        """Unless the outer one ignores the folder, or the caller wants it."""
        ensure_repository(tmp_path)
        for name in ("plain", "ignored", "wanted"):
            (tmp_path / name).mkdir()
        (tmp_path / ".gitignore").write_text("/ignored/\n")
        assert enclosing_repository(tmp_path / "plain") == tmp_path.resolve()
        assert ensure_repository(tmp_path / "plain") is Repository.ENCLOSED
        assert not (tmp_path / "plain/.git").exists()
        assert ensure_repository(tmp_path / "ignored") is Repository.CREATED
        assert ensure_repository(tmp_path / "wanted", nested=True) is Repository.CREATED

    def test_a_renamed_workspace_keeps_a_working_repository(self, root, event):
        """No absolute path is stored in it."""
        made = commit_event(root, event, "first", FILES)
        moved = root.rename(root.with_name("moved"))
        assert commit_event(moved, event, "first", FILES) == made
        assert outside(moved, "rev-parse", "--show-toplevel").strip() == str(moved.resolve())


class TestCommit:
    def test_author_date_message_and_contents_come_from_the_event(self, root, event):
        """Bytes are stored as given: no line end conversion."""
        made = commit_event(root, event, "Start  the\nround", FILES)
        shown = outside(root, "show", "-s", "--format=%an|%ae|%at|%cn|%ct|%B", made)
        assert shown.rstrip() == (
            "ann|kopt-kb@localhost|1769860800|ann|1769860800|Start the round\n\nKopt-Journal: 3:" + "cd" * 32
        )
        assert Git(root).run("show", f"{made}:kernel.py") == b"x = 1\r\n"
        assert Git(root).run("show", f"{made}:memory/v0.json") == b"\xff\x00"
        assert outside(root, "ls-tree", "-r", "--name-only", "main").split() == sorted(FILES)

    def test_repeating_gives_the_same_commit(self, root, event, later):
        """Also when later commits stand on it."""
        first = commit_event(root, event, "first", FILES)
        second = commit_event(root, later, "second", {"kernel.py": b"x = 2\n", "empty": None})
        assert commit_event(root, event, "first", FILES) == first
        assert commit_event(root, later, "second", {"kernel.py": b"x = 2\n", "empty": None}) == second
        assert outside(root, "rev-list", "main").split() == [second, first]
        assert outside(root, "ls-tree", "-r", "--name-only", "main").split() == ["kernel.py", "memory/v0.json"]

    def test_another_machine_s_replay_gives_the_same_commit(self, root, tmp_path, event, later, monkeypatch):
        """Another folder, time zone, identity and set of user settings change nothing."""
        made = [commit_event(root, event, "a", FILES), commit_event(root, later, "b", {"x": b""})]
        other = tmp_path / "other"
        other.mkdir()
        (tmp_path / "config").write_text(
            "[user]\nname = me\n[core]\nautocrlf = true\n[commit]\ngpgsign = true\n[i18n]\ncommitEncoding = latin1\n"
        )
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
        monkeypatch.setenv("TZ", "Asia/Tokyo")
        monkeypatch.setenv("GIT_AUTHOR_NAME", "me")
        ensure_repository(other)
        assert [commit_event(other, event, "a", FILES), commit_event(other, later, "b", {"x": b""})] == made

    def test_the_same_event_with_other_contents_is_refused(self, root, event):
        """History is not rewritten."""
        made = commit_event(root, event, "first", FILES)
        with pytest.raises(GitError, match="shows event 3 with other contents"):
            commit_event(root, event, "first", {**FILES, "kernel.py": b"y"})
        assert outside(root, "rev-parse", "main").strip() == made

    def test_hooks_and_signing_of_the_repository_do_not_run(self, root, event):
        """Every hook would fail here."""
        hooks = root / ".git/hooks"
        hooks.mkdir()
        for name in ("pre-commit", "commit-msg", "reference-transaction", "post-index-change"):
            (hooks / name).write_text("#!/bin/sh\ntouch ran\nexit 1\n")
            (hooks / name).chmod(0o755)
        outside(root, "config", "commit.gpgSign", "true")
        commit_event(root, event, "first", FILES)
        assert not (root / "ran").exists()

    def test_files_people_staged_or_changed_stay_as_they_are(self, root, event):
        """Only the committed paths of the index move."""
        (root / "mine").write_text("mine")
        (root / "kernel.py").write_bytes(b"x = 3\n")
        outside(root, "add", "mine")
        commit_event(root, event, "first", FILES)
        status = outside(root, "status", "--short").splitlines()
        assert "A  mine" in status
        assert " M kernel.py" in status
        assert (root / "kernel.py").read_bytes() == b"x = 3\n"

    @pytest.mark.parametrize(
        "path", ["/etc/x", "../x", "a/../x", ".git/config", "a/.GIT/x", "a//b", "", "a\nb", '"a"', "a\0"]
    )
    def test_paths_outside_or_inside_git_s_own_folder_are_refused(self, root, event, path):
        """Nothing is committed."""
        with pytest.raises(GitError, match="can't be committed"):
            commit_event(root, event, "first", {path: b""})
        assert not Git(root).ok("rev-parse", "--verify", "HEAD")

    def test_odd_but_legal_paths_are_stored_as_given(self, root, event):
        """Spaces, quotes inside, pathspec signs, letters beyond ASCII."""
        names = {"a b", 'q"q', ":(top)x", "é", "*"}
        made = commit_event(root, event, "first", dict.fromkeys(names, b""))
        assert set(Git(root).run("ls-tree", "-z", "--name-only", made).decode().split("\0")) == {*names, ""}

    def test_a_folder_without_its_own_repository_commits_nowhere(self, root, event):
        """Least of all into the repository around it."""
        inner = root / "inner"
        inner.mkdir()
        with pytest.raises(GitError, match="no git repository of its own"):
            commit_event(inner, event, "first", FILES)
        assert not Git(root).ok("rev-parse", "--verify", "HEAD")

    def test_reserved_characters_in_a_name_are_left_out(self, root, event):
        """A name can't forge an address or a header."""
        made = commit_event(root, event, "first", FILES, identity=CommitIdentity("An <a@b>\nauthor", "x>y"))
        assert outside(root, "show", "-s", "--format=%an|%ae", made).strip() == "An  a@b  author|xy"

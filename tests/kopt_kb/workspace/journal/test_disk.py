"""Files are replaced in one step, only over what was expected, and nothing is left behind."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from kopt_kb.workspace.journal import disk
from kopt_kb.workspace.journal.disk import read_regular, replace_file, sweep, temporary_name


def names(folder):
    return sorted(path.name for path in folder.iterdir())


class TestReplaceFile:
    def test_a_new_file_needs_an_empty_place(self, tmp_path):
        """Expected nothing, found nothing."""
        assert replace_file(tmp_path / "a", b"1", expected=None)
        assert (tmp_path / "a").read_bytes() == b"1"
        assert not replace_file(tmp_path / "a", b"2", expected=None)
        assert (tmp_path / "a").read_bytes() == b"1"

    def test_an_unexpected_content_stays(self, tmp_path):
        """Nothing is written and no temporary file remains."""
        (tmp_path / "a").write_bytes(b"theirs")
        assert not replace_file(tmp_path / "a", b"ours", expected=b"old")
        assert (tmp_path / "a").read_bytes() == b"theirs"
        assert names(tmp_path) == ["a"]

    def test_an_edit_made_while_the_new_text_is_written_stays(self, tmp_path, monkeypatch):
        """The disk is compared once more directly before the rename."""
        (tmp_path / "a").write_bytes(b"old")
        fsync = os.fsync

        def edit_meanwhile(fd):
            fsync(fd)
            (tmp_path / "a").write_bytes(b"edited")

        monkeypatch.setattr(disk.os, "fsync", edit_meanwhile)
        assert not replace_file(tmp_path / "a", b"new", expected=b"old")
        assert (tmp_path / "a").read_bytes() == b"edited"

    def test_permissions_are_kept(self, tmp_path):
        """An executable file stays executable."""
        (tmp_path / "a").write_bytes(b"old")
        (tmp_path / "a").chmod(0o750)
        assert replace_file(tmp_path / "a", b"new", expected=b"old")
        assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o750

    def test_the_bytes_are_durable_before_the_rename_and_the_name_after_it(self, tmp_path, monkeypatch):
        """fsync of the file, rename, fsync of the folder."""
        calls, fsync, replace = [], os.fsync, disk.Path.replace
        monkeypatch.setattr(disk.os, "fsync", lambda fd: (calls.append("fsync"), fsync(fd)))
        monkeypatch.setattr(disk.Path, "replace", lambda *a: (calls.append("rename"), replace(*a)))
        replace_file(tmp_path / "a", b"1", expected=None)
        assert calls == ["fsync", "rename", "fsync"]

    def test_a_failure_leaves_nothing_behind(self, tmp_path, monkeypatch):
        """The disk fills up during fsync."""

        def full(_fd):
            raise OSError("No space left on device")

        monkeypatch.setattr(disk.os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            replace_file(tmp_path / "a", b"1", expected=None)
        assert names(tmp_path) == []


def test_links_folders_and_pipes_are_not_read(tmp_path):
    """Only regular files; a missing one is None."""
    (tmp_path / "link").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "pipe")
    for name, says in [("link", "it is a link"), ("pipe", "not a regular file"), (".", "directory")]:
        with pytest.raises(OSError, match=says):
            read_regular(tmp_path / name)
    assert read_regular(tmp_path / "none") is None


def test_temporary_names_are_hidden_siblings(tmp_path):
    """The same folder means the same file system."""
    first, second = temporary_name(tmp_path / "a"), temporary_name(tmp_path / "a")
    assert first != second
    assert first.parent == tmp_path
    assert first.name.startswith(".")


HANG = """
import os, sys, time
from pathlib import Path
from kopt_kb.workspace.journal import disk
disk.read_regular = lambda path: print("writing", flush=True) or time.sleep(600)
disk.replace_file(Path(sys.argv[1]), b"new", expected=None)
"""


def test_a_killed_writer_s_leftover_is_swept_and_a_living_one_s_is_not(tmp_path):
    """While it writes its file is locked; killed, the next sweep removes what it left, and nothing else."""
    (tmp_path / "mine").write_text("kept")
    with subprocess.Popen([sys.executable, "-c", HANG, str(tmp_path / "a.md")], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"writing\n"
        assert sweep(tmp_path) == 0
        assert len(list(tmp_path.glob(".kb-tmp-*"))) == 1
        child.kill()
    assert sweep(tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]

"""The files of a project as they are tested, against a commit of its repository: what differs, by content."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.sandbox.gitrun import Git, GitError

__all__ = ["TreeFile", "differing_files"]

_LARGEST = 16 << 20
"""Bytes of a file that a commit of ours takes; larger ones are data, which their owner commits or ignores."""


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file of a commit: its mode as git writes it, or none to keep the one that is there, and its bytes."""

    data: bytes
    mode: bytes = b""


def differing_files(git: Git, commit: str, root: Path, exclude: Iterable[str]) -> dict[str, TreeFile | None]:
    """Return path below the repository's top → file as it is on disk where a commit has it otherwise; None: it is gone.

    Files that git ignores are not part of it, nor those outside the project or left out by its file. Where a filter of
    the repository stores something else than the file, the commit's own stands.

    Raises:
        GitError: The commit can't be read, or a file is too large to be committed here.
    """
    from kopt_kb.launch.project.paths import walk  # only where there is a repository: it knows projects

    prefix = root.resolve().relative_to(git.root).as_posix()
    below = "" if prefix == "." else f"{prefix}/"
    held = _held(git, commit, below)
    present = {f"{below}{path}" for path in walk(root, exclude)}
    others = set(_lines(git.run("ls-files", "-z", "--others", "--exclude-standard", "--", below or ".")))
    filtered = _filtered(git, sorted(present & held.keys()))
    found: dict[str, TreeFile | None] = {}
    for path in sorted(present & (held.keys() | others) - filtered):
        file = _read(git.root / path)
        mode, sha = held.get(path, (b"", ""))
        if mode != file.mode or sha != _sha(file.data, len(sha)):
            found[path] = file
    gone = (path for path in held.keys() - present if not os.path.lexists(git.root / path))
    return found | dict.fromkeys(gone)


def _held(git: Git, commit: str, below: str) -> dict[str, tuple[bytes, str]]:
    """Return path → mode and object of a commit's files below a folder; commits of other repositories are none."""
    listed = git.run("ls-tree", "-r", "-z", "--full-tree", commit, "--", below or ".")
    found = {}
    for line in filter(None, listed.split(b"\0")):
        head, _, name = line.partition(b"\t")
        mode, kind, sha = head.split(b" ")
        if kind == b"blob":
            found[name.decode("utf-8", "surrogateescape")] = (mode, sha.decode())
    return found


def _filtered(git: Git, paths: list[str]) -> set[str]:
    """Return the files for which the repository names a filter."""
    feed = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
    words = _lines(git.run("check-attr", "-z", "--stdin", "filter", feed=feed)) if paths else []
    return {path for path, value in zip(words[::3], words[2::3], strict=True) if value not in {"unspecified", "unset"}}


def _read(path: Path) -> TreeFile:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return TreeFile(os.fsencode(path.readlink()), b"120000")
    if not stat.S_ISREG(status.st_mode):
        raise GitError(f"{path} is no file", where=str(path), fix="remove it, or exclude it")
    if status.st_size > _LARGEST:
        size = f"{status.st_size / (1 << 20):.0f} MiB"
        fix = "commit it, let git ignore it, or name it under [project] exclude"
        raise GitError(f"{path.name} differs from the commit and has {size}", where=str(path), fix=fix)
    return TreeFile(path.read_bytes(), b"100755" if status.st_mode & stat.S_IXUSR else b"100644")


def _sha(data: bytes, digits: int) -> str:
    """Return the name that git gives a file, in a repository whose names have so many digits."""
    make = hashlib.sha256 if digits == 64 else hashlib.sha1
    return make(b"blob %d\0" % len(data) + data).hexdigest()


def _lines(text: bytes) -> list[str]:
    return [one.decode("utf-8", "surrogateescape") for one in text.split(b"\0")[:-1]]

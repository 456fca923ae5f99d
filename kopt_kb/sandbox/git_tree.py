"""The files of a commit, written into a folder without a checkout: no filter, hook or attribute has a say."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from kopt_kb.base.errors import BadInput
from kopt_kb.sandbox.gitrun import Git

__all__ = ["commit_named", "write_commit"]

_FILES = frozenset({b"100644", b"100755"})
_MOST_FILE_BYTES, _MOST_BYTES, _MOST_FILES = 8 << 20, 512 << 20, 100_000
"""Files above the first are left out: no source is so large; a tree above the others is refused."""


def commit_named(git: Git, name: str) -> str:
    """Return the hash of the commit that a name such as a branch stands for; empty where it stands for none."""
    if not name or name.startswith("-"):
        return ""
    return git.text("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", missing="")


def write_commit(git: Git, commit: str, folder: Path) -> None:
    """Write the files of a commit into an empty folder; links, submodules and files of more than 8 MiB are left out.

    Raises:
        BadInput: The tree is too large, or names a file outside the folder.
        GitError: git fails.
    """
    listed = git.run("ls-tree", "-r", "-z", "--long", commit).split(b"\0")[:-1]
    files: list[tuple[bytes, int, PurePosixPath]] = []
    for one in listed:
        head, _, path = one.partition(b"\t")
        mode, _, digest, length = head.split()
        if mode in _FILES and int(length) <= _MOST_FILE_BYTES:
            files.append((digest, int(length), _inside(path)))
    if len(files) > _MOST_FILES or sum(size for _, size, _ in files) > _MOST_BYTES:
        what = f"the tree has more than {_MOST_FILES} files or {_MOST_BYTES} bytes"
        raise BadInput(what, where=commit[:12], fix="name a folder with the files that are needed", code="KB309")
    said = git.run("cat-file", "--batch", feed=b"".join(digest + b"\n" for digest, _, _ in files))
    at = 0
    for _, size, name in files:
        begin = said.index(b"\n", at) + 1
        made = folder / name
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_bytes(said[begin : begin + size])
        at = begin + size + 1


def _inside(name: bytes) -> PurePosixPath:
    """Return a name of a tree as a path below a folder."""
    path = PurePosixPath(name.decode("utf-8", "surrogateescape"))
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise BadInput(f"a tree names {name!r}", where="git", fix="its repository is broken or hostile", code="KB309")
    return path

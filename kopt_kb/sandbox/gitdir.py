"""A git directory of our own over somebody else's objects and refs, so that none of its settings is ever read.

A repository's `config` can name programs (filters, textconv, fsmonitor, hooks, a pager, an editor) and files to
include; its `info/attributes` chooses among them. git has no option to ignore them. So every command runs in a
directory made for it: HEAD is a copy, refs, reflogs and the list of worktrees are links, objects and index are named by
variables, and config holds nothing but the format.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.sandbox.owned import owner_prefix

__all__ = ["GitDir", "GitError", "git_dir_of"]

_LINKED = ("refs", "logs", "worktrees", "packed-refs", "shallow")
_READ = ("HEAD", "config", "index", "commondir", "info/exclude", *_LINKED, "objects")
"""What of a repository is read; everything else in it is never looked at."""
_BORROWING = ("objects/info/alternates", "objects/info/http-alternates")
_MOST_BYTES = 1 << 20
_MULTILINE = re.IGNORECASE | re.MULTILINE
_FORMAT = re.compile(
    rb"^[ \t]*(objectformat|refstorage)[ \t]*=[ \t]*(sha1|sha256|files|reftable)[ \t]*\r?$", _MULTILINE
)
_WORKTREE = re.compile(rb"^[ \t]*worktree[ \t]*=[ \t]*(.+?)[ \t]*\r?$", _MULTILINE)


class GitError(BadInput):
    """git refused or failed; `where` is the folder."""

    code = "KB309"


@dataclass(frozen=True, slots=True)
class GitDir:
    """Where a repository keeps itself.

    Attributes:
        path: Its own directory: HEAD and index.
        common: The directory that its worktrees share: objects and refs; mostly the same.
    """

    path: Path
    common: Path

    @property
    def is_there(self) -> bool:
        """Whether there is a repository."""
        return (self.common / "objects").is_dir()

    @contextmanager
    def shielded(self) -> Iterator[dict[str, str]]:
        """Yield the variables under which git sees this repository and none of its settings.

        A branch that the command checks out is written back to HEAD. Call `refuse_strange_parts` before the first.
        """
        with tempfile.TemporaryDirectory(prefix=owner_prefix("kb-git-")) as name:
            folder = Path(name)
            before = self._furnish(folder)
            yield {
                "GIT_DIR": str(folder),
                "GIT_OBJECT_DIRECTORY": str(self.common / "objects"),
                "GIT_INDEX_FILE": str(self.path / "index"),
            }
            after = (folder / "HEAD").read_bytes()
            if after != before:
                self._check_out(after)

    def _furnish(self, folder: Path) -> bytes:
        """Fill the directory that git gets; return what HEAD says."""
        for name in ("refs", "logs"):
            (self.common / name).mkdir(exist_ok=True)
        for name in _LINKED:
            # packed-refs is linked before it exists: git writes where the link leads.
            if name == "packed-refs" or (self.common / name).exists():
                (folder / name).symlink_to(self.common / name)
        if (self.common / "info" / "exclude").is_file():
            (folder / "info").mkdir()
            (folder / "info" / "exclude").symlink_to(self.common / "info" / "exclude")
        (folder / "config").write_text(self._format(), encoding="ascii")
        head = _bounded(self.path / "HEAD")
        (folder / "HEAD").write_bytes(head)
        return head

    def _check_out(self, head: bytes) -> None:
        """Replace HEAD by git's own protocol; raises `GitError` where another git holds it."""
        lock = self.path / "HEAD.lock"
        try:
            with lock.open("xb") as stream:
                stream.write(head)
            lock.replace(self.path / "HEAD")
        except OSError as error:
            raise GitError(f"HEAD can't be changed: {error.strerror or error}", where=str(self.path)) from error

    def _format(self) -> str:
        """Return the config: the format of objects and refs, which git has to know, and nothing else."""
        stated = {
            key.lower().decode(): value.decode() for key, value in _FORMAT.findall(_bounded(self.common / "config"))
        }
        version = 1 if stated else 0
        lines = ["[core]", f"\trepositoryformatversion = {version}", "\tbare = false"]
        lines += ["[extensions]", *(f"\t{key} = {value}" for key, value in stated.items())] if stated else []
        return "\n".join([*lines, ""])

    def refuse_strange_parts(self) -> None:
        """Raise `GitError` where a part is a link, a pipe or a device, or where it borrows objects from elsewhere."""
        for base in {self.path, self.common}:
            for name in _READ:
                _refuse_strange(base / name, base)
        for name in _BORROWING:
            if (self.common / name).exists():
                what = f"{name}: it borrows objects from another repository"
                raise GitError(
                    what, where=str(self.common), fix="make it whole: git repack -a -d, then remove the file"
                )


def git_dir_of(root: Path, mark: Path | None = None) -> GitDir:
    """Return where the repository of a folder keeps itself.

    `.git` may be a file that names a directory elsewhere, as worktrees and submodules have it; it is followed only
    where that directory names this folder as its own, so that a folder can't reach into a repository that it has no
    part in.

    Args:
        root: The top of its files.
        mark: Its `.git`, or the repository itself where it is bare; default `root/.git`.

    Raises:
        GitError: `.git` is a link, or leads to a repository that knows nothing of this folder.
    """
    mark = mark or root / ".git"
    if mark.is_symlink():
        raise GitError(f"{mark.name} is a link", where=str(mark), fix="name the repository itself")
    if not mark.is_file():
        return GitDir(mark, _common(mark))
    said = _bounded(mark).decode("utf-8", "replace")
    home = (root / said.removeprefix("gitdir:").strip()).resolve()
    if not said.startswith("gitdir:") or not _points_back(home, root.resolve()):
        what = f"{mark.name} names a repository that does not name this folder"
        raise GitError(what, where=str(mark), fix="name that repository, or repair it: git worktree repair")
    return GitDir(home, _common(home))


def _points_back(home: Path, root: Path) -> bool:
    """Return whether a git directory is that of a worktree or submodule whose files lie here."""
    if (home / "gitdir").is_file():
        return Path(_bounded(home / "gitdir").decode("utf-8", "replace").strip()).resolve() == root / ".git"
    if not (home / "config").is_file():
        return False
    named = _WORKTREE.search(_bounded(home / "config"))
    return named is not None and (home / named[1].decode("utf-8", "replace").strip('"')).resolve() == root


def _common(home: Path) -> Path:
    file = home / "commondir"
    return (home / _bounded(file).decode("utf-8", "replace").strip()).resolve() if file.is_file() else home


def _bounded(path: Path) -> bytes:
    """Return a small regular file's bytes; raises `GitError` for anything else, nothing where there is nothing."""
    _refuse_strange(path, path.parent)
    try:
        with path.open("rb") as stream:
            return stream.read(_MOST_BYTES)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise GitError(f"can't be read: {error.strerror or error}", where=str(path)) from error


def _refuse_strange(path: Path, base: Path) -> None:
    """Raise `GitError` for a link, pipe, socket or device at a path or anywhere below it."""
    places = [path]
    if path.is_dir() and not path.is_symlink():
        places += [Path(where) / name for where, below, files in os.walk(path) for name in (*below, *files)]
    for place in places:
        try:
            mode = place.lstat().st_mode
        except OSError:  # it is not there, or went meanwhile
            continue
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            what = f"{place.relative_to(base.parent)} is no regular file"
            raise GitError(f"{what}: git would follow it, or wait for it", where=str(place), fix="remove it")

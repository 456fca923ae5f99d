"""The files of a foreign log: a folder, one file, or a revision of a git repository, read under limits.

Nothing in it is run, no link is followed, no file that is not regular is opened, and git is asked for bytes only.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import refused
from kopt_kb.sandbox.gitrun import Git, GitError, repository_around

__all__ = ["COMMIT", "TEXTS", "ForeignTree", "Unread", "open_tree"]

TEXTS = {".md", ".mdc", ".markdown", ".txt", ".log", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".yaml", ".yml"}
"""Endings of files that logs are kept in."""
COMMIT = "commit:"
"""What a commit's message is called, before its hash."""
_MOST_FILES, _MOST_BYTES, _MOST_TOTAL = 20_000, 4 << 20, 256 << 20
_MOST_COMMITS = 5_000
_SKIPPED = {".git", ".hg", "node_modules", "__pycache__", ".venv", "site-packages"}


@dataclass(frozen=True, slots=True)
class Unread:
    """A place that was not understood, and why."""

    file: str
    line: int
    reason: str


@dataclass(slots=True)
class ForeignTree:
    """Names of all files, texts of those that logs are kept in.

    Attributes:
        root: Where it was read from, as the user named it.
        commit: The revision's full hash; empty for a plain folder.
        names: Every regular file, relative to the root.
        texts: File → text, for endings in `TEXTS`; messages of commits stand under `commit:<hash>`.
        unread: Files that were left out, with the reason.
    """

    root: str
    commit: str = ""
    names: frozenset[str] = frozenset()
    texts: dict[str, str] = field(default_factory=dict)
    unread: list[Unread] = field(default_factory=list)
    _git: Git | None = None
    _known: dict[str, bool] = field(default_factory=dict)

    def has_commit(self, name: str) -> bool:
        """Whether a hash is a commit of the repository that the log was read from."""
        if self._git is None:
            return False
        if name not in self._known:
            self._known[name] = self._git.ok("cat-file", "-e", f"{name}^{{commit}}")
        return self._known[name]


def open_tree(path: Path, *, rev: str | None = None, under: str = "", commits: str | None = None) -> ForeignTree:
    """Return the files at a path.

    Args:
        path: A folder, a file, or a git repository (also a bare one).
        rev: Read this revision of the repository and not the files that lie there; of a bare one by default HEAD.
        under: Only this folder of it.
        commits: A range such as `main..branch`: messages of these commits are read too.

    Raises:
        BadInput: There is nothing, it is no repository, or the revision is none.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise refused(error, path) from error
    git = repository_around(path if stat.S_ISDIR(mode) else path.parent)
    if (rev or commits) and git is None:
        raise BadInput("is no git repository", where=str(path), fix="leave --rev and --commits out", code="KB309")
    if rev is None and git is not None and git.is_bare:
        rev = "HEAD"  # a bare repository has no files beside its own
    tree = ForeignTree(str(path), _git=git)
    if rev is not None and git is not None:
        _from_revision(tree, git, rev, under.strip("/"))
    elif stat.S_ISREG(mode):
        _take(tree, path, path.name)
        tree.names = frozenset({path.name})
    elif stat.S_ISDIR(mode):
        _from_folder(tree, path / under if under else path)
    else:
        raise BadInput("is no folder and no file", where=str(path), fix="name a folder or a file", code="KB111")
    if commits is not None and git is not None:
        _messages(tree, git, commits)
    return tree


def _commit_of(git: Git, name: str, where: str) -> str:
    found = "" if name.startswith("-") else git.text("rev-parse", "--verify", "-q", f"{name}^{{commit}}", missing="")
    if not found:
        raise BadInput(f"{name!r} is no revision", where=where, fix="name a branch, a tag or a commit", code="KB309")
    return found


def _from_revision(tree: ForeignTree, git: Git, rev: str, under: str) -> None:
    tree.commit = _commit_of(git, rev, tree.root)
    listed = git.run("ls-tree", "-r", "-z", "--long", tree.commit, *(["--", f"{under}/"] if under else []))
    if under and not listed:
        where = f"{tree.root} at {rev}"
        raise BadInput(f"has no folder {under!r}", where=where, fix="name one that is there", code="KB110")
    names: list[str] = []
    wanted: dict[str, str] = {}
    total = 0
    for entry in filter(None, listed.split(b"\0")):
        about, _, raw = entry.partition(b"\t")
        mode, kind, sha, size = about.decode().split()
        name = raw.decode("utf-8", "replace")
        if kind != "blob" or mode == "120000":
            continue
        names.append(name)
        if Path(name).suffix.casefold() not in TEXTS:
            continue
        total += int(size)
        if why := _too_much(int(size), total, len(wanted)):
            tree.unread.append(Unread(name, 0, why))
        else:
            wanted[name] = sha
    tree.names = frozenset(names)
    for name, data in zip(wanted, _contents(git, list(wanted.values())), strict=True):
        if data is None:
            tree.unread.append(Unread(_clean(name), 0, "its bytes are not in this copy of the repository"))
        else:
            _keep(tree, name, data)


def _contents(git: Git, hashes: list[str]) -> Iterator[bytes | None]:
    """Yield the bytes of each blob, None for one that a partial copy lacks, which nothing fetches."""
    try:
        said = git.run("cat-file", "--batch", feed="".join(f"{sha}\n" for sha in hashes).encode())
    except GitError:
        for sha in hashes:
            yield git.run("cat-file", "blob", sha) if git.ok("cat-file", "-e", sha) else None
        return
    at = 0
    for _ in hashes:
        end = said.index(b"\n", at)
        head = said[at:end].split()
        size = int(head[2]) if len(head) == 3 else -1
        yield said[end + 1 : end + 1 + size] if size >= 0 else None
        at = end + 1 + (size + 1 if size >= 0 else 0)


def _messages(tree: ForeignTree, git: Git, commits: str) -> None:
    if commits.startswith("-"):
        raise BadInput(f"{commits!r} is no range of commits", where=tree.root, fix="such as main..branch", code="KB309")
    form = "--format=%H%x00%B%x00%x00"
    said = git.run("log", "--no-show-signature", f"--max-count={_MOST_COMMITS}", form, commits, "--")
    for one in said.decode("utf-8", "replace").split("\0\0"):
        sha, _, text = one.strip().partition("\0")
        if sha:
            tree.texts[f"{COMMIT}{sha}"] = text


def _from_folder(tree: ForeignTree, root: Path) -> None:
    if not root.is_dir():
        raise BadInput("is no folder", where=str(root), fix="name one that is there", code="KB110")
    names, total = [], 0
    for folder, below, files in os.walk(root, onerror=lambda error: _unlisted(tree, root, error)):
        below[:] = sorted(one for one in below if one not in _SKIPPED)
        for file in sorted(files):
            path = Path(folder) / file
            name = path.relative_to(root).as_posix()
            about = path.lstat()
            if not stat.S_ISREG(about.st_mode):
                if path.suffix.casefold() in TEXTS:
                    tree.unread.append(Unread(_clean(name), 0, "is a link or no regular file, it is not opened"))
                continue
            names.append(name)
            if path.suffix.casefold() not in TEXTS:
                continue
            total += about.st_size
            if why := _too_much(about.st_size, total, len(tree.texts)):
                tree.unread.append(Unread(_clean(name), 0, why))
            else:
                _take(tree, path, name)
    tree.names = frozenset(names)


def _unlisted(tree: ForeignTree, root: Path, error: OSError) -> None:
    name = os.path.relpath(str(error.filename), root)
    tree.unread.append(Unread(_clean(name), 0, f"can't be listed: {error.strerror}"))


def _too_much(size: int, total: int, count: int) -> str:
    if size > _MOST_BYTES:
        return f"is larger than {_MOST_BYTES >> 20} MiB"
    if total > _MOST_TOTAL or count >= _MOST_FILES:
        return "more files than an audit reads stand before it"
    return ""


def _take(tree: ForeignTree, path: Path, name: str) -> None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        tree.unread.append(Unread(_clean(name), 0, f"can't be read: {error.strerror or error}"))
        return
    if len(data) > _MOST_BYTES:
        tree.unread.append(Unread(_clean(name), 0, f"is larger than {_MOST_BYTES >> 20} MiB"))
    else:
        _keep(tree, name, data)


def _keep(tree: ForeignTree, name: str, data: bytes) -> None:
    if b"\0" in data[:4096]:
        tree.unread.append(Unread(_clean(name), 0, "is binary in spite of its name"))
        return
    if data.startswith(b"version https://git-lfs"):
        tree.unread.append(Unread(_clean(name), 0, "is a pointer of git LFS, its bytes are elsewhere"))
        return
    tree.texts[_clean(name)] = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _clean(name: str) -> str:
    return name.encode("utf-8", "replace").decode("utf-8")


def folders(names: frozenset[str]) -> Mapping[str, list[str]]:
    """Return folder → the files that lie in it or below it."""
    found: dict[str, list[str]] = {}
    for name in names:
        parts = name.split("/")[:-1]
        for count in range(len(parts) + 1):
            found.setdefault("/".join(parts[:count]), []).append(name)
    return found

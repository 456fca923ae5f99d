"""Git as a view of the journal: commits that depend on events and file contents alone.

Commits are made with `git fast-import`: no hooks, filters, signatures, user identity or state of the
work tree take part, so that the same events and contents give the same commit id anywhere. Nothing is
ever read back from git to decide anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath

from kopt_kb.sandbox.gitrun import Git, GitError
from kopt_kb.workspace.journal.chain import Head
from kopt_kb.workspace.journal.events import Event

__all__ = [
    "TRAILER",
    "CommitIdentity",
    "Repository",
    "commit_event",
    "commit_showing",
    "enclosing_repository",
    "ensure_repository",
]

TRAILER = "Kopt-Journal"
"""Trailer key; its value is `<seq>:<zh>` of the event a commit shows."""

_PENDING = "refs/kopt-kb/pending"
_UNSAFE = re.compile(r"[<>\x00-\x1f\x7f]")


class Repository(Enum):
    """What `ensure_repository` found or did."""

    CREATED = "created"
    """An empty repository was made in the folder."""
    EXISTING = "existing"
    """The folder has a repository of its own."""
    ENCLOSED = "enclosed"
    """The folder lies inside another repository's work tree; nothing was made."""


@dataclass(frozen=True, slots=True)
class CommitIdentity:
    """Author and committer of a commit."""

    name: str
    email: str = "kopt-kb@localhost"

    @classmethod
    def of(cls, event: Event) -> CommitIdentity:
        """The author the event names (`by`), else kopt-kb."""
        return cls(str(getattr(event.data, "by", "kopt-kb")))

    def line(self) -> str:
        """`name <email>` without the characters git reserves."""
        name = _UNSAFE.sub(" ", self.name).strip() or "kopt-kb"
        return f"{name} <{_UNSAFE.sub('', self.email).strip()}>"


def enclosing_repository(root: Path) -> Path | None:
    """The nearest folder above `root` that holds a `.git`, unless git there ignores `root`."""
    for folder in root.resolve().parents:
        if (folder / ".git").exists():
            ignored = Git(folder).ok("check-ignore", "--quiet", "--", str(root.resolve()))
            return None if ignored else folder
    return None


def ensure_repository(root: Path, *, nested: bool = False) -> Repository:
    """Make an empty repository in the folder if it has none.

    Args:
        root: The workspace.
        nested: Make it even inside another repository's work tree, which then sees the folder as one
            opaque entry.

    Raises:
        MissingTool: git is not installed.
        GitError: git failed.
    """
    if (root / ".git").exists():
        return Repository.EXISTING
    if not nested and enclosing_repository(root):
        return Repository.ENCLOSED
    git = Git(root)
    git.run("init", "--quiet", "--template=")
    git.run("symbolic-ref", "HEAD", "refs/heads/main")
    return Repository.CREATED


def commit_event(
    root: Path,
    event: Event,
    subject: str,
    files: Mapping[str, bytes | None],
    *,
    identity: CommitIdentity | None = None,
) -> str:
    """Commit file contents as the view of an event; on top of HEAD, or again where it stands already.

    Author, committer and their date come from the event; the message ends in the trailer that names the
    event. The work tree is not touched, and of the index only these paths.

    Args:
        root: A folder with a repository of its own (`ensure_repository`).
        event: The event to show.
        subject: First line of the message.
        files: Path below the root → content; None removes the path.
        identity: Author; default the one the event names.

    Returns:
        The commit id. Repeating the call returns the same.

    Raises:
        MissingTool: git is not installed.
        GitError: The folder has no repository, a path is unusable, git failed, or history holds another
            commit for this event.
    """
    if not (root / ".git").exists():
        raise GitError("has no git repository of its own", where=str(root))
    git, head = Git(root), Head(event.seq, event.zh)
    tip = git.text("rev-parse", "--verify", "--quiet", "HEAD", missing="")
    shown = _commit_showing(git, head) if tip else ""
    parent = git.text("rev-parse", "--verify", "--quiet", f"{shown}^", missing="") if shown else tip
    first = " ".join(subject.split()) or f"Event {head.seq}"
    message = f"{first}\n\n{TRAILER}: {head.seq}:{head.zh}\n"
    made = _import(git, event, message, files, parent, identity or CommitIdentity.of(event))
    if shown and made != shown:
        raise GitError(
            f"commit {shown[:12]} shows event {event.seq} with other contents",
            where=str(root),
            fix="compare it with the workspace; history is not rewritten",
        )
    if not shown:
        git.run("update-ref", "-m", f"kopt-kb: event {event.seq}", "HEAD", made, tip or "0" * 40)
        _update_index(git, tuple(files))
    return made


def commit_showing(root: Path, event: Event) -> str:
    """Return the commit that shows an event; empty when there is none, or no repository.

    Raises:
        MissingTool: git is not installed.
        GitError: git failed.
    """
    if not (root / ".git").exists():
        return ""
    git = Git(root)
    tip = git.text("rev-parse", "--verify", "--quiet", "HEAD", missing="")
    return _commit_showing(git, Head(event.seq, event.zh)) if tip else ""


def _commit_showing(git: Git, head: Head) -> str:
    pattern = f"{TRAILER}: {head.seq}:{head.zh}"
    return git.text("rev-list", "--max-count=1", "--fixed-strings", f"--grep={pattern}", "HEAD")


def _import(
    git: Git,
    event: Event,
    message: str,
    files: Mapping[str, bytes | None],
    parent: str,
    identity: CommitIdentity,
) -> str:
    who = f"{identity.line()} {int(event.time.timestamp())} +0000\n".encode()
    text = message.encode()
    parts = [
        b"feature done\n",
        f"reset {_PENDING}\n".encode(),
        f"commit {_PENDING}\nmark :1\n".encode(),
        b"author " + who,
        b"committer " + who,
        b"data %d\n%s\n" % (len(text), text),
    ]
    if parent:
        parts.append(f"from {parent}\n".encode())
    parts += [_change(path, files[path]) for path in sorted(files)]
    parts.append(b"get-mark :1\ndone\n")
    made = git.run("fast-import", "--quiet", "--force", "--done", feed=b"".join(parts)).decode().strip()
    git.run("update-ref", "-d", _PENDING)
    return made


def _change(path: str, content: bytes | None) -> bytes:
    """Return the command that changes a path; raises `GitError` for one that is not below the folder."""
    pure = PurePosixPath(path)
    parts = {part.lower() for part in pure.parts}
    outside = pure.is_absolute() or ".." in parts or ".git" in parts or str(pure) != path or not parts
    if outside or path.startswith('"') or any(ord(char) < 32 for char in path):
        raise GitError(f"{path!r} can't be committed", where="files", fix="name a path below the workspace")
    name = path.encode()
    if content is None:
        return b"D %s\n" % name
    return b"M 100644 inline %s\ndata %d\n%s\n" % (name, len(content), content)


def _update_index(git: Git, paths: tuple[str, ...]) -> None:
    """Let the index agree with the commit on these paths, so that `git status` shows real changes only."""
    if paths:
        feed = b"".join(b":(literal)%s\0" % path.encode() for path in paths)
        git.run("reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul", "HEAD", feed=feed)

"""Accepted versions as commits on a branch of the project's repository; its index, files and HEAD are not touched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from kopt_kb.base.errors import KoptError
from kopt_kb.sandbox.gitrun import Git, repository_around
from kopt_kb.tuning.session import Session
from kopt_kb.workspace.journal.campaign_events import CampaignNamed
from kopt_kb.workspace.rounds import Round

__all__ = ["commit_version", "show_version"]

_EVENT = "kopt-kb-event"
"""Trailer that names the journal's event, so that a commit is made once."""


def commit_version(root: Path, named: CampaignNamed, files: Mapping[str, str], subject: str, event: str) -> str:
    """Commit files of an accepted version on the campaign's branch; return a line that says what was done.

    The tree is made of objects alone: no index is written and nothing is checked out. A branch that somebody has
    checked out is left alone, because its files would then differ from it.

    Args:
        root: The project's folder, which may lie below the top of its repository.
        named: Branch, and the commit that the campaign began at.
        files: Path below the root → text.
        subject: First line of the message.
        event: Hash of the journal's event.
    """
    ref = f"refs/heads/{named.git_branch}"
    try:
        git = repository_around(root)
        if git is None:
            return f"no branch shows {subject}: {root} lies in no repository"
        checked_out = git.text("worktree", "list", "--porcelain", missing="")
        if f"branch {ref}\n" in f"{checked_out}\n":
            return f"no branch shows {subject}: {named.git_branch} is checked out"
        tip = git.text("rev-parse", "--verify", "--quiet", ref, missing="")
        if tip and f"{_EVENT}: {event}" in git.text("log", "-1", "--format=%B", tip):
            return f"{named.git_branch} shows {subject} already"
        prefix = root.resolve().relative_to(git.root).as_posix()
        placed = {path if prefix == "." else f"{prefix}/{path}": text.encode() for path, text in files.items()}
        parent = tip or named.upstream
        tree = _tree(git, git.text("rev-parse", f"{parent}^{{tree}}"), placed)
        message = f"{subject}\n\nCampaign {named.name}.\n\n{_EVENT}: {event}\n"
        made = git.run("commit-tree", tree, "-p", parent, feed=message.encode()).decode().strip()
        git.run("update-ref", "-m", f"kopt-kb: {subject}", ref, made, tip or "0" * len(made))
    except KoptError as error:
        return f"no branch shows {subject}: {error.what}"
    return f"{named.git_branch} is {made[:12]}: {subject}"


def show_version(session: Session, root: Path, accepted: Round, subject: str, say: Callable[[str], None]) -> None:
    """Show an accepted version of a project on the campaign's branch, where it has one, and say so."""
    state = session.state()
    if state.named is not None and state.named.git_branch:
        files = state.files_of(session.store.get(accepted.submitted[accepted.name].blob))
        say(commit_version(root, state.named, files, subject, session.journal.head.zh))


def _tree(git: Git, base: str, files: Mapping[str, bytes]) -> str:
    """Return the tree that differs from a base in these files, made folder by folder."""
    listed = git.run("ls-tree", "-z", base).split(b"\0") if base else []
    entries: dict[str, bytes] = {}
    for line in filter(None, listed):
        head, _, name = line.partition(b"\t")
        entries[name.decode("utf-8", "surrogateescape")] = head
    below: dict[str, dict[str, bytes]] = {}
    for path, data in files.items():
        first, _, rest = path.partition("/")
        if rest:
            below.setdefault(first, {})[rest] = data
            continue
        sha = git.run("hash-object", "-w", "--stdin", feed=data).decode().strip() if data else _empty(git)
        mode = entries.get(first, b"100644 ").split(b" ")[0]
        entries[first] = b"%s blob %s" % (mode, sha.encode())
    for folder, inner in below.items():
        known = entries.get(folder, b"").split(b" ")
        entries[folder] = b"040000 tree %s" % _tree(git, known[2].decode() if len(known) > 2 else "", inner).encode()
    feed = b"".join(
        head + b"\t" + name.encode("utf-8", "surrogateescape") + b"\0" for name, head in sorted(entries.items())
    )
    return git.run("mktree", "-z", feed=feed).decode().strip()


def _empty(git: Git) -> str:
    """Return the blob of an empty file: what reads nothing can't be fed nothing."""
    return git.run("hash-object", "-w", "/dev/null").decode().strip()

"""Accepted versions as commits on a branch of the project's repository; its index, files and HEAD are not touched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from kopt_kb.base.errors import KoptError
from kopt_kb.sandbox.gitrun import Git, repository_around
from kopt_kb.tuning.session import Session
from kopt_kb.tuning.tested_tree import TreeFile, differing_files
from kopt_kb.workspace.journal.campaign_events import CampaignNamed
from kopt_kb.workspace.rounds import Round

__all__ = ["commit_version", "show_version"]

_EVENT = "kopt-kb-event"
"""Trailer that names the journal's event, so that a commit is made once."""


def commit_version(
    root: Path, named: CampaignNamed, files: Mapping[str, str], subject: str, event: str, exclude: Iterable[str] = ()
) -> str:
    """Commit files of an accepted version on the campaign's branch; return a line that says what was done.

    A version's commit holds the tree that was tested: where the project differed from the commit that the campaign
    began at, the branch begins with a commit of those files. The tree is made of objects alone: no index is written and
    nothing is checked out. A branch that somebody has checked out is left alone, because its files would then differ
    from it, and so is one whose last commit is not of this campaign.

    Args:
        root: The project's folder, which may lie below the top of its repository.
        named: Branch, and the commit that the campaign began at.
        files: Path below the root → text.
        subject: First line of the message.
        event: Hash of the journal's event.
        exclude: Globs of files that are no part of the project.
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
        said = git.text("log", "-1", "--format=%B", tip) if tip else ""
        if f"{_EVENT}: {event}" in said:
            return f"{named.git_branch} shows {subject} already"
        if tip and _campaign(named) not in said:
            return f"no branch shows {subject}: the last commit of {named.git_branch} is not of campaign {named.name}"
        prefix = root.resolve().relative_to(git.root).as_posix()
        parent = tip or _base(git, named, differing_files(git, named.upstream, root, exclude))
        placed = {
            path if prefix == "." else f"{prefix}/{path}": TreeFile(text.encode()) for path, text in files.items()
        }
        made = _commit(git, parent, placed, f"{subject}\n\n{_campaign(named)}\n\n{_EVENT}: {event}\n")
        git.run("update-ref", "-m", f"kopt-kb: {subject}", ref, made, tip or "0" * len(made))
    except KoptError as error:
        return f"no branch shows {subject}: {error.what}"
    return f"{named.git_branch} is {made[:12]}: {subject}"


def _campaign(named: CampaignNamed) -> str:
    """Return the line by which a commit says whose it is."""
    return f"Campaign {named.name}."


def _base(git: Git, named: CampaignNamed, differing: Mapping[str, TreeFile | None]) -> str:
    """Return the commit that versions stand on: where the campaign began, or one above it that is as it was tested."""
    if not differing:
        return named.upstream
    shown = ", ".join(sorted(differing)[:20]) + (f" and {len(differing) - 20} more" if len(differing) > 20 else "")
    message = f"The project as it was tested\n\nNot committed before: {shown}\n\n{_campaign(named)}\n"
    return _commit(git, named.upstream, differing, message)


def _commit(git: Git, parent: str, files: Mapping[str, TreeFile | None], message: str) -> str:
    tree = _tree(git, git.text("rev-parse", f"{parent}^{{tree}}"), files)
    return git.run("commit-tree", tree, "-p", parent, feed=message.encode()).decode().strip()


def show_version(
    session: Session, root: Path, accepted: Round, subject: str, say: Callable[[str], None], exclude: Iterable[str] = ()
) -> None:
    """Show an accepted version of a project on the campaign's branch, where it has one, and say so."""
    state = session.state()
    if state.named is not None and state.named.git_branch:
        files = state.files_of(session.store.get(accepted.submitted[accepted.name].blob))
        say(commit_version(root, state.named, files, subject, session.journal.head.zh, exclude))


def _tree(git: Git, base: str, files: Mapping[str, TreeFile | None]) -> str:
    """Return the tree that differs from a base in these files, made folder by folder; empty when nothing is left."""
    listed = git.run("ls-tree", "-z", base).split(b"\0") if base else []
    entries: dict[str, bytes] = {}
    for line in filter(None, listed):
        head, _, name = line.partition(b"\t")
        entries[name.decode("utf-8", "surrogateescape")] = head
    below: dict[str, dict[str, TreeFile | None]] = {}
    for path, file in files.items():
        first, _, rest = path.partition("/")
        if rest:
            below.setdefault(first, {})[rest] = file
        elif file is None:
            entries.pop(first, None)
        else:
            sha = git.run("hash-object", "-w", "--stdin", feed=file.data).decode().strip() if file.data else _empty(git)
            mode = file.mode or entries.get(first, b"100644 ").split(b" ")[0]
            entries[first] = b"%s blob %s" % (mode, sha.encode())
    for folder, inner in below.items():
        known = entries.get(folder, b"").split(b" ")
        made = _tree(git, known[2].decode() if len(known) > 2 and known[1] == b"tree" else "", inner)
        if made:
            entries[folder] = b"040000 tree %s" % made.encode()
        else:
            entries.pop(folder, None)
    if not entries:
        return ""
    feed = b"".join(
        head + b"\t" + name.encode("utf-8", "surrogateescape") + b"\0" for name, head in sorted(entries.items())
    )
    return git.run("mktree", "-z", feed=feed).decode().strip()


def _empty(git: Git) -> str:
    """Return the blob of an empty file: what reads nothing can't be fed nothing."""
    return git.run("hash-object", "-w", "/dev/null").decode().strip()

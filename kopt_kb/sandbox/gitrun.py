"""The one runner of git: in one folder, with a pinned environment and none of the repository's or user's settings."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from kopt_kb.base.errors import MissingTool
from kopt_kb.sandbox.gitdir import GitDir, GitError, git_dir_of
from kopt_kb.sandbox.process import ChildLimits, Finished, run

__all__ = ["Git", "GitError", "repository_around"]

TIMEOUT_S = 60.0

_KEPT = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.fsmonitor": "false",
    "diff.ignoreSubmodules": "all",
    "core.autocrlf": "false",
    "core.bare": "false",
    "commit.gpgSign": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "log.showSignature": "false",
    "protocol.allow": "never",
    "fastimport.unpackLimit": "10000",
}


_WITHOUT_REPOSITORY = ("init", "apply")
"""Commands that read no repository: one makes it, one changes the files of a folder."""


class Git:
    """The git program bound to the repository of one folder.

    The repository is always that folder's own `.git`, or `git_dir` where one is given, so that none around it can be
    changed by accident. Variables and settings of the caller and of the repository don't reach git (`gitdir`), no hook,
    filter or other program is started, and git reaches no network.

    Raises:
        MissingTool: git is not on the search path.
    """

    def __init__(self, root: Path, git_dir: Path | None = None) -> None:
        program = shutil.which("git")
        if program is None:
            raise MissingTool(
                "git is not installed", where="PATH", fix="install git, or go on without its view", code="KB121"
            )
        self._program = program
        self._root = root.resolve()
        self._mark = git_dir
        self._git_dir: GitDir | None = None

    @property
    def is_bare(self) -> bool:
        """Whether it was given as a repository without files beside its own."""
        return self._mark == self._root

    @property
    def root(self) -> Path:
        """The top of its files."""
        return self._root

    def run(self, *arguments: str, feed: bytes = b"") -> bytes:
        """The command's standard output.

        Raises:
            GitError: The command failed or took longer than a minute.
        """
        done = self._start(arguments, feed)
        if done.code != 0:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            reason = said[0] if said else f"exit status {done.code}"
            raise GitError(f"git {arguments[0]} failed: {reason}", where=str(self._root))
        return done.stdout

    def text(self, *arguments: str, missing: str | None = None) -> str:
        """The output without surrounding space; `missing`, when given, stands for a failure."""
        if missing is None:
            return self.run(*arguments).decode("utf-8", "replace").strip()
        done = self._start(arguments, b"")
        return done.stdout.decode("utf-8", "replace").strip() if done.code == 0 else missing

    def ok(self, *arguments: str) -> bool:
        """Whether the command ends with status 0."""
        return self._start(arguments, b"").code == 0

    def _start(self, arguments: tuple[str, ...], feed: bytes) -> Finished:
        if arguments[0] in _WITHOUT_REPOSITORY:
            return self._run(
                arguments, feed, {"GIT_DIR": str(self._root / ".git") if arguments[0] == "init" else os.devnull}
            )
        if self._git_dir is None:
            self._git_dir = git_dir_of(self._root, self._mark)
            self._git_dir.refuse_strange_parts()
        if not self._git_dir.is_there:  # git says so itself
            return self._run(arguments, feed, {"GIT_DIR": str(self._git_dir.path)})
        with self._git_dir.shielded() as where:
            return self._run(arguments, feed, where)

    def _run(self, arguments: tuple[str, ...], feed: bytes, where: dict[str, str]) -> Finished:
        settings = [item for pair in _SETTINGS.items() for item in ("-c", "=".join(pair))]
        try:
            done = run(
                [self._program, *settings, *arguments], env={**self._environment(), **where}, feed=feed,
                folder=self._root, limits=ChildLimits(TIMEOUT_S, printed_bytes=0),
            )  # fmt: skip
        except OSError as error:
            raise GitError(f"git can't run: {error.strerror or error}", where=str(self._root)) from error
        if done.passed:
            raise GitError(f"git {arguments[0]} took over {TIMEOUT_S:.0f} s", where=str(self._root))
        return done

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        return {
            **kept,
            "GIT_WORK_TREE": str(self._root),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "HOME": os.devnull,
            "GIT_AUTHOR_NAME": "kopt-kb",
            "GIT_AUTHOR_EMAIL": "kopt-kb@localhost",
            "GIT_COMMITTER_NAME": "kopt-kb",
            "GIT_COMMITTER_EMAIL": "kopt-kb@localhost",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "LC_ALL": "C",
            "TZ": "UTC",
        }


def repository_around(folder: Path) -> Git | None:
    """Return the repository that a folder is, or lies in; None where there is none.

    Raises:
        MissingTool: git is not on the search path.
        GitError: Its `.git` is a link, or names a repository that does not name this folder.
    """
    here = folder.resolve()
    if (here / "HEAD").is_file() and (here / "objects").is_dir():  # bare, or the `.git` of another
        return Git(here, git_dir=here)
    top = next((one for one in (here, *here.parents) if (one / ".git").exists()), None)
    if top is None:
        return None
    git_dir_of(top)
    return Git(top)

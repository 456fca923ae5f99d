"""Runs git in one folder with a pinned environment: no user settings, hooks, filters or prompts."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from kopt_kb.errors import BadInput, MissingTool
from kopt_kb.process import ChildLimits, Finished, run

__all__ = ["Git", "GitError"]

TIMEOUT_S = 60.0

_KEPT = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.autocrlf": "false",
    "core.bare": "false",
    "commit.gpgSign": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "log.showSignature": "false",
    "protocol.allow": "never",
    "fastimport.unpackLimit": "10000",
}


class GitError(BadInput):
    """git refused or failed; `where` is the folder."""

    code = "KB309"


def _refuse_pipes(folder: Path) -> None:
    """Raise `GitError` for what git would wait for, or read without an end: pipes, sockets, devices, links to them."""
    for where, below, files in os.walk(folder):
        for name in (*below, *files):
            path = Path(where) / name
            try:
                mode = path.lstat().st_mode
                if stat.S_ISLNK(mode):
                    mode = path.stat().st_mode
            except OSError:  # it went meanwhile, or the link leads nowhere: git says what it makes of it
                continue
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                what = f"{path.relative_to(folder.parent)} is no regular file, git would wait for it"
                raise GitError(what, where=str(path), fix="remove it")


class Git:
    """The git program bound to the repository of one folder.

    `GIT_DIR` is always that folder's own `.git`, or `git_dir` where one is given, so that no repository around it can
    be changed by accident; variables and settings of the caller don't reach git, and git reaches no network.

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
        self._git_dir = git_dir or self._root / ".git"
        self._is_looked_at = False

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
        if not self._is_looked_at:
            _refuse_pipes(self._git_dir)
            self._is_looked_at = True
        settings = [item for pair in _SETTINGS.items() for item in ("-c", "=".join(pair))]
        try:
            done = run(
                [self._program, *settings, *arguments], env=self._environment(), feed=feed, folder=self._root,
                limits=ChildLimits(TIMEOUT_S, printed_bytes=0),
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
            "GIT_DIR": str(self._git_dir),
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
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "LC_ALL": "C",
            "TZ": "UTC",
        }

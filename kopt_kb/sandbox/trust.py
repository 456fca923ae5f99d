"""What this user allowed a folder to start: a store outside every workspace, which nothing but a user's word enters.

A journal, a project file or a bundle can name any command; whoever wrote it may be a stranger. So a command that stands
in one is started only where this user gave it on a command line before, or said yes to it.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from kopt_kb.base.errors import BadInput

__all__ = ["UNATTENDED", "Grant", "GrantKind", "TrustStore", "store_path"]

UNATTENDED = "KOPT_UNATTENDED"
"""Variable that a server sets for the `kb` that it starts for others: commands that a folder names are then refused."""

GrantKind = Literal["proposer", "launcher", "project", "reported", "network", "variable"]
_MOST_BYTES = 4 << 20
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, order=True)
class Grant:
    """One thing that a folder may do.

    Attributes:
        kind: `proposer` and `launcher` start a command, `project` the commands of one project file, `network` leaves
            its commands the network, `variable` passes a variable of the environment on to them, `reported` lets
            policies accept the times that a project file's commands say, of results that nobody compared.
        text: The command; the SHA-256 of the project file, for `reported` too; the name of the variable; empty for the
            network.
    """

    kind: GrantKind
    text: str

    def __str__(self) -> str:
        """Say it as a person is asked."""
        if self.kind == "reported":
            return f"gains by times reported by the project, results not compared ({self.text})"
        return f"{self.kind} {self.text}".rstrip()


def store_path() -> Path:
    """Return the file: KOPT_TRUST, else XDG_CONFIG_HOME/kopt-kb/trust.json, else ~/.config/kopt-kb/trust.json."""
    named = os.environ.get("KOPT_TRUST")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "kopt-kb" / "trust.json"


class TrustStore:
    """Folder → what it may start.

    Args:
        path: The file; default `store_path()`.

    Raises:
        BadInput: It is not this user's own, others may write to it, or it can't be read.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or store_path()
        self._folders = self._read()

    @property
    def folders(self) -> Mapping[str, frozenset[Grant]]:
        """All that is allowed, by the folder's real path."""
        return self._folders

    def missing(self, folder: Path, grants: Iterable[Grant]) -> tuple[Grant, ...]:
        """Return those of the grants that a folder lacks, sorted."""
        return tuple(sorted(set(grants) - self._folders.get(_name(folder), frozenset())))

    def add(self, folder: Path, grants: Iterable[Grant]) -> None:
        """Allow a folder more; what is allowed already is not written again."""
        more = self.missing(folder, grants)
        if more:
            self._folders[_name(folder)] = self._folders.get(_name(folder), frozenset()) | frozenset(more)
            self._write()

    def remove(self, folder: Path) -> bool:
        """Allow a folder nothing; return whether it was allowed anything."""
        if self._folders.pop(_name(folder), None) is None:
            return False
        self._write()
        return True

    def _read(self) -> dict[str, frozenset[Grant]]:
        try:
            with os.fdopen(os.open(self.path, _READING), "rb") as stream:
                self._check(os.fstat(stream.fileno()))
                data = stream.read(_MOST_BYTES)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._refused(f"can't be read: {error.strerror or error}") from error
        try:
            folders = json.loads(data)["folders"]
            return {name: frozenset(_grant(*pair) for pair in pairs) for name, pairs in folders.items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._refused("is damaged") from error

    def _check(self, about: os.stat_result) -> None:
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o022:
            raise self._refused("belongs to somebody else, or others may write to it")

    def _write(self) -> None:
        folders = {name: [[one.kind, one.text] for one in sorted(grants)] for name, grants in self._folders.items()}
        text = json.dumps({"v": 1, "folders": folders}, indent=1, sort_keys=True) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=stat.S_IRWXU)
            temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
            _write_private(temporary, text)
            temporary.replace(self.path)
        except OSError as error:
            raise self._refused(f"can't be written: {error.strerror or error}") from error

    def _refused(self, what: str) -> BadInput:
        fix = "make it your own file, or name another one in KOPT_TRUST"
        return BadInput(f"the store of trusted folders {what}", where=str(self.path), fix=fix, code="KB475")


def _name(folder: Path) -> str:
    return str(folder.resolve())


def _grant(kind: object, text: object) -> Grant:
    if kind not in get_args(GrantKind) or not isinstance(text, str):
        raise ValueError(kind)
    return Grant(kind, text)  # type: ignore[arg-type]


def _write_private(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, _WRITING, 0o600), "w", encoding="utf-8") as file:
        file.write(text)

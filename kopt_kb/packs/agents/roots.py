"""The folders that calls may name paths in."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.agents import codes

__all__ = ["Roots"]


@dataclass(frozen=True, slots=True)
class Roots:
    """Folders, links resolved; relative paths are meant from the first."""

    folders: tuple[Path, ...]

    @classmethod
    def given(cls, words: Sequence[str]) -> Roots:
        """Return those of the command line, else of KOPT_MCP_ROOT (folders divided by `:`), else the current folder."""
        named = list(filter(None, os.environ.get("KOPT_MCP_ROOT", "").split(os.pathsep)))
        return cls.of(words or named)

    @classmethod
    def of(cls, words: Sequence[str]) -> Roots:
        """Return the folders that words name, the current one without words; raises `BadInput` for what is none."""
        folders = [Path(word).expanduser().resolve() for word in words or ["."]]
        for word, folder in zip(words or ["."], folders, strict=True):
            if not folder.is_dir():
                raise BadInput("is no folder", where=word, fix="name a folder that is there", code="KB110")
        return cls(tuple(folders))

    def inside(self, word: str, name: str) -> str:
        """Return a path of a call, absolute and without links; raises `BadInput` where it leads out of the roots.

        Args:
            word: As the call names it.
            name: Of the argument.
        """
        path = Path(os.path.realpath(self.folders[0] / word))
        if any(path.is_relative_to(folder) for folder in self.folders):
            return str(path)
        listed = ", ".join(map(str, self.folders))
        fix = f"name one below {listed}, or start the server with another --root"
        raise BadInput(f"{name} leads out of the folders of this server", where=word, fix=fix, code=codes.OUTSIDE_ROOTS)

    def problem(self, word: str, name: str) -> str:
        """Return the path of a problem, and refuse one whose TOML names a Python file out of the roots."""
        path = Path(self.inside(word, name))
        if path.suffix == ".toml" and path.is_file():
            try:
                file = tomllib.loads(path.read_text(encoding="utf-8"))["problem"]["file"]
            except (OSError, ValueError, KeyError, TypeError):  # the command says what is wrong with it
                return str(path)
            self.inside(str(path.parent / str(file)), f"the file of {name}")
        return str(path)

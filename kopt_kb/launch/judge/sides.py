"""What two revisions of kernels are: files, folders, git revisions, interpreters with a compiler, tuned tables."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.sandbox.git_tree import commit_named, write_commit
from kopt_kb.sandbox.gitrun import repository_around
from kopt_kb.sandbox.owned import owned_folder

__all__ = ["RevisionSide", "sides"]

SideKind = Literal["file", "folder", "compiler", "table"]

_PYTHON = re.compile(r"python[0-9.]*")
_TABLES = frozenset({".json", ".csv"})


@dataclass(frozen=True, slots=True)
class RevisionSide:
    """One of the two.

    Attributes:
        kind: A git revision is the folder that it was written to.
        label: As it was given.
        path: The file, folder, interpreter or table.
    """

    kind: SideKind
    label: str
    path: Path


@contextmanager
def sides(base: str, head: str) -> Iterator[tuple[RevisionSide, RevisionSide]]:
    """Yield what both name; the folders of git revisions end with the block.

    Raises:
        BadInput: One names nothing, or they are of two kinds.
    """
    with ExitStack() as stack:
        one, two = (_side(word, stack) for word in (base, head))
        if one.kind != two.kind:
            what = f"{base} is a {one.kind}, and {head} a {two.kind}"
            fix = "give two files, two folders or git revisions, two compilers, or two tables"
            raise BadInput(what, where="kb bench compare", fix=fix, code="KB103")
        yield one, two


def _side(word: str, stack: ExitStack) -> RevisionSide:
    path = Path(word)
    if path.is_dir():
        return RevisionSide("folder", word, path)
    if path.is_file():
        if path.suffix in _TABLES:
            return RevisionSide("table", word, path)
        is_compiler = _PYTHON.fullmatch(path.name) is not None and shutil.which(word) is not None
        return RevisionSide("compiler" if is_compiler else "file", word, path)
    if _PYTHON.fullmatch(word) and (found := shutil.which(word)):
        return RevisionSide("compiler", word, Path(found))
    git = repository_around(Path.cwd())
    commit = commit_named(git, word) if git is not None else ""
    if git is None or not commit:
        what = "is no file, folder, interpreter or git revision"
        raise BadInput(what, where=word, fix="such as kernel.py, main, or ~/venv/bin/python", code="KB110")
    folder = stack.enter_context(owned_folder("kb-revision-"))
    write_commit(git, commit, folder)
    return RevisionSide("folder", word, folder)

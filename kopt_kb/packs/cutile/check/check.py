"""Check cuTile files: kernels, launches, searches, registrations, rules, knobs, and the state of their repository."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kopt_kb.analysis.frameworks import dotted_name
from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.base.installed import version_of
from kopt_kb.base.wire import Wire
from kopt_kb.packs.cutile.source.findings import TileFinding, TileTarget
from kopt_kb.packs.cutile.source.knobs import knob_findings
from kopt_kb.packs.cutile.source.rules import NOT_DECIDED, rule_findings
from kopt_kb.packs.cutile.source.source import CuTileFile, read_cutile
from kopt_kb.sandbox.gitrun import repository_around

__all__ = [
    "CheckedTileFile", "TileCheck", "TilePlace", "TileRepository", "check_tiles", "installed_versions", "repository_of",
]  # fmt: skip

_MOST_FILES = 2000
_MOST_BYTES = 4 << 20
_SEARCHES = ("exhaustive_search", "autotune_launch")
_REGISTERS = "register_impl"
_SANDBOX = "sandbox"
_WRONG_IMPORT = "import cutile"


@dataclass(frozen=True, slots=True)
class TilePlace(Wire):
    """A place in a file: its name, its line, and what else is said there."""

    name: str
    line: int
    said: str = ""


@dataclass(frozen=True, slots=True)
class CheckedTileFile(Wire):
    """One file.

    Attributes:
        path: Of the file.
        kernels: Functions under `@ct.kernel`.
        launches: Functions that call ct.launch.
        searches: Calls of `exhaustive_search` or `autotune_launch`.
        registered: Functions under `@register_impl`, with operation and backend.
        configurations: Configurations of its TUNING_SPACE.
        findings: What is wrong, or to know.
    """

    path: str
    kernels: tuple[TilePlace, ...]
    launches: tuple[TilePlace, ...]
    searches: tuple[TilePlace, ...]
    registered: tuple[TilePlace, ...]
    configurations: int
    findings: tuple[TileFinding, ...]


@dataclass(frozen=True, slots=True)
class TileRepository(Wire):
    """The state of a git repository: branch, commit, files that differ, and files of sandbox/ that are committed."""

    branch: str
    commit: str
    changed: tuple[str, ...]
    sandbox: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TileCheck(Wire):
    """What a check found.

    Attributes:
        state: `clean`, or that there are warnings or errors.
        target: Target that it was for; empty: any.
        cuda_tile: Version that the rules were asked for.
        tileiras: Release that the knobs were asked for.
        files: Each file with a tile kernel.
        repository: Where they lie; None outside a git repository.
        not_decided: Rules that the text alone does not show.
    """

    state: Literal["clean", "warnings", "errors"]
    target: str
    cuda_tile: str
    tileiras: str
    files: tuple[CheckedTileFile, ...]
    repository: TileRepository | None
    not_decided: tuple[str, ...]


def check_tiles(path: Path, target: TileTarget) -> TileCheck:
    """Return what is wrong with a file, or with every file of a folder that has a tile kernel.

    Raises:
        BadInput: There is no such file, it has no tile kernel, or no file of the folder has one.
    """
    if path.is_dir():
        files = tuple(_of_folder(path, target))
        if not files:
            fix = "name a folder with @ct.kernel files (import cuda.tile as ct)"
            raise BadInput("no file has a tile kernel", where=str(path), fix=fix, code="KB116")
    else:
        files = (_checked(path, _text(path), target),)
    levels = {one.level for each in files for one in each.findings}
    return TileCheck(
        state="errors" if "error" in levels else "warnings" if "warning" in levels else "clean",
        target=target.name,
        cuda_tile=".".join(map(str, target.cuda_tile)),
        tileiras=".".join(map(str, target.tileiras)),
        files=files,
        repository=repository_of(path if path.is_dir() else path.resolve().parent),
        not_decided=tuple(f"rule {number}: {text}" for number, text in NOT_DECIDED.items()),
    )


def installed_versions() -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    """Return the installed versions of cuda-tile and tileiras as numbers; None for what is missing."""
    return _version("cuda-tile"), _version("nvidia-cuda-tileiras")


def _version(package: str) -> tuple[int, ...] | None:
    return tuple(int(one) for one in version_of(package).split(".")[:2] if one.isdigit()) or None


def _text(path: Path) -> str:
    if not path.is_file():
        raise BadInput("no such file", where=str(path), fix="name a Python file or a folder", code="KB110")
    if path.stat().st_size > _MOST_BYTES:
        raise BadInput(f"the file is larger than {_MOST_BYTES} bytes", where=str(path), code="KB110")
    return path.read_text(errors="replace")


def _of_folder(folder: Path, target: TileTarget) -> Iterator[CheckedTileFile]:
    found = (one for one in sorted(folder.rglob("*.py")) if not _hidden(one, folder))
    for number, path in enumerate(found):
        if number >= _MOST_FILES:
            fix = "name a smaller folder, such as src/tilegym/ops/cutile"
            raise BadInput(f"more than {_MOST_FILES} Python files", where=str(folder), fix=fix, code="KB110")
        text = _text(path) if path.is_file() else ""
        if ".kernel" in text or _WRONG_IMPORT in text:
            try:
                yield _checked(path, text, target)
            except BadInput:  # no kernel of cuTile in it, or no Python
                continue


def _hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith((".", "__")) for part in path.relative_to(folder).parts[:-1])


def _checked(path: Path, text: str, target: TileTarget) -> CheckedTileFile:
    wrong = next((number for number, line in enumerate(text.splitlines(), 1) if line.startswith(_WRONG_IMPORT)), 0)
    if wrong:
        what, fix = "rule 1: the module is called cuda.tile", "import cuda.tile as ct"
        raise BadInput(what, where=f"{path}:{wrong}", fix=fix, code="KB116")
    file = read_cutile(text, str(path))
    findings = sorted((*rule_findings(file, target), *knob_findings(file, target)), key=lambda one: one.line)
    return CheckedTileFile(
        path=str(path),
        kernels=tuple(TilePlace(one.name, one.lineno) for one in file.kernels),
        launches=tuple(TilePlace(_around(file, one), one.lineno) for one in file.launches),
        searches=tuple(_searches(file)),
        registered=tuple(_registered(file)),
        configurations=math.prod(map(len, file.space.values())) if file.space else 0,
        findings=tuple(dict.fromkeys(findings)),
    )


def _around(file: CuTileFile, call: ast.Call) -> str:
    """Return the function that a call stands in."""
    functions = [one for one in ast.walk(file.tree) if isinstance(one, ast.FunctionDef)]
    inside = [one for one in functions if one.lineno <= call.lineno <= (one.end_lineno or one.lineno)]
    return max(inside, key=lambda one: one.lineno).name if inside else "the module"


def _searches(file: CuTileFile) -> Iterator[TilePlace]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call):
            name = dotted_name(node.func, file.names).rpartition(".")[2]
            if name in _SEARCHES:
                yield TilePlace(name, node.lineno, _around(file, node))


def _registered(file: CuTileFile) -> Iterator[TilePlace]:
    functions = (node for node in ast.walk(file.tree) if isinstance(node, ast.FunctionDef))
    for node in functions:
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and dotted_name(mark.func, file.names).rpartition(".")[2] == _REGISTERS:
                given = [*mark.args, *(one.value for one in mark.keywords)]
                words = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                yield TilePlace(node.name, node.lineno, ", ".join(words))


def repository_of(folder: Path) -> TileRepository | None:
    """Return the state of the git repository that a folder lies in; None where there is none, or no git."""
    try:
        git = repository_around(folder)
    except KoptError:
        return None
    if git is None:
        return None
    branch = git.text("rev-parse", "--abbrev-ref", "HEAD", missing="")
    if not branch:
        return None
    below = folder.resolve().relative_to(git.root).as_posix()
    changed = git.run("status", "--porcelain", "--", below).decode("utf-8", "replace")
    kept = git.text("ls-files", _SANDBOX, f"*/{_SANDBOX}/*", missing="")
    head = git.text("rev-parse", "HEAD", missing="")
    return TileRepository(branch, head, _lines(changed), tuple(kept.splitlines()))


def _lines(text: str) -> tuple[str, ...]:
    return tuple(one[3:] for one in text.splitlines())

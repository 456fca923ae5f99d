"""A program that reads tuned tables, as files: where it lies and which file has which kernel. Nothing of it is run."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.base.files import read_input

__all__ = ["ENGINES", "TableEngine", "find_engine"]

ENGINES = ("vllm", "sglang")
_BELOW = ("", "python")
_MOST_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class TableEngine:
    """A program's files.

    Attributes:
        name: Its package.
        root: Folder that its imports start from.
    """

    name: str
    root: Path

    @property
    def version(self) -> str:
        """Version that its installed files say beside it; empty where nothing does."""
        found = sorted(self.root.glob(f"{self.name}-*.dist-info"))
        return found[0].name.removeprefix(f"{self.name}-").removesuffix(".dist-info") if found else ""

    def file(self, places: Iterable[str]) -> Path | None:
        """Return the first of some places below its root where a file is; None: it has none of them."""
        return next((path for path in (self.root / one for one in places) if path.is_file()), None)

    def words(self, places: Iterable[str], function: str) -> frozenset[str] | None:
        """Return the words that a function of the program returns, as written; None: there is no such function."""
        path = self.file(places)
        if path is None:
            return None
        return _returned(path, path.stat().st_mtime_ns, function)


def find_engine(given: str, package: str) -> TableEngine | None:
    """Return the program of a package in a folder that was named, or among what is installed.

    Args:
        given: A folder that holds the package, or its checkout, or the package itself; or a package's name.
        package: The package that is wanted.

    Returns:
        The program; None where another one was named.

    Raises:
        BadInput: The folder holds none of the programs that are known.
        MissingTool: A package of that name is not installed.
    """
    if given in ENGINES:
        return _installed(given) if given == package else None
    folder = Path(given)
    if not folder.is_dir():
        raise BadInput("no such folder", where=given, fix=f"name a folder of {' or '.join(ENGINES)}", code="KB110")
    folder = folder.resolve()
    roots = [*(folder / one for one in _BELOW), *([folder.parent] if folder.name in ENGINES else [])]
    known = {one: root for root in reversed(roots) for one in ENGINES if (root / one / "__init__.py").is_file()}
    if not known:
        what = f"holds no package {' or '.join(ENGINES)}"
        raise BadInput(what, where=given, fix="name the program's checkout, or where it is installed", code="KB110")
    return TableEngine(package, known[package]) if package in known else None


def _installed(package: str) -> TableEngine:
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not folders:
        fix = "install it, or name its folder with --engine"
        raise MissingTool(f"{package} is not installed", where="--engine", fix=fix, code="KB120")
    return TableEngine(package, Path(folders[0]).parent)


@lru_cache(maxsize=16)
def _returned(path: Path, changed: int, function: str) -> frozenset[str] | None:  # noqa: ARG001 - a part of the key
    try:
        tree = ast.parse(read_input(path, _MOST_BYTES))
    except (SyntaxError, ValueError) as error:
        raise BadInput("is not valid Python", where=str(path), fix="name the program's files", code="KB116") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            values = [one.value for one in ast.walk(node) if isinstance(one, ast.Return)]
            constants = [one.value for one in values if isinstance(one, ast.Constant)]
            return frozenset("" if one is None else str(one) for one in constants)
    return None

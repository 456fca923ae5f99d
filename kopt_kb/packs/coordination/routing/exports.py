"""The names that a module offers, read before anybody writes an import of it; nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_input
from kopt_kb.base.wire import Wire

__all__ = ["Exports", "ModuleExports", "exports_of", "integration"]


@dataclass(frozen=True, slots=True)
class Exports(Wire):
    """What a module offers.

    Attributes:
        file: The module.
        names: Name → how it is called: arguments of a function, `class`, or `value`.
        declared: Whether `__all__` says so; else every public name of the top level.
    """

    file: str
    names: Mapping[str, str]
    declared: bool


@dataclass(frozen=True, slots=True)
class ModuleExports(Wire):
    """What several modules offer."""

    modules: tuple[Exports, ...]


def exports_of(path: Path) -> Exports:
    """Return the names of a module; raises `BadInput` where it is no Python, or `__all__` names what is not there."""
    data = read_input(path, 1 << 20)
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError) as error:
        where = f"{path}:{getattr(error, 'lineno', None) or 1}"
        raise BadInput("is not valid Python", where=where, fix="fix the file", code="KB116") from error
    found: dict[str, str] = {}
    listed: list[str] | None = None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = f"({ast.unparse(node.args)})"
        elif isinstance(node, ast.ClassDef):
            found[node.name] = "class"
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for name in _names(node):
                found[name] = "value"
            listed = _listed(node) if "__all__" in _names(node) else listed
        elif isinstance(node, ast.ImportFrom | ast.Import):
            found |= {(one.asname or one.name).split(".")[0]: "import" for one in node.names}
    if listed is None:
        return Exports(
            str(path), {k: v for k, v in found.items() if not k.startswith("_") and v != "import"}, declared=False
        )
    strange = [name for name in listed if name not in found]
    if strange:
        raise BadInput(f"__all__ names {', '.join(strange)}, which is not there", where=str(path), code="KB116")
    return Exports(str(path), {name: found[name] for name in listed}, declared=True)


def _names(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [one.id for one in targets if isinstance(one, ast.Name)]


def _listed(node: ast.Assign | ast.AnnAssign) -> list[str] | None:
    try:
        value = ast.literal_eval(node.value) if node.value is not None else None
    except ValueError:
        return None
    return [str(one) for one in value] if isinstance(value, list | tuple) else None


def integration(modules: Sequence[Path], name: str) -> str:
    """Return import lines for one name of several modules, each under a name of its own.

    Raises:
        BadInput: A module does not offer the name; what it offers is said.
    """
    lines = []
    for path in modules:
        known = exports_of(path)
        if name not in known.names:
            fix = f"it offers {', '.join(known.names) or 'nothing'}"
            raise BadInput(f"offers no {name}", where=str(path), fix=fix, code="KB116")
        lines.append(f"from {path.stem} import {name} as {name}_{path.stem}")
    return "\n".join(lines) + "\n"

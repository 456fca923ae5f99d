"""Imports go down, inside functions too: circles are counted among all of them, and so are those inside functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.guards.trees import tree_of

pytestmark = pytest.mark.core

MAX_CIRCLES = 3
"""Groups of modules that import each other, imports inside functions included. The number may only fall."""
MAX_INSIDE = 293
"""Imports inside functions: of a heavy or optional package, or of what a light command must not load. May only fall."""


def modules(root: Path) -> dict[str, ast.Module]:
    """Return dotted name → tree of every module that is installed."""
    found = {}
    for folder, first in (("kopt_kb", ()), ("analysis", ("kopt_kb",)), ("kernels", ("kopt_kb",))):
        for path in sorted((root / folder).rglob("*.py")):
            relative = path.relative_to(root)
            if folder != "kopt_kb" or relative.parts[1] not in {"analysis", "kernels"}:
                parts = (*first, *relative.with_suffix("").parts)
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = tree_of(path)
    return found


def at_run_time(tree: ast.AST, *, inside: bool = False) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Yield every import that may run, and whether it stands inside a function; those for types only don't run."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, inside
        elif isinstance(node, ast.expr):  # no statement stands in an expression
            continue
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for other in node.orelse:
                yield from at_run_time(ast.Module([other], []), inside=inside)
        else:
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from at_run_time(node, inside=inside or is_function)


def graph(trees: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Return module → modules of the package that it imports anywhere."""
    found: dict[str, set[str]] = {name: set() for name in trees}
    for name, tree in trees.items():
        for node, _ in at_run_time(tree):
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            else:
                named = [f"{node.module}.{alias.name}" for alias in node.names]
                named = [one if one in trees else node.module or "" for one in named]
            found[name].update(one for one in named if one in trees and one != name)
    return found


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that reach each other (strongly connected components of more than one)."""
    reached = {name: _from(name, edges) for name in edges}
    groups = {frozenset({one for one in reached[name] if name in reached[one]} | {name}) for name in edges}
    return sorted(sorted(group) for group in groups if len(group) > 1)


def _from(name: str, edges: Mapping[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    left = list(edges[name])
    while left:
        one = left.pop()
        if one not in seen:
            seen.add(one)
            left += edges[one]
    return seen


def inside_functions(trees: Mapping[str, ast.Module]) -> list[str]:
    """Return `module:line` of every import inside a function."""
    return [f"{name}:{node.lineno}" for name, tree in trees.items() for node, inside in at_run_time(tree) if inside]


def test_circles_are_few(repo_root: Path) -> None:
    """Who reads a module reads those below it, and never comes back to it."""
    found = circles(graph(modules(repo_root)))
    assert len(found) <= MAX_CIRCLES, found


def test_imports_inside_functions_are_few(repo_root: Path) -> None:
    """An import stands at the top of its file unless it is heavy, optional, or would slow a light command."""
    found = inside_functions(modules(repo_root))
    assert len(found) <= MAX_INSIDE, (len(found), found)


def test_a_circle_is_found() -> None:
    """Also one that closes inside a function; what is imported for types only closes none."""
    trees = {
        "p.a": ast.parse("from p import b"),
        "p.b": ast.parse("def f():\n    from p.a import x"),
        "p.c": ast.parse("import p.a\nif TYPE_CHECKING:\n    import p.d"),
        "p.d": ast.parse("import p.c"),
    }
    assert circles(graph(trees)) == [["p.a", "p.b"]]
    assert inside_functions(trees) == ["p.b:2"]


def test_methods_and_functions_in_functions_count_once() -> None:
    """Wherever the function stands."""
    text = (
        "import os\nclass C:\n    def f(self):\n        def g():\n            import re\n        return lambda: g()\n"
    )
    assert inside_functions({"p": ast.parse(text)}) == ["p:5"]

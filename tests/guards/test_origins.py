"""Provenance can't be forged by accident: origins have one maker, errors one code each."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

MAKERS = {"Cited": "kopt_kb/wiki/resolve.py", "Measured": "kopt_kb/workspace/measurements.py"}


def _trees(root: Path) -> list[tuple[str, ast.Module]]:
    found = []
    for folder in ("kopt_kb", "analysis", "kernels"):
        for path in sorted((root / folder).rglob("*.py")):
            relative = path.relative_to(root).as_posix()
            if not relative.startswith(("kopt_kb/analysis/", "kopt_kb/kernels/")):
                found.append((relative, ast.parse(path.read_text())))
    return found


def _origin_names(tree: ast.Module) -> dict[str, str]:
    """Return local name → origin for names imported from the quantity module."""
    return {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "kopt_kb.quantity.quantity"
        for alias in node.names
        if alias.name in MAKERS
    }


@pytest.mark.core
def test_cited_and_measured_origins_are_made_in_one_module_each(repo_root: Path) -> None:
    """No other module calls the constructors of the registry's `Cited` and `Measured`."""
    wrong = []
    for name, tree in _trees(repo_root):
        local = _origin_names(tree)
        for node in ast.walk(tree):
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
            if called in local and MAKERS[local[called]] != name:
                wrong.append(f"{name}:{node.lineno}: {called}")
    assert not wrong


@pytest.mark.core
def test_cited_is_made_where_rows_become_quantities(repo_root: Path) -> None:
    """The check above is not vacuous: the maker does call the constructor."""
    tree = ast.parse((repo_root / MAKERS["Cited"]).read_text())
    assert any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "Cited" for n in ast.walk(tree)
    )


@pytest.mark.core
def test_error_codes_belong_to_one_class(repo_root: Path) -> None:
    """A code `KB…` declared by a class is declared by no other class."""
    owners = defaultdict(list)
    for name, tree in _trees(repo_root):
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                for item in node.body:
                    target = item.targets[0] if isinstance(item, ast.Assign) else getattr(item, "target", None)
                    value = getattr(item, "value", None)
                    named = isinstance(target, ast.Name) and target.id == "code"
                    if named and isinstance(value, ast.Constant):
                        owners[value.value].append(f"{name}:{node.name}")
    assert not {code: names for code, names in owners.items() if len(names) > 1}

"""Provenance can't be forged by accident: origins have one maker, errors one code each."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from tests.guards.trees import nodes_of, tree_of

MAKERS = {"Cited": "kopt_kb/wiki/resolve.py"}


def _trees(root: Path) -> list[tuple[str, ast.Module]]:
    found = []
    for folder in ("kopt_kb", "analysis", "kernels"):
        for path in sorted((root / folder).rglob("*.py")):
            relative = path.relative_to(root).as_posix()
            if not relative.startswith(("kopt_kb/analysis/", "kopt_kb/kernels/")):
                found.append((relative, tree_of(path)))
    return found


def _origin_names(tree: ast.Module) -> dict[str, str]:
    """Return local name → origin for names imported from the quantity module."""
    return {
        alias.asname or alias.name: alias.name
        for node in nodes_of(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "kopt_kb.quantity.quantity"
        for alias in node.names
        if alias.name in MAKERS
    }


def _made_elsewhere(name: str, tree: ast.Module) -> list[str]:
    """Return the calls of an origin's constructor outside of its maker."""
    local, found = _origin_names(tree), []
    for node in nodes_of(tree):
        if isinstance(node, ast.Call):
            by_name = local.get(node.func.id) if isinstance(node.func, ast.Name) else None
            by_module = node.func.attr if isinstance(node.func, ast.Attribute) and node.func.attr in MAKERS else None
            origin = by_name or by_module
            if origin is not None and MAKERS[origin] != name:
                found.append(f"{name}:{node.lineno}: {origin}")
    return found


@pytest.mark.core
def test_the_cited_origin_is_made_in_one_module(repo_root: Path) -> None:
    """No other module calls the constructor of `Cited`, under whatever name."""
    assert not [one for name, tree in _trees(repo_root) for one in _made_elsewhere(name, tree)]


@pytest.mark.core
@pytest.mark.parametrize(
    "planted",
    [
        "from kopt_kb.quantity.quantity import Cited\nCited('k', 'vendor', c)",
        "from kopt_kb.quantity.quantity import Cited as C\nC('k', 'vendor', c)",
        "from kopt_kb.quantity import quantity\nquantity.Cited('k', 'vendor', c)",
        "import kopt_kb.quantity.quantity as q\nq.Cited('k', 'vendor', c)",
    ],
)
def test_a_forged_origin_is_found(planted: str) -> None:
    """The check above sees each way to call it; the maker itself is free to."""
    tree = ast.parse(planted)
    assert _made_elsewhere("kopt_kb/cli/values/lookup.py", tree) == ["kopt_kb/cli/values/lookup.py:2: Cited"]
    assert not _made_elsewhere(MAKERS["Cited"], tree)


@pytest.mark.core
def test_cited_is_made_where_rows_become_quantities(repo_root: Path) -> None:
    """The check above is not vacuous: the maker does call the constructor."""
    tree = ast.parse((repo_root / MAKERS["Cited"]).read_text())
    assert any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "Cited" for n in nodes_of(tree)
    )


@pytest.mark.core
def test_error_codes_belong_to_one_class(repo_root: Path) -> None:
    """A code `KB…` declared by a class is declared by no other class."""
    owners = defaultdict(list)
    for name, tree in _trees(repo_root):
        for node in nodes_of(tree):
            if isinstance(node, ast.ClassDef):
                for item in node.body:
                    target = item.targets[0] if isinstance(item, ast.Assign) else getattr(item, "target", None)
                    value = getattr(item, "value", None)
                    named = isinstance(target, ast.Name) and target.id == "code"
                    if named and isinstance(value, ast.Constant):
                        owners[value.value].append(f"{name}:{node.name}")
    assert not {code: names for code, names in owners.items() if len(names) > 1}

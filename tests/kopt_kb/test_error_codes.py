"""The list of codes is closed: what is raised is listed, what is listed is raised, one cause a code."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from kopt_kb.error_codes import Code, causes

BARE = {"KoptError", "BadInput", "FindingError", "MissingTool", "UnknownData"}


def _sources(root: Path) -> Iterator[tuple[str, ast.Module]]:
    for folder in ("kopt_kb", "analysis", "kernels"):
        for path in sorted((root / folder).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if not name.startswith(("kopt_kb/analysis/", "kopt_kb/kernels/")) and path.name != "error_codes.py":
                yield name, ast.parse(path.read_text(encoding="utf-8"))


def _without_cause(tree: ast.Module) -> list[int]:
    """Return the lines that make an error of a general class and do not say its cause."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [
        call.lineno
        for call in calls
        if ast.unparse(call.func).split(".")[-1] in BARE and "code" not in {word.arg for word in call.keywords}
    ]


@pytest.mark.core
def test_what_is_raised_is_listed_and_what_is_listed_is_raised(repo_root: Path) -> None:
    """Every word `KB…` of the source is a key of the table, and the other way round."""
    raised = {
        node.value
        for _, tree in _sources(repo_root)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"KB\d{3}", node.value)
    }
    assert raised == set(get_args(Code)) == set(causes())


@pytest.mark.core
def test_errors_of_the_general_classes_say_their_cause(repo_root: Path) -> None:
    """`BadInput` and its like have no cause of their own, so each call names a code."""
    wrong = [f"{name}:{line}" for name, tree in _sources(repo_root) for line in _without_cause(tree)]
    assert not wrong


def test_a_call_without_a_cause_is_found() -> None:
    """The guard above sees what it looks for."""
    assert _without_cause(ast.parse("raise BadInput('x', where='y')\nraise errors.MissingTool('x', code='KB120')")) == [
        1
    ]


def test_names_causes_and_order() -> None:
    """No name and no cause stands twice; codes ascend; every entry says what to do."""
    table = causes()
    for part in ("name", "cause"):
        assert Counter(getattr(one, part) for one in table.values()).most_common(1)[0][1] == 1
    assert list(table) == sorted(table)
    assert all(one.remedy.endswith(".") and not one.cause.endswith(".") for one in table.values())

"""The list of codes is closed: what is raised is listed, what is listed is raised, one cause a code."""

from __future__ import annotations

import ast
import importlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from kopt_kb.base.error_codes import Code, causes
from kopt_kb.cli.commands import OFFERS
from kopt_kb.doors.entries import entry_points
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.table import behind, packs
from tests.guards.trees import nodes_of, tree_of

BARE = {"KoptError", "BadInput", "FindingError", "MissingTool", "UnknownData"}


@pytest.fixture(scope="module", autouse=True)
def _trees_are_dropped() -> Iterator[None]:
    yield
    tree_of.cache_clear()
    nodes_of.cache_clear()


def _sources(root: Path) -> Iterator[tuple[str, ast.Module]]:
    for folder in ("kopt_kb", "analysis", "kernels"):
        for path in sorted((root / folder).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if not name.startswith(("kopt_kb/analysis/", "kopt_kb/kernels/")) and path.name != "error_codes.py":
                yield name, tree_of(path)


def _without_cause(tree: ast.Module) -> list[int]:
    """Return the lines that make an error of a general class and do not say its cause."""
    calls = [node for node in nodes_of(tree) if isinstance(node, ast.Call)]
    return [
        call.lineno
        for call in calls
        if ast.unparse(call.func).split(".")[-1] in BARE and "code" not in {word.arg for word in call.keywords}
    ]


def _raised(root: Path) -> dict[str, set[str]]:
    """Return code → who raises it: the core, whose name is empty, or packs; their lists are no raising."""
    raised: dict[str, set[str]] = {}
    for name, tree in _sources(root):
        pack = re.match(r"kopt_kb/packs/(\w+)/", name)
        if not name.endswith("/codes.py"):
            for node in nodes_of(tree):
                if isinstance(node, ast.Constant) and re.fullmatch(r"KB\d{3}", str(node.value)):
                    raised.setdefault(str(node.value), set()).add(pack[1] if pack else "")
    return raised


@pytest.mark.core
def test_what_is_raised_is_listed_and_what_is_listed_is_raised(repo_root: Path) -> None:
    """Every word `KB…` of the source is a key of the core's table, and the other way round."""
    assert set(_raised(repo_root)) == set(get_args(Code)) == set(causes())


@pytest.mark.core
def test_what_one_pack_alone_raises_is_its_own(repo_root: Path) -> None:
    """The core lists what it raises itself, or what several packs do."""
    assert not {code: who for code, who in _raised(repo_root).items() if len(who) == 1 and who != {""}}


@pytest.mark.parametrize("pack", [pack for pack in packs().usable.values() if pack.causes], ids=lambda pack: pack.name)
def test_codes_of_a_pack_are_raised_by_it(pack: Pack, repo_root: Path) -> None:
    """Each is a constant of its `codes.py` that a module names, stands nowhere else, and is known when it is absent."""
    module = importlib.import_module(pack.causes.place.partition(":")[0])
    constants = {name: value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)}
    assert {cause.code: cause.name.upper().replace("-", "_").replace("'", "") for cause in pack.causes} == {
        value: name for name, value in constants.items()
    }
    asked = f"from {module.__name__} import", f"from {module.__package__} import codes"
    texts = [path.read_text() for path in (repo_root / "kopt_kb").rglob("*.py")]
    texts = [text for text in texts if any(one in text for one in asked)]
    assert not [name for name in constants if not any(f"codes.{name}" in text for text in texts)]
    offered = {one.name: one.value for one in entry_points(group=OFFERS)}
    assert {code: offered.get(code) for code in constants.values()} == dict.fromkeys(constants.values(), pack.name)


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
    everything = [*table.values(), *(cause for _, cause in behind("causes"))]
    for part in ("name", "cause"):
        assert Counter(getattr(one, part) for one in everything).most_common(1)[0][1] == 1
    codes = [*table, *(cause.code for _, cause in behind("causes"))]
    assert list(table) == sorted(table) and len(codes) == len(set(codes))
    assert all(one.remedy.endswith(".") and not one.cause.endswith(".") for one in everything)

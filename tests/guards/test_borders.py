"""The core names no pack and imports none, packs don't know each other: whatever a pack brings comes through a door."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from kopt_kb.doors.table import packs
from tests.guards.trees import nodes_of, tree_of

pytestmark = pytest.mark.core

PACKS = "kopt_kb.packs"
PUBLIC = "kopt_kb/__init__.py"
"""The table of public names: it says where each is at home, in a pack too, and imports what is asked for."""


COMPAT = {"kopt_kb/launch/compile/compat.py", "kopt_kb/workspace/journal/compat.py"}
"""Old names in stored files, with what they are today: names of packs among them."""


def core(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield module and file of everything that is no pack and no kernel."""
    for path in sorted((root / "kopt_kb").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(("kopt_kb/packs/", "kopt_kb/analysis/", "kopt_kb/kernels/")):
            yield name, path
    for path in sorted((root / "analysis").rglob("*.py")):
        yield path.relative_to(root).as_posix(), path


def spoken(text: str, words: Iterable[str]) -> list[int]:
    """Return the lines whose identifiers or strings contain one of the words; comments are free."""
    letters = text.lower().replace("_", "")
    there = [one for one in words if one.replace("_", "") in letters]
    finders = [re.compile(rf"(?<![a-z0-9]){re.escape(one)}(?![a-z])") for one in there]
    said = parts_of(text) if finders else ()
    return [line for line, parts in said for finder in finders if finder.search(parts)]


@cache
def parts_of(text: str) -> tuple[tuple[int, str], ...]:
    """Return line and words of each identifier and string of a file; each pack asks for the same files."""
    return tuple(
        (token.start[0], re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", token.string).lower())
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type in {tokenize.NAME, tokenize.STRING}
    )


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and module of every import: at the top, inside functions, for types only, and by `later`."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and re.match(r"kopt_kb(\.\w+)+:", node.value)
        ):
            yield node.lineno, node.value.partition(":")[0]


def of_packs(tree: ast.Module) -> list[int]:
    """Return the lines that import a pack."""
    return [line for line, name in imported(tree) if name == PACKS or name.startswith(f"{PACKS}.")]


def of_other_packs(tree: ast.Module, own: str) -> list[int]:
    """Return the lines that import another pack than the own one."""
    mine = f"{PACKS}.{own}"
    return [
        line
        for line, name in imported(tree)
        if name.startswith(f"{PACKS}.") and name != mine and not name.startswith(f"{mine}.")
    ]


def words() -> Mapping[str, tuple[str, ...]]:
    """Return the words of each pack."""
    return {name: pack.words for name, pack in packs().usable.items() if pack.words}


@pytest.mark.parametrize("name", sorted(words()))
def test_the_core_does_not_speak_of_a_pack(name: str, repo_root: Path) -> None:
    """No identifier and no string of the core contains a word that a pack has as its own."""
    own = words()[name]
    files = [(place, path) for place, path in core(repo_root) if place not in COMPAT]
    assert not [f"{place}:{line}" for place, path in files for line in spoken(path.read_text(), own)]


def test_the_core_imports_no_pack(repo_root: Path) -> None:
    """Neither at the top of a file nor inside a function, for types only or by name."""
    found = [f"{name}:{line}" for name, path in core(repo_root) if name != PUBLIC for line in of_packs(tree_of(path))]
    assert not found


def test_kernels_import_no_pack(repo_root: Path) -> None:
    """A kernel is a file that anybody may copy."""
    files = sorted((repo_root / "kernels").rglob("*.py"))
    assert len(files) > 20
    assert not [f"{path.name}:{line}" for path in files for line in of_packs(tree_of(path))]


def test_packs_do_not_import_each_other(repo_root: Path) -> None:
    """What two packs need is a part of the core."""
    folder = repo_root / "kopt_kb" / "packs"
    files = [path for path in sorted(folder.rglob("*.py")) if path.parent != folder]
    assert len(files) > 30
    found = [
        f"{path.relative_to(repo_root)}:{line}"
        for path in files
        for line in of_other_packs(tree_of(path), path.relative_to(folder).parts[0])
    ]
    assert not found


@pytest.mark.parametrize(
    ("planted", "harmless"),
    [
        ("def read_kernelbench(): ...", "def read(): ...  # as kernelbench has it"),
        ("class KernelbenchFile: ...", "class BenchFile: ..."),
        ('"""Reads kernelbench files."""', '"""Reads kernelbenches."""'),
        ("x = 'a-kernelbench.py'", "x = 'kernelbenched'"),
    ],
)
def test_a_spoken_word_is_found(planted: str, harmless: str) -> None:
    """In a name, in a class, in a sentence and in a path."""
    assert spoken(planted, ["kernelbench"]) == [1]
    assert not spoken(harmless, ["kernelbench"])


@pytest.mark.parametrize(
    "planted",
    [
        "import kopt_kb.packs.cutile.pack",
        "from kopt_kb.packs import cutile",
        "from kopt_kb import packs",
        "def f():\n    from kopt_kb.packs.cutile.pack import PACK",
        "if TYPE_CHECKING:\n    from kopt_kb.packs.cutile.pack import PACK",
        "x = later('kopt_kb.packs.cutile.pack:PACK')",
    ],
)
def test_an_import_of_a_pack_is_found(planted: str) -> None:
    """Each way to name one, wherever it stands."""
    assert of_packs(ast.parse(planted))
    assert not of_packs(ast.parse(planted.replace("packs", "doors")))


def test_an_import_between_packs_is_found() -> None:
    """Another pack is found; the own one and the core are not."""
    text = (
        "from kopt_kb.packs.cutile.source import rules\nfrom kopt_kb.packs.cute import pack\nimport kopt_kb.base.wire"
    )
    assert of_other_packs(ast.parse(text), "cutile") == [2]
    assert of_other_packs(ast.parse(text), "cute") == [1]
    assert of_other_packs(ast.parse(text), "cut") == [1, 2]

"""Rules of the house that a tree walk can hold; each is shown to find a planted case."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.guards.trees import nodes_of, tree_of

pytestmark = pytest.mark.core

MAX_FUNCTION_LINES = 52
MAX_UNTYPED = 6
"""Places that pass `dict[str, Any]` or `Mapping[str, Any]`: documents at the edges. The number may only fall."""
MAX_WRITERS = 0
"""Bodies of `to_json` and `from_json` beside the one serialiser, kopt_kb/base/wire.py. The number may only fall."""


def sources(root: Path) -> Iterator[tuple[str, ast.Module]]:
    """Yield path and tree of every module that is installed."""
    for path in sorted((root / "kopt_kb").rglob("*.py")):
        yield path.relative_to(root).as_posix(), tree_of(path)
    for folder in ("analysis", "kernels"):
        for path in sorted((root / folder).rglob("*.py")):
            yield f"kopt_kb/{path.relative_to(root).as_posix()}", tree_of(path)


def untyped(tree: ast.Module) -> list[int]:
    """Return the lines of annotations that are a mapping of names to anything."""
    return [
        node.lineno
        for node in nodes_of(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in {"dict", "Mapping", "MutableMapping"}
        and isinstance(node.slice, ast.Tuple)
        and [part.id for part in node.slice.elts if isinstance(part, ast.Name)] == ["str", "Any"]
    ]


def writers(tree: ast.Module) -> list[int]:
    """Return the lines of methods that turn an object into JSON, or JSON into one, by hand."""
    return [
        node.lineno
        for node in nodes_of(tree)
        if isinstance(node, ast.FunctionDef) and node.name in {"to_json", "from_json"}
    ]


def pickles(tree: ast.Module) -> list[int]:
    """Return the lines that import a reader of pickles: such bytes run code of whoever wrote them."""
    names = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
    found = []
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if any(module.partition(".")[0] in names for module in modules):
            found.append(node.lineno)
        # torch.load reads pickles too; with weights_only it builds tensors and nothing else.
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"torch.load", "numpy.load", "np.load"}:
            safe = {ast.unparse(one) for one in node.keywords} & {"weights_only=True", "allow_pickle=False"}
            found += [] if safe else [node.lineno]
    return found


def long_functions(tree: ast.Module) -> list[int]:
    """Return the lines of functions longer than the limit, docstring and decorators included."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node for node in nodes_of(tree) if isinstance(node, kinds)]
    return [node.lineno for node in found if (node.end_lineno or 0) - node.lineno >= MAX_FUNCTION_LINES]


def places(root: Path, find: Callable[[ast.Module], list[int]], *but: str) -> list[str]:
    """Return `file:line` of all that a finder finds in the tree, some modules left out."""
    return [f"{name}:{line}" for name, tree in sources(root) if name not in but for line in find(tree)]


@pytest.mark.parametrize(
    ("find", "planted", "harmless"),
    [
        (untyped, "def f(x: dict[str, Any]) -> Mapping[str, Any]: ...", "def f(x: dict[str, int], y: list[Any]): ..."),
        (writers, "class C:\n    def to_json(self): ...", "class C:\n    def json(self): ..."),
        (pickles, "import pickle", "import json"),
        (pickles, "from dill.source import f", "from kopt_kb.kernels import pickles"),
        (pickles, "torch.load(path)", "torch.load(path, weights_only=True)"),
        (long_functions, "def f():\n" + "    x = 1\n" * MAX_FUNCTION_LINES, "def f():\n" + "    x = 1\n" * 20),
    ],
)
def test_each_rule_finds_what_it_is_for(find: Callable[[ast.Module], list[int]], planted: str, harmless: str) -> None:
    """A planted case is found, its harmless neighbour is not."""
    assert find(ast.parse(planted))
    assert not find(ast.parse(harmless))


def test_the_walk_sees_every_room(repo_root: Path) -> None:
    """Modules of all three folders, each once."""
    names = [name for name, _ in sources(repo_root)]
    assert len(names) == len(set(names)) > 300
    for room in ("wiki", "tuning", "analysis", "kernels"):
        assert any(name.startswith(f"kopt_kb/{room}/") for name in names)


def test_mappings_of_anything_stay_at_the_edges(repo_root: Path) -> None:
    """Text becomes typed where it is read: in between nobody passes names to anything."""
    found = places(repo_root, untyped)
    assert len(found) <= MAX_UNTYPED, found


def test_one_serialiser(repo_root: Path) -> None:
    """A document is written by its fields; what is still written by hand does not grow."""
    found = places(repo_root, writers, "kopt_kb/base/wire.py", "kopt_kb/base/wire_reader.py")
    assert len(found) <= MAX_WRITERS, found


def test_no_pickles(repo_root: Path) -> None:
    """Bytes from a file, a child or a network are never unpickled: that runs code of whoever wrote them.

    Benchmarks and tools are no exception, and neither is torch: what it loads is weights only.
    """
    own = [path for folder in ("benchmarks", "tools") for path in sorted((repo_root / folder).rglob("*.py"))]
    trees = [(path.relative_to(repo_root).as_posix(), tree_of(path)) for path in own]
    assert len(trees) > 10
    found = [f"{name}:{line}" for name, tree in [*sources(repo_root), *trees] for line in pickles(tree)]
    assert not found


def test_no_function_is_too_long(repo_root: Path) -> None:
    """Near 15 lines is the rule; this is the end of patience."""
    assert not places(repo_root, long_functions)


def test_no_example_has_a_deadline() -> None:
    """Under a loaded machine the slowest of thousands of examples would pass any."""
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check


SHARED_NAMES = {"Bools", "Ints", "Vendor"}
"""Names that two rooms give to the same; the list may only become shorter."""


def public_types(tree: ast.Module) -> set[str]:
    """Return the names of public classes and of aliases of types."""
    found = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
            found |= {one.id for one in node.targets if isinstance(one, ast.Name) and not one.id.isupper()}
    return {name for name in found if name[0].isupper()}


def test_a_name_of_a_type_has_one_meaning(repo_root: Path) -> None:
    """Who reads `Finding` knows which one: a hundred names had several meanings once."""
    places: dict[str, set[str]] = {}
    for path, tree in sources(repo_root):
        for name in public_types(tree):
            places.setdefault(name, set()).add(path)
    shared = {name: sorted(where) for name, where in places.items() if len(where) > 1}
    assert shared.keys() <= SHARED_NAMES, shared
    assert public_types(ast.parse("class Finding: ...\nWord = Literal['a']\n_Own = Literal['b']")) == {
        "Finding",
        "Word",
    }

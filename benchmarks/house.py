"""Counts the source: lines by kind, functions, untyped mappings, words that say nothing, shared names, unused names.

And borders: lines of the core, of packs and kernels, imports between them, circles, imports inside functions.

Usage: python benchmarks/house.py

A name counts as unused when it is written nowhere in the source but where it is defined and in `__all__`, and neither
the rest of the tree nor the documents speak of it; what a library calls by name (`visit_…`, `pytest_…`) is left out.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("kopt_kb", "analysis", "kernels")
_CALLED_BY_NAME = re.compile(r"visit_|pytest_|__")
_UNTYPED = re.compile(r"\b(?:Mapping|dict)\[str, Any\]")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules() -> Iterator[Path]:
    """Yield the files of the source; the two links inside the package are other names of folders that are read."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not any(parent.is_symlink() for parent in path.parents if parent != ROOT):
                yield path


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the lines of docstrings."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and ast.get_docstring(node, clean=False) is not None
        ):
            found.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return found


def kinds_of(text: str, tree: ast.Module) -> Counter[str]:
    """Return lines of code, docstrings, comments and nothing."""
    documented, kinds = docstring_lines(tree), Counter[str]()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        kind = "docstring" if number in documented else "comment" if words.startswith("#") else "code"
        kinds[kind if words else "blank"] += 1
    return kinds


def vague(tree: ast.Module) -> Counter[str]:
    """Return how often `one` and `found` stand in comprehensions, and elsewhere."""
    inside = {
        id(name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp)
        for name in ast.walk(node)
    }
    count = Counter[str]()
    for node in ast.walk(tree):
        name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
        if name in {"one", "found"}:
            count[f"{name} in a comprehension" if id(node) in inside else name] += 1
    return count


def area(path: Path) -> str:
    """Return what a file belongs to: a pack, kernels, or the core."""
    parts = path.relative_to(ROOT).parts
    if parts[:2] == ("kopt_kb", "packs") and len(parts) > 3:
        return f"pack {parts[2]}"
    return "kernels" if parts[0] == "kernels" else "core"


def module_of(path: Path) -> str:
    """Return a file's module."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("kopt_kb", *(one for one in parts if one not in {"kopt_kb", "__init__"})))


def imports(trees: dict[Path, ast.Module]) -> tuple[dict[str, set[str]], int, int]:
    """Return module → modules it imports at run time, imports inside functions, and those of packs from elsewhere."""
    homes = {module_of(path): path for path in trees}
    edges, inside, across = defaultdict[str, set[str]](set), 0, 0
    for name, path in homes.items():
        tests = (one for one in ast.walk(trees[path]) if isinstance(one, ast.If))
        types = [one for one in tests if "TYPE_CHECKING" in ast.unparse(one.test)]
        typed = {id(node) for one in types for part in one.body for node in ast.walk(part)}
        called = {id(node) for one in ast.walk(trees[path]) if isinstance(one, Function) for node in ast.walk(one)}
        for node in ast.walk(trees[path]):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            inside += id(node) in called
            base = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
            asked = {base, *(f"{base}.{alias.name}".lstrip(".") for alias in node.names)} & homes.keys()
            across += any(area(homes[one]).startswith("pack") and area(homes[one]) != area(path) for one in asked)
            if id(node) not in typed:
                edges[name] |= asked - {name}
    return edges, inside, across


def circles(edges: dict[str, set[str]]) -> list[set[str]]:
    """Return the groups of modules that reach each other."""

    def reached(start: str) -> set[str]:
        found, todo = set[str](), [start]
        while todo:
            for one in edges.get(todo.pop(), ()):
                if one not in found:
                    found.add(one)
                    todo.append(one)
        return found

    ahead = {one: reached(one) for one in edges}
    groups = [frozenset(two for two in ahead[one] if one in ahead.get(two, ())) for one in ahead if one in ahead[one]]
    return [set(one) for one in dict.fromkeys(groups)]


def borders() -> None:
    """Print lines by area, imports across, circles and imports inside functions."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in modules()}
    lines = Counter[str]()
    for path in trees:
        lines[area(path)] += len(path.read_text(encoding="utf-8").splitlines())
    packs = {name: count for name, count in lines.items() if name.startswith("pack")}
    print(f"core {lines['core']}, packs {sum(packs.values())}, kernels {lines['kernels']} lines")
    print(", ".join(f"{name.removeprefix('pack ')} {count}" for name, count in sorted(packs.items())))
    edges, inside, across = imports(trees)
    print(
        f"{across} imports of a pack from outside it, {len(circles(edges))} circles, {inside} imports inside functions"
    )


def main() -> None:
    """Print the counts."""
    borders()
    kinds, functions, words = Counter[str](), Counter[str](), Counter[str]()
    named, listed = defaultdict[str, set[str]](set), Counter[str]()
    places: list[tuple[str, str]] = []
    paths, vague_names = list(modules()), Counter[str]()
    for path in paths:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        kinds += kinds_of(text, tree)
        vague_names += vague(tree)
        words.update(re.findall(r"\w+", text))
        functions["untyped"] += len(_UNTYPED.findall(text))
        functions["to_json"] += text.count("def to_json(")
        for node in ast.walk(tree):
            if isinstance(node, Function):
                functions["all"] += 1
                functions["long"] += (node.end_lineno or 0) - node.lineno + 1 > 40
            if isinstance(node, ast.ClassDef | Function):
                places.append((node.name, f"{path.relative_to(ROOT)}:{node.lineno}"))
                listed[node.name] += text.count(f'"{node.name}"')
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else ()
            names = [one.id for one in targets if isinstance(one, ast.Name)]
            for name in [node.name] if isinstance(node, ast.ClassDef) else names:
                if name[0].isupper() and not name.isupper():
                    named[name].add(str(path))
    others = "\n".join(
        path.read_text(encoding="utf-8", errors="ignore")
        for folder in ("benchmarks", "docs", "examples", "plugins", "tests", "tools")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".md", ".sh"} and "campaigns" not in path.parts
    )
    elsewhere = set(re.findall(r"\w+", others))
    unused = [
        (name, where) for name, where in places
        if words[name] - listed[name] <= 1 and name not in elsewhere and not _CALLED_BY_NAME.match(name)
    ]  # fmt: skip
    print(f"{len(paths)} files, {kinds.total()} lines: {', '.join(f'{count} {kind}' for kind, count in kinds.items())}")
    print(f"{functions['all']} functions, {functions['long']} of more than 40 lines")
    print(f"{functions['untyped']} untyped mappings, {functions['to_json']} bodies of to_json")
    print(f"variables: {', '.join(f'{count} {name}' for name, count in sorted(vague_names.items()))}")
    several = sorted(name for name, files in named.items() if len(files) > 1)
    print(f"{len(several)} classes and types share a name: {', '.join(several)}")
    print(f"{len(unused)} classes and functions that nothing names: {', '.join(f'{a} {b}' for a, b in unused)}")


if __name__ == "__main__":
    main()

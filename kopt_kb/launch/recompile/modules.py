"""Where the modules of a source lie: in the candidate's own folders, else among the installed packages."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

__all__ = ["IMPORTED", "Index", "Leaf", "ModuleFile", "ModuleFiles", "package_roots"]

IMPORTED = frozenset({"triton", "math", "typing", "__future__"})
"""Packages that the second compiler imports. All others are followed as text."""

_MAX_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """A module as text: its dotted name and its file."""

    name: str
    path: Path

    @property
    def is_package(self) -> bool:
        """Whether its file is a package's own."""
        return self.path.name == "__init__.py"

    def absolute(self, module: str, level: int) -> str:
        """Return the dotted name that an import of this module means; empty where it climbs out of its package."""
        if not level:
            return module
        parts = self.name.split(".")
        above = len(parts) - level + self.is_package
        if above < 0 or (above == 0 and not module):
            return ""
        return ".".join([*parts[:above], *([module] if module else [])])


@dataclass(frozen=True)
class ModuleFiles:
    """Finds modules.

    Attributes:
        roots: The candidate's own folders, then those of installed packages.
        known: Modules that have a name of their own, by that.
    """

    roots: tuple[Path, ...]
    known: Mapping[str, ModuleFile]

    def find(self, name: str) -> ModuleFile | None:
        """Return the module of a dotted name; None: there is none as a file."""
        if name in self.known:
            return self.known[name]
        parts = name.split(".")
        if parts[0] in IMPORTED or not all(part.isidentifier() for part in parts):
            return None
        for root in self.roots:
            base = root.joinpath(*parts)
            for path in (base / "__init__.py", base.with_suffix(".py")):
                if path.is_file():
                    return ModuleFile(name, path)
        return None


@dataclass(frozen=True, slots=True)
class Leaf:
    """A statement at the top of a module that is no `if` and no `try`, and the names that it binds."""

    node: ast.stmt
    binds: frozenset[str]


@dataclass(frozen=True)
class Index:
    """A parsed module."""

    place: ModuleFile
    tree: ast.Module
    text: bytes = field(repr=False)

    @classmethod
    def read(cls, place: ModuleFile) -> Index:
        """Return the index of a module's file; raises `SyntaxError`, `ValueError` or `OSError`."""
        text = place.path.read_bytes()
        if len(text) > _MAX_BYTES:
            raise ValueError(f"more than {_MAX_BYTES} bytes")
        return cls(place, ast.parse(text, filename=str(place.path)), text)

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """All statements that bind names, those inside `if` and `try` too."""
        return tuple(_leaves(self.tree.body))

    @cached_property
    def bound(self) -> frozenset[str]:
        """Every name that the module binds."""
        return frozenset(name for one in self.leaves for name in one.binds)

    @cached_property
    def imports(self) -> dict[str, str]:
        """Name → the dotted name that an import binds it to."""
        found: dict[str, str] = {}
        for leaf in self.leaves:
            node = leaf.node
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found[alias.asname or alias.name.partition(".")[0]] = (
                        alias.name if alias.asname else alias.name.partition(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom):
                module = self.place.absolute(node.module or "", node.level)
                for alias in node.names:
                    found[alias.asname or alias.name] = f"{module}.{alias.name}".lstrip(".")
        return found

    @property
    def stars(self) -> tuple[str, ...]:
        """Dotted names of the modules that are imported with a star, the last first."""
        found = [
            self.place.absolute(leaf.node.module or "", leaf.node.level)
            for leaf in self.leaves
            if isinstance(leaf.node, ast.ImportFrom) and any(one.name == "*" for one in leaf.node.names)
        ]
        return tuple(reversed(found))


def _leaves(body: list[ast.stmt]) -> Iterator[Leaf]:
    for node in body:
        if isinstance(node, ast.If):
            yield from _leaves([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            yield from _leaves([*node.body, *node.orelse, *node.finalbody])
            for handler in node.handlers:
                yield from _leaves(handler.body)
        else:
            yield Leaf(node, frozenset(_bound(node)))


def _bound(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds at the top of its module; a star binds `*`."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import):
        yield from (one.asname or one.name.partition(".")[0] for one in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (one.asname or one.name for one in node.names)
    else:
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                yield one.id


def package_roots() -> tuple[Path, ...]:
    """Return the folders of installed packages, as this interpreter has them."""
    return tuple(Path(one) for one in sys.path if one.endswith("-packages") and Path(one).is_dir())

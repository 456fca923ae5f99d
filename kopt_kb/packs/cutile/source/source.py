"""A cuTile file as its rules need it: kernels, calls of cuda.tile, launches, and edits of single places in its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from kopt_kb.analysis.frameworks import aliases, dotted_name, framework_named, marks_of
from kopt_kb.base.errors import BadInput

__all__ = ["CuTileFile", "TextEdit", "TileCall", "edited", "keyword_of", "read_cutile"]

_TILE = "cuda.tile."
_CONSTANT = "cuda.tile.Constant"


@dataclass(frozen=True, slots=True)
class TileCall:
    """A call of cuda.tile, such as `load`, in a kernel or a function of the file."""

    name: str
    call: ast.Call
    function: ast.FunctionDef

    @property
    def line(self) -> int:
        """Line of the call."""
        return self.call.lineno


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Text that takes the place of a stretch of the file: offsets in characters, `end` not included."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class CuTileFile:
    """One file.

    Attributes:
        text: As it was read.
        tree: Its syntax.
        names: Local name → dotted name of what it imports.
        kernels: Functions under `@ct.kernel`, in order.
        helpers: Its other functions that call cuda.tile on the device.
    """

    text: str
    tree: ast.Module
    names: Mapping[str, str]
    kernels: tuple[ast.FunctionDef, ...]
    helpers: tuple[ast.FunctionDef, ...]
    _starts: list[int] = field(default_factory=list, repr=False)

    @cached_property
    def module(self) -> str:
        """How the file calls cuda.tile: `ct` of `import cuda.tile as ct`."""
        return next((local for local, full in self.names.items() if full == "cuda.tile"), "cuda.tile")

    @cached_property
    def places(self) -> tuple[TileCall, ...]:
        """Calls of cuda.tile on the device, in the order of the text."""
        found = [
            TileCall(full.removeprefix(_TILE), node, function)
            for function in (*self.kernels, *self.helpers)
            for node in ast.walk(function)
            if isinstance(node, ast.Call) and (full := dotted_name(node.func, self.names)).startswith(_TILE)
        ]
        return tuple(sorted(found, key=lambda one: (one.call.lineno, one.call.col_offset)))

    def calls(self, *names: str) -> tuple[TileCall, ...]:
        """Return the calls of these functions of cuda.tile."""
        return tuple(one for one in self.places if one.name in names)

    @cached_property
    def launches(self) -> tuple[ast.Call, ...]:
        """Calls of `ct.launch`, and of what searches and launches."""
        wanted = {"cuda.tile.launch", "cuda.tile_experimental.autotune_launch"}
        return tuple(
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call)
            and (dotted_name(node.func, self.names) in wanted or _last(node.func) == "autotune_launch")
        )

    @cached_property
    def space(self) -> Mapping[str, tuple[object, ...]]:
        """What the file's TUNING_SPACE lets a search choose; empty without one that is a literal."""
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and _names(node.targets) == ["TUNING_SPACE"]:
                return _literal_space(node.value)
        return {}

    def constants(self, function: ast.FunctionDef) -> frozenset[str]:
        """Return the parameters of a function that are compile-time constants."""
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        return frozenset(
            argument.arg
            for argument in arguments
            if argument.annotation is not None and self._is_constant(argument.annotation)
        )

    def _is_constant(self, node: ast.expr) -> bool:
        base = node.value if isinstance(node, ast.Subscript) else node
        if dotted_name(base, self.names) == _CONSTANT:
            return True
        if not isinstance(base, ast.Name):
            return False
        own = [one for one in self.tree.body if isinstance(one, ast.Assign) and _names(one.targets) == [base.id]]
        return any(self._is_constant(one.value) for one in own)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the offsets of a node in the text."""
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def source(self, node: ast.AST) -> str:
        """Return a node as it is written."""
        start, end = self.span(node)
        return self.text[start:end]

    def line_start(self, line: int) -> int:
        """Return the offset at which a line begins; lines count from 1."""
        return self._offsets[line - 1]

    def _at(self, line: int, column: int) -> int:
        start = self._offsets[line - 1]
        end = self._offsets[line] if line < len(self._offsets) else len(self.text)
        return start + len(self.text[start:end].encode()[:column].decode())  # columns count bytes

    @cached_property
    def _offsets(self) -> list[int]:
        found, total = [], 0
        for line in self.text.splitlines(keepends=True):
            found.append(total)
            total += len(line)
        return [*found, total]


def read_cutile(text: str, where: str = "kernel.py") -> CuTileFile:
    """Return a file's kernels and calls.

    Raises:
        BadInput: It is no Python, or has no function under `@ct.kernel`.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise BadInput(f"not a readable Python file ({error})", where=where, code="KB116") from error
    framework = framework_named("cuTile")
    names = aliases(tree)
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    kernels = tuple(one for one in functions if framework is not None and framework.mark in marks_of(one, names))
    if not kernels:
        fix = "give a file with a function under @ct.kernel (import cuda.tile as ct)"
        raise BadInput("no cuTile kernel", where=where, fix=fix, code="KB116")
    return CuTileFile(text, tree, names, kernels, tuple(_reached(functions, kernels)))


def _reached(functions: Sequence[ast.FunctionDef], kernels: Sequence[ast.FunctionDef]) -> Iterator[ast.FunctionDef]:
    """Yield the functions that kernels call, directly or not."""
    by_name = {one.name: one for one in functions}
    todo, seen = list(kernels), {one.name for one in kernels}
    while todo:
        for node in ast.walk(todo.pop()):
            if isinstance(node, ast.Name) and node.id in by_name and node.id not in seen:
                seen.add(node.id)
                todo.append(by_name[node.id])
                yield by_name[node.id]


def edited(text: str, edits: Sequence[TextEdit]) -> str:
    """Return a text with stretches replaced; two that overlap are a fault of who made them."""
    last = len(text)
    for edit in sorted(edits, key=lambda each: (each.start, each.end), reverse=True):
        if edit.end > last:
            raise ValueError(f"edits overlap at {edit.start}")
        text, last = text[: edit.start] + edit.text + text[edit.end :], edit.start
    return text


def keyword_of(call: ast.Call, name: str) -> ast.expr | None:
    """Return the value of a keyword argument; None where it is not given."""
    return next((one.value for one in call.keywords if one.arg == name), None)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _names(targets: Sequence[ast.expr]) -> list[str]:
    return [one.id for one in targets if isinstance(one, ast.Name)]


def _literal_space(node: ast.expr) -> Mapping[str, tuple[object, ...]]:
    try:
        found = ast.literal_eval(node)
    except (ValueError, TypeError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {str(name): tuple(values) for name, values in found.items() if isinstance(values, list | tuple)}

"""Kernels of a Python text: which functions are Triton kernels, which are started, and what their callees are."""

from __future__ import annotations

import ast
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from kopt_kb.analysis.frameworks import aliases, dotted_name

__all__ = ["KernelModule", "Project", "is_kernel", "parse_module"]

_SHORT = frozenset({"tl", "gl", "ttgl", "tlx"})
"""What the language is called everywhere, imported or not."""


@dataclass(frozen=True)
class KernelModule:
    """One parsed file.

    Attributes:
        name: Dotted name, or nothing.
        tree: Its syntax.
        lines: Its text by line, for evidence.
    """

    name: str
    tree: ast.Module
    lines: tuple[str, ...]

    @cached_property
    def names(self) -> dict[str, str]:
        """Local name → dotted name of everything imported anywhere in the file, relative imports resolved."""
        return aliases(self.tree, self.name)

    @cached_property
    def functions(self) -> dict[str, ast.FunctionDef]:
        """Name → function, of all functions at any depth that are decorated as kernels; the last of a name counts."""
        every = (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef))
        return {node.name: node for node in every if is_kernel(node, self.names)}

    @cached_property
    def started(self) -> frozenset[str]:
        """Names that the file starts as `name[grid](...)`."""
        calls = (node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        subscripts = (one.value for one in calls if isinstance(one, ast.Subscript))
        return frozenset(one.id for one in subscripts if isinstance(one, ast.Name))

    @cached_property
    def called(self) -> frozenset[str]:
        """Names that kernels of the file call."""
        inner = (node for one in self.functions.values() for node in ast.walk(one) if isinstance(node, ast.Call))
        return frozenset(node.func.id for node in inner if isinstance(node.func, ast.Name))

    def entries(self) -> tuple[str, ...]:
        """Return the kernels that a host starts: those it starts here, and those that no kernel here calls."""
        return tuple(name for name in self.functions if name in self.started or name not in self.called)


def is_kernel(function: ast.FunctionDef, names: dict[str, str]) -> bool:
    """Return whether a function is decorated by Triton's or Gluon's `jit`, called or not."""
    for mark in function.decorator_list:
        parts = dotted_name(mark.func if isinstance(mark, ast.Call) else mark, names).split(".")
        # A library may hand Triton on under a module of its own: vllm.triton_utils.triton.jit.
        if parts[-1] == "jit" and ("triton" in parts or "gluon" in parts):
            return True
    return False


def parse_module(text: str, name: str = "") -> KernelModule:
    """Return a parsed file; raises SyntaxError or ValueError where it is no Python."""
    return KernelModule(name, ast.parse(text), tuple(io.StringIO(text, newline="")))


@dataclass
class Project:
    """Where callees are looked for: the file itself, then the files that its imports name.

    Attributes:
        read: Dotted module name → its text, or None where it can't be found.
    """

    read: Callable[[str], str | None]
    _known: dict[str, KernelModule | None] = field(default_factory=dict)

    def module(self, name: str) -> KernelModule | None:
        """Return a module by its dotted name, parsed once."""
        if name not in self._known:
            text = self.read(name)
            try:
                self._known[name] = parse_module(text, name) if text is not None else None
            except (SyntaxError, ValueError):
                self._known[name] = None
        return self._known[name]

    def callee(self, module: KernelModule, func: ast.expr) -> tuple[KernelModule, ast.FunctionDef] | None:
        """Return the kernel function that a call names, with its module, through imports and re-exports."""
        if isinstance(func, ast.Name) and func.id in module.functions:
            return module, module.functions[func.id]
        dotted = dotted_name(func, module.names)
        for _ in range(4):
            home, _, leaf = dotted.rpartition(".")
            if not home or language_name(func, module.names):
                return None
            found = self.module(home)
            if found is None:
                return None
            if leaf in found.functions:
                return found, found.functions[leaf]
            dotted = found.names.get(leaf, "")
        return None


def language_name(func: ast.expr, names: dict[str, str]) -> str:
    """Return the name of a function of Triton's language that a call names, such as `dot`; nothing for any other."""
    parts = dotted_name(func, names).split(".")
    for at, one in enumerate(parts[:-1]):
        if one in _SHORT or (one == "triton" and parts[at + 1] in {"language", "cdiv", "next_power_of_2"}):
            return parts[-1]
        if one == "gluon" and parts[at + 1] == "language":
            return parts[-1]
    return ""


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body, docstrings left out."""
    for one in body:
        if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)):
            yield one

"""Expressions of a source that may be evaluated: by an allow-list, so that nothing of the candidate's runs.

At the top of a module: literals, names, arithmetic, members, and calls of a few functions that have no effect. What
asks for the environment gets the answer of an empty one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

__all__ = ["dotted", "is_hidden", "is_pure", "names_in", "without_environment"]

_PLAIN = (
    ast.Constant, ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List,
    ast.Dict, ast.Set, ast.Subscript, ast.Slice, ast.Starred, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
    ast.keyword, ast.expr_context,
)  # fmt: skip
_BUILTINS = frozenset({"abs", "bool", "float", "int", "len", "max", "min", "range", "str", "sum", "tuple", "list"})
_CALLS = frozenset(
    {
        "triton.cdiv", "triton.next_power_of_2", "triton.jit", "triton.runtime.jit.jit", "triton.language.constexpr",
        "triton.language.dtype", "triton.experimental.gluon.jit", "triton.experimental.gluon.language.constexpr",
        "triton.language.core.constexpr", "triton.constexpr_function", "triton.experimental.gluon.constexpr_function",
        "triton.language.target_info.is_cuda", "triton.language.target_info.is_hip",
    }
)  # fmt: skip
_LAYOUTS = "triton.experimental.gluon.language."
_QUESTIONS = frozenset({"hasattr", "getattr"})
_FRAMES = frozenset({"gi_frame", "cr_frame", "ag_frame", "tb_frame", "f_globals", "f_builtins", "f_locals", "f_back"})
"""Members by which a value leads to the interpreter, besides those whose names begin with two underscores."""

Resolve = Callable[[ast.expr], str]
"""Returns the dotted name that an expression stands for, through the imports of its module; empty: none."""


def is_hidden(name: str) -> bool:
    """Return whether a member leads behind a value, to the interpreter's own."""
    return name.startswith("__") or name in _FRAMES


def dotted(node: ast.expr) -> str:
    """Return the text of a chain of members such as `a.b.c`; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def names_in(node: ast.AST) -> set[str]:
    """Return the names that a tree reads."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def is_pure(node: ast.AST, resolve: Resolve) -> bool:
    """Return whether evaluating an expression can do nothing but give a value."""
    if isinstance(node, ast.Attribute):
        return (not is_hidden(node.attr) and bool(dotted(node))) or _member_of_pure(node, resolve)
    if isinstance(node, ast.Call):
        return _is_pure_call(node, resolve)
    return isinstance(node, _PLAIN) and all(is_pure(one, resolve) for one in ast.iter_child_nodes(node))


def _member_of_pure(node: ast.Attribute, resolve: Resolve) -> bool:
    return not is_hidden(node.attr) and is_pure(node.value, resolve)


def _is_pure_call(node: ast.Call, resolve: Resolve) -> bool:
    given = [*node.args, *(one.value for one in node.keywords)]
    if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
        return False
    name = resolve(node.func)
    if name in _QUESTIONS:
        return (
            len(given) in {2, 3}
            and isinstance(given[1], ast.Constant)
            and isinstance(given[1].value, str)
            and not is_hidden(given[1].value)
            and all(is_pure(one, resolve) for one in given)
        )
    member = name.rpartition(".")[2]
    is_layout = name.startswith(_LAYOUTS) and member.endswith("Layout")
    known = name in _BUILTINS or name in _CALLS or name.startswith("math.") or is_layout
    return known and all(is_pure(one, resolve) for one in given)


class _Environment(ast.NodeTransformer):
    """Puts the answer of an empty environment where a source asks for a variable."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if self._resolve(node.func) in {"os.getenv", "os.environ.get"} and node.args:
            given = [*node.args[1:], *(one.value for one in node.keywords)]
            return self.visit(given[0]) if given else ast.Constant(None)
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in {"lower", "upper", "strip"}
            and not node.args
            and isinstance(text := self.visit(node.func.value), ast.Constant)
            and isinstance(text.value, str)
        ):
            return ast.Constant(getattr(text.value, node.func.attr)())
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        asks = len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn)
        if asks and self._resolve(node.comparators[0]) == "os.environ":
            return ast.Constant(isinstance(node.ops[0], ast.NotIn))
        return self.generic_visit(node)


def without_environment(node: ast.expr, resolve: Resolve) -> ast.expr:
    """Return an expression whose questions for variables are answered as an empty environment does."""
    made: ast.expr = _Environment(resolve).visit(node)
    return made

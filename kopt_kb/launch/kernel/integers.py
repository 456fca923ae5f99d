"""Whole-number expressions over names, as kernel files and headers write them; read as text, never run.

`+ - * // %`, `cdiv`, `min`, `max` and `next_power_of_2` on names and whole numbers; comparisons joined by `and` say
when something holds.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

__all__ = ["ExpressionError", "holds", "number", "value_of"]

_COMPARE: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_CALLS: dict[str, Callable[..., int]] = {
    "cdiv": lambda one, two: -(-one // two),
    "min": min,
    "max": max,
    "next_power_of_2": lambda one: 1 << max(one - 1, 0).bit_length(),
}
_MOST_CHARS, _MOST_BITS = 500, 128


class ExpressionError(ValueError):
    """The text is outside the grammar, or one of its names has no value; says what, and `fix` how it is written."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what)
        self.fix = fix


def value_of(text: str, names: Mapping[str, int]) -> int:
    """Return the value of an expression; raises `ExpressionError`.

    >>> value_of("cdiv(M, 4) * 2", {"M": 10})
    6
    """
    return number(_tree(text), names)


def holds(text: str, names: Mapping[str, int]) -> bool:
    """Return whether comparisons joined by `and` hold; raises `ExpressionError`."""
    return _holds(_tree(text), names)


def _tree(text: str) -> ast.expr:
    if len(text) > _MOST_CHARS:
        raise ExpressionError(f"an expression of {len(text)} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"{text!r} is no expression") from error


def _holds(node: ast.expr, names: Mapping[str, int]) -> bool:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        parts = [_holds(one, names) for one in node.values]
        return all(parts)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARE:
        return _COMPARE[type(node.ops[0])](number(node.left, names), number(node.comparators[0], names))
    raise ExpressionError("only comparisons joined by and", "write such as N <= 4096 and M >= 64")


def number(node: ast.expr, names: Mapping[str, int]) -> int:
    """Return the value of a parsed expression; raises `ExpressionError`."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise ExpressionError(f"unknown name {node.id}", f"known: {', '.join(names)}")
        return names[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        return _arithmetic(node, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS:
        return _called(node.func.id, node, names)
    raise ExpressionError(
        "only whole numbers, names and + - * // %, cdiv, min, max, next_power_of_2",
        "write such as cdiv(N * element_bytes, 16)",
    )


def _arithmetic(node: ast.BinOp, names: Mapping[str, int]) -> int:
    left, right = number(node.left, names), number(node.right, names)
    if isinstance(node.op, ast.FloorDiv | ast.Mod) and right <= 0:
        raise ExpressionError("divisors must be numbers above 0")
    found = _ARITHMETIC[type(node.op)](left, right)
    if found.bit_length() > _MOST_BITS:
        raise ExpressionError("a number beyond any size")
    return found


def _called(name: str, node: ast.Call, names: Mapping[str, int]) -> int:
    given = [number(one, names) for one in node.args]
    counts = {"cdiv": len(given) == 2, "next_power_of_2": len(given) == 1}
    if node.keywords or not given or not counts.get(name, True):
        raise ExpressionError(f"{name} takes other arguments", "write cdiv(a, b), next_power_of_2(a), min(a, b, …)")
    if name == "cdiv" and given[1] <= 0:
        raise ExpressionError("divisors must be numbers above 0")
    return _CALLS[name](*given)

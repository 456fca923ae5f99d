"""Counter expressions: names, numbers, + - * / and parentheses, compiled once and evaluated on floats."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["Expression", "ExpressionError", "parse_expression"]

Values = Mapping[str, float]
_MAX_CHARS = 1000
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class ExpressionError(ValueError):
    """The text is no expression of the grammar."""


@dataclass(frozen=True, slots=True)
class Expression:
    """One compiled expression.

    Attributes:
        text: What it was compiled from.
        names: Counters and parameters it needs.
    """

    text: str
    names: frozenset[str]
    _run: Callable[[Values], float]

    def value(self, values: Values) -> float | None:
        """Return the value; None when a name is missing, a divisor is 0 or the result isn't finite."""
        try:
            found = self._run(values)
        except (KeyError, ZeroDivisionError, OverflowError):
            return None
        return found if math.isfinite(found) else None


def parse_expression(text: str) -> Expression:
    """Return the compiled expression; raises `ExpressionError` for anything outside the grammar."""
    if len(text) > _MAX_CHARS:
        raise ExpressionError(f"{len(text)} characters, more than {_MAX_CHARS}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"can't read {text!r}") from error
    names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return Expression(text.strip(), names, _compiled(tree.body))


def _compiled(node: ast.expr) -> Callable[[Values], float]:
    if isinstance(node, ast.Name):
        return operator.itemgetter(node.id)
    if isinstance(node, ast.Constant) and type(node.value) in {int, float}:
        number = float(node.value)  # type: ignore[arg-type]
        return lambda _: number
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        apply, left, right = _OPERATORS[type(node.op)], _compiled(node.left), _compiled(node.right)
        return lambda values: apply(left(values), right(values))
    raise ExpressionError(f"{ast.unparse(node)!r} is not allowed: names, numbers, + - * / and parentheses")

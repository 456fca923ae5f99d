"""Extents written as expressions of named dimensions: whole numbers, + - * / // % ** and parentheses, nothing else."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction

from kopt_kb.base.errors import BadInput

__all__ = ["whole", "whole_of"]

_MAX_CHARS, _MAX_DIGITS, _MAX_POWER = 1000, 30, 64
_OPERATORS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: lambda one, two: Fraction(one // two),
    ast.Mod: operator.mod,
}


def whole(text: str | int, names: Mapping[str, int], where: str = "", *, least: int = 1) -> int:
    """Return the value of an expression, which has to be whole.

    >>> whole("3 * B * (N + 1) // 2", {"B": 4, "N": 7})
    48

    Raises:
        BadInput: It is no such expression, names what is not there, or its value is not whole or below `least`.
    """
    value = Fraction(text) if isinstance(text, int) else _parsed(text, names, where)
    if value.denominator != 1 or value < least:
        what = f"{text!r} is {value}, not a whole number of at least {least}"
        raise BadInput(what, where=where, fix="use // for whole parts", code="KB105")
    return value.numerator


def whole_of(data: object, names: Mapping[str, int], where: str = "") -> int:
    """Return the value of an extent as documents write it: a number or an expression; raises as `whole`."""
    if isinstance(data, bool) or not isinstance(data, int | str):
        raise BadInput(f"{data!r} is no extent", where=where, fix="give a number or a dimension's name", code="KB105")
    return whole(data, names, where)


def _parsed(text: str, names: Mapping[str, int], where: str) -> Fraction:
    try:
        if len(text) > _MAX_CHARS:
            raise ValueError("is too long")
        return _value(ast.parse(text.strip(), mode="eval").body, names)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError) as error:
        reason = "divides by zero" if isinstance(error, ZeroDivisionError) else getattr(error, "msg", "") or str(error)
        known = ", ".join(names) or "none"
        raise BadInput(
            f"{text[:80]!r} can't be computed: {reason}",
            where=where,
            fix=f"write whole numbers, + - * / // % ** and the names {known}",
            code="KB105",
        ) from error


def _value(node: ast.expr, names: Mapping[str, int]) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise ValueError(f"{node.id} is no dimension")
        return Fraction(names[node.id])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _value(node.operand, names)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _bounded(_power(_value(node.left, names), _value(node.right, names)))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _bounded(_OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names)))
    raise ValueError("holds something else than numbers, names and arithmetic")


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1 or not 0 <= exponent <= _MAX_POWER:
        raise ValueError(f"the exponent {exponent} is not a whole number from 0 to {_MAX_POWER}")
    return base**exponent.numerator


def _bounded(value: Fraction) -> Fraction:
    if abs(value.numerator) >= 10**_MAX_DIGITS or value.denominator >= 10**_MAX_DIGITS:
        raise ValueError("is beyond any size")
    return value

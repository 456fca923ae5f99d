"""Formulas of derived rows: references to keys, numbers, + - * / and parentheses, evaluated exactly."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

__all__ = ["FormulaError", "evaluate", "references"]

_TOKEN = re.compile(r"\s*(?:(?P<ref>[a-z][a-z0-9_]*(?:\[[^\]]*\])?)|(?P<number>\d+(?:\.\d+)?)|(?P<sign>[-+*/()]))")
_MAX_TOKENS = 64


class FormulaError(ValueError):
    """The formula is malformed, or one of its references has no value."""


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise FormulaError(f"can't read the formula at {text[at : at + 20]!r}")
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    if len(found) > _MAX_TOKENS:
        raise FormulaError(f"{len(found)} tokens, more than {_MAX_TOKENS}")
    return found


def references(text: str) -> tuple[str, ...]:
    """Return the keys a formula refers to, each once, in order; raises `FormulaError` when unreadable."""
    return tuple(dict.fromkeys(value.replace(" ", "") for kind, value in _tokens(text) if kind == "ref"))


class _Parser:
    """Recursive descent over: sum := product (+|- product)*; product := atom (*|/ atom)*."""

    def __init__(self, text: str, value_of: Callable[[str], Fraction]) -> None:
        self.tokens = _tokens(text)
        self.at = 0
        self.value_of = value_of

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self) -> tuple[str, str]:
        if self.at >= len(self.tokens):
            raise FormulaError("the formula ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def sum(self) -> Fraction:
        value = self.product()
        while self.peek() in {"+", "-"}:
            sign, other = self.take()[1], self.product()
            value = value + other if sign == "+" else value - other
        return value

    def product(self) -> Fraction:
        value = self.atom()
        while self.peek() in {"*", "/"}:
            sign, other = self.take()[1], self.atom()
            if sign == "/" and other == 0:
                raise FormulaError("division by zero")
            value = value * other if sign == "*" else value / other
        return value

    def atom(self) -> Fraction:
        kind, text = self.take()
        if kind == "number":
            return Fraction(text)
        if kind == "ref":
            return self.value_of(text.replace(" ", ""))
        if text == "(":
            value = self.sum()
            if self.take()[1] != ")":
                raise FormulaError("a parenthesis is not closed")
            return value
        raise FormulaError(f"{text!r} is out of place")


def evaluate(text: str, value_of: Callable[[str], Fraction]) -> Fraction:
    """Return the exact value of the formula in base units.

    Args:
        text: The formula.
        value_of: Gives the base-unit value of a key; raises `FormulaError` when there is none.
    """
    parser = _Parser(text, value_of)
    value = parser.sum()
    if parser.at != len(parser.tokens):
        raise FormulaError(f"{parser.peek()!r} is out of place")
    return value

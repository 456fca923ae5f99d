"""The one expression language of the wiki: names, numbers, + - * / and parentheses; exact on rows, floats on counters.

A name is a key of a row (`sm_clock[class=boost;ops=all]`), a counter or a parameter. There is no sign, power, call or
exponent, so that reading a page can neither run anything nor take long.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

__all__ = ["Expression", "FormulaError", "parse_formula"]

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z][A-Za-z0-9_]*(?:\[[^\]]*\])?)|(?P<number>[0-9]+(?:\.[0-9]+)?)|(?P<sign>[-+*/()]))"
)
_MAX_TOKENS = 64
_MAX_CHARS = 1000
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip
_N = TypeVar("_N", Fraction, float)


class FormulaError(ValueError):
    """The formula is malformed, or one of its names has no value."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A formula, read once.

    Attributes:
        text: What it was read from.
        names: Keys, counters and parameters it needs, each once, in order.
    """

    text: str
    names: tuple[str, ...]
    _steps: tuple[str | Fraction, ...]
    """Postfix: a number, an operator, else a name."""

    def exact(self, value_of: Callable[[str], Fraction]) -> Fraction:
        """Return the exact value, in base units when its names are.

        Args:
            value_of: Gives the value of a name; raises `FormulaError` when there is none.

        Raises:
            FormulaError: A name without a value, or a division by zero.
        """
        try:
            return self._run(value_of, Fraction)
        except ZeroDivisionError:
            raise FormulaError("division by zero") from None

    def value(self, values: Mapping[str, float]) -> float | None:
        """Return the value; None when a name is missing, a divisor is 0 or the result isn't finite."""
        try:
            found = self._run(values.__getitem__, float)
        except (KeyError, ZeroDivisionError, OverflowError):
            return None
        return found if math.isfinite(found) else None

    def _run(self, value_of: Callable[[str], _N], number: Callable[[Fraction], _N]) -> _N:
        stack: list[_N] = []
        for step in self._steps:
            if isinstance(step, Fraction):
                stack.append(number(step))
            elif step in _OPERATORS:
                right = stack.pop()
                stack[-1] = _OPERATORS[step](stack[-1], right)
            else:
                stack.append(value_of(step))
        return stack[0]


def parse_formula(text: str) -> Expression:
    """Return the expression; raises `FormulaError` for anything outside the grammar."""
    tokens = _tokens(text.strip())
    steps = tuple(_Parser(tokens).whole())
    names = tuple(dict.fromkeys(value for kind, value in tokens if kind == "name"))
    return Expression(text.strip(), names, steps)


def _tokens(text: str) -> list[tuple[str, str]]:
    if len(text) > _MAX_CHARS:
        raise FormulaError(f"{len(text)} characters, more than {_MAX_CHARS}")
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise FormulaError(f"can't read the formula at {text[at : at + 20]!r}")
        found.append((match.lastgroup, match[match.lastgroup].replace(" ", "")))
        at = match.end()
    if len(found) > _MAX_TOKENS:
        raise FormulaError(f"{len(found)} tokens, more than {_MAX_TOKENS}")
    return found


class _Parser:
    """Recursive descent over: sum := product (+|- product)*; product := atom (*|/ atom)*; yields postfix steps."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self) -> tuple[str, str]:
        if self.at >= len(self.tokens):
            raise FormulaError("the formula ends too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def whole(self) -> Iterator[str | Fraction]:
        yield from self.sum()
        if self.at != len(self.tokens):
            raise FormulaError(f"{self.peek()!r} is out of place")

    def sum(self) -> Iterator[str | Fraction]:
        yield from self.product()
        while self.peek() in {"+", "-"}:
            sign = self.take()[1]
            yield from self.product()
            yield sign

    def product(self) -> Iterator[str | Fraction]:
        yield from self.atom()
        while self.peek() in {"*", "/"}:
            sign = self.take()[1]
            yield from self.atom()
            yield sign

    def atom(self) -> Iterator[str | Fraction]:
        kind, text = self.take()
        if kind == "number":
            yield Fraction(text)
        elif kind == "name":
            yield text
        elif text == "(":
            yield from self.sum()
            if self.take()[1] != ")":
                raise FormulaError("a parenthesis is not closed")
        else:
            raise FormulaError(f"{text!r} is out of place")

"""Claims about expressions that may be evaluated."""

from __future__ import annotations

import ast

import pytest

from kopt_kb.launch.recompile.expressions import dotted, is_hidden, is_pure, names_in, without_environment

KNOWN = {"tl": "triton.language", "os": "os", "helper": ""}


def resolve(node: ast.expr) -> str:
    """Return a dotted name through a few imports."""
    first, _, rest = dotted(node).partition(".")
    known = KNOWN.get(first, first)
    return f"{known}.{rest}" if rest and known else known


def parsed(text: str) -> ast.expr:
    """Return an expression."""
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    "text",
    ["1 + 2 * X", "tl.constexpr(4)", "float('inf')", "(1, [2, {3: 'a'}])", "X if Y > 2 else -Z", "hasattr(tl, 'gather')",
     "tl.float32", "math.log2(2.0)", "max(1, 2)[0]"],
)  # fmt: skip
def test_literals_and_known_calls_are_pure(text: str) -> None:
    """They can do nothing but give a value."""
    assert is_pure(parsed(text), resolve)


@pytest.mark.parametrize(
    "text",
    ["open('x')", "os.system('x')", "helper()", "tl.__class__", "tl.load.__globals__", "[x for x in y]", "lambda: 1",
     "getattr(tl, '__dict__')", "getattr(tl, name)", "max(*rest)", "(x := 1)", "f'{x}'", "X.gi_frame"],
)  # fmt: skip
def test_anything_else_is_not(text: str) -> None:
    """Calls of others, members of the interpreter's own, computed names."""
    assert not is_pure(parsed(text), resolve)


@pytest.mark.parametrize(
    ("text", "made"),
    [("os.environ.get('A', '0') == '1'", "'0' == '1'"), ("os.getenv('A')", "None"), ("'A' in os.environ", "False"),
     ("'A' not in os.environ", "True"), ("os.environ.get('A', 'On').lower()", "'on'")],
)  # fmt: skip
def test_an_empty_environment_answers(text: str, made: str) -> None:
    """What the recorder's environment held is no part of the source."""
    assert ast.unparse(without_environment(parsed(text), resolve)) == made


def test_names_and_members() -> None:
    """Only names that are read count; hidden members are those of the interpreter."""
    assert names_in(ast.parse("x = y + f(z)")) == {"y", "f", "z"}
    assert [is_hidden(one) for one in ("__dict__", "f_globals", "dtype")] == [True, True, False]

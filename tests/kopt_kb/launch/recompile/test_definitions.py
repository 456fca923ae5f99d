"""Claims about functions and structures as the second compiler gets them."""

from __future__ import annotations

import ast

import pytest

from kopt_kb.launch.recompile.definitions import CONSTANT, TRITON, class_of, function_of
from kopt_kb.launch.recompile.expressions import dotted


def resolve(node: ast.expr) -> str:
    """Return names as they are written, `tl` for Triton's language."""
    text = dotted(node)
    if text == "other":  # a function of the module's own
        return ""
    return text.replace("tl.", "triton.language.", 1) if text.startswith("tl.") else text


def function(text: str) -> ast.FunctionDef | str:
    """Return what is made of a function."""
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    return function_of(node, resolve)


def test_decorators_defaults_and_notes_go_through_a_list() -> None:
    """Only the one that makes a kernel stays; what is not pure becomes None."""
    made = function(
        "@mine(print())\n@triton.jit(noinline=True, repr=f)\ndef k(x: Any, n: tl.constexpr, a=1, b=f()) -> None:\n    pass"
    )
    assert isinstance(made, ast.FunctionDef)
    text = ast.unparse(ast.fix_missing_locations(made))
    assert text == f"@{TRITON}(noinline=True)\ndef k(x, n: tl.constexpr, a=1, b=None):\n    pass"


def test_a_function_that_runs_while_compiling_may_only_compute() -> None:
    """No import, no call of others, no member of the interpreter."""
    head = "@triton.constexpr_function\ndef f(x):\n"
    made = function(f"{head}    y = max(x, 2)\n    return y if x.is_int() else other(y)")
    assert isinstance(made, ast.FunctionDef)
    assert CONSTANT in ast.unparse(ast.fix_missing_locations(made))
    for body in ("import os", "return open('x')", "return x.run()", "return x.__class__", "return [f() for f in x]"):
        assert isinstance(function(f"{head}    {body}"), str), body


@pytest.mark.parametrize("text", ["def f(x): pass", "@other\ndef f(x): pass"])
def test_a_plain_function_is_none_of_a_kernel(text: str) -> None:
    """Unless it is what was launched."""
    assert isinstance(function(text), str)
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    assert isinstance(function_of(node, resolve, is_entry=True), ast.FunctionDef)


def test_only_structures_of_the_language_are_classes() -> None:
    """With methods that are kernels; a class of Python's is refused."""
    head = "@tl.core._aggregate\nclass S:\n    a: tl.tensor\n"
    for text, is_taken in {
        f"{head}    @triton.jit\n    def m(self): pass": True,
        f"{head}    def m(self): pass": False,
        "class S: pass": False,
        "@tl.core._aggregate\nclass S(Base): pass": False,
    }.items():
        node = ast.parse(text).body[0]
        assert isinstance(node, ast.ClassDef)
        assert isinstance(class_of(node, resolve), ast.ClassDef) == is_taken, text

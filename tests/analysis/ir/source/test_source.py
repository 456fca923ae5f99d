"""Which functions of a text are kernels, which are started, where callees are."""

from __future__ import annotations

import ast

from kopt_kb.analysis.ir.source.source import Project, language_name, parse_module

TEXT = """
from lib.compat import triton, tl
from .near import helper

@triton.jit
def inner(x):
    return x

@triton.autotune(configs=[], key=[])
@triton.jit(do_not_specialize=["n"])
def outer(p, n):
    tl.store(p, inner(helper(n)))

@functools.cache
def host(p):
    inner[(1,)](p)
"""


def test_kernels_through_a_library_of_its_own() -> None:
    """Triton handed on by another module is Triton."""
    module = parse_module(TEXT, "lib.ops.main")
    assert list(module.functions) == ["inner", "outer"]
    assert module.names["helper"] == "lib.ops.near.helper"


def test_entries_are_started_or_not_called() -> None:
    module = parse_module(TEXT, "lib.ops.main")
    assert module.entries() == ("inner", "outer")
    assert parse_module(TEXT.replace("inner[(1,)](p)", "pass")).entries() == ("outer",)


def test_a_relative_import_is_read() -> None:
    near = "import triton\n@triton.jit\ndef helper(x):\n    return x\n"
    project = Project({"lib.ops.near": near, "lib.ops.bad": "def"}.get)
    module = parse_module(TEXT, "lib.ops.main")
    found = project.callee(module, ast.Name("helper"))
    assert found is not None
    assert found[0].name == "lib.ops.near"
    assert project.module("lib.ops.bad") is None
    assert project.module("lib.ops.absent") is None


def test_names_of_the_language() -> None:
    names = {"tl": "triton.language", "lang": "triton.language"}
    assert language_name(ast.parse("tl.math.exp").body[0].value, names) == "exp"  # type: ignore[attr-defined]
    assert language_name(ast.parse("lang.dot").body[0].value, names) == "dot"  # type: ignore[attr-defined]
    assert language_name(ast.parse("torch.dot").body[0].value, names) == ""  # type: ignore[attr-defined]

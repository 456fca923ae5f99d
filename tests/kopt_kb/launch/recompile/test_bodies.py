"""Claims about what a taken module and its kernels may name."""

from __future__ import annotations

import math
import os
import subprocess
import types

import pytest

tl = pytest.importorskip("triton.language")

from kopt_kb.launch.recompile.bodies import strange_body, strange_value  # noqa: E402

pytestmark = pytest.mark.triton


def test_values_of_triton_and_plain_ones_are_known() -> None:
    """Whatever they lie in."""
    for one in (1, "a", tl.float32, tl.constexpr(3), tl.load, tl, math, (1, [tl.exp, {2: None}])):
        assert strange_value(one, frozenset()) == ""


@pytest.mark.parametrize("value", [os, os.system, subprocess.Popen, (os.system,), tl.constexpr((os.getcwd,)), types])
def test_others_are_named(value: object) -> None:
    """A module or function of Python's own would run while a kernel is compiled."""
    assert strange_value(value, frozenset())


def good(x):  # type: ignore[no-untyped-def]
    """A body that stays with the language."""
    return tl.exp(x) + tl.math.log2(x) + x.dtype


def leads_out(x):  # type: ignore[no-untyped-def]
    """A body that reaches a module of Python's own."""
    return tl.core.inspect.getsource(x)


def hands_on(x):  # type: ignore[no-untyped-def]
    """A body that keeps a module as a value."""
    module = tl.core
    return module.inspect, x


def hidden(x):  # type: ignore[no-untyped-def]
    """A body that asks for a member of the interpreter's own."""
    return x.__class__


def asks(x, name):  # type: ignore[no-untyped-def]
    """A body that asks by a computed name."""
    return getattr(x, name)


@pytest.mark.parametrize("body", [leads_out, hands_on, hidden, asks])
def test_a_body_that_leads_out_is_named(body: object) -> None:
    """Triton calls whatever Python function a body names."""
    assert strange_body(good, frozenset()) == ""
    assert strange_body(body, frozenset())

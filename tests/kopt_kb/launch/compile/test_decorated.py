"""Claims about what stands above a kernel: the order of decorators changes nothing."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput

pytestmark = pytest.mark.triton
triton = pytest.importorskip("triton")

from kopt_kb.launch.compile.decorated import chosen_config, computed_names, configurations, unwrap, values_of  # noqa: E402


class Entry:
    """A wrapper as libraries write them: it has `fn`, and a `run` that nobody here calls."""

    def __init__(self, fn):
        self.fn, self.arg_names = fn, unwrap(fn).arg_names

    def run(self, **_):
        raise AssertionError("a library's own run")


@triton.jit
def plain(x, n, BLOCK: triton.language.constexpr, EVEN: triton.language.constexpr):  # noqa: N803
    """Nothing."""


CONFIGS = [triton.Config({"BLOCK": 64}, num_warps=1), triton.Config({"BLOCK": 128}, num_warps=2)]
tuning, rule = triton.autotune(CONFIGS, key=["n"]), triton.heuristics({"EVEN": lambda args: args["n"] % 64 == 0})
STACKS = {
    "tuner outside": tuning(rule(plain)),
    "rule outside": rule(tuning(plain)),
    "wrapped": Entry(rule(tuning(plain))),
    "wrapped inside": tuning(Entry(rule(plain))),
}


@pytest.mark.parametrize("kernel", STACKS.values(), ids=STACKS)
def test_the_order_changes_nothing(kernel):
    """Values of a configuration and of a rule come whichever stands outside."""
    assert unwrap(kernel) is plain
    assert [one.kwargs["BLOCK"] for one in configurations(kernel)] == [64, 128]
    assert computed_names(kernel) == ("EVEN",)
    found = values_of(kernel, {"x": None, "n": 96}, chosen_config(kernel, 1, "here"), "here")
    assert (found["BLOCK"], found["EVEN"], found["num_warps"]) == (128, False, 2)


def test_what_is_given_stays():
    """Neither a configuration nor a rule overwrites it."""
    found = values_of(STACKS["rule outside"], {"n": 96, "EVEN": True, "BLOCK": 32}, CONFIGS[0], "here")
    assert (found["EVEN"], found["BLOCK"]) == (True, 32)


def test_a_rule_that_lacks_an_argument_names_it():
    """With the way out."""
    needs = triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})(plain)
    with pytest.raises(BadInput, match="the heuristic of EVEN needs BLOCK; .*--autotune N"):
        values_of(needs, {"n": 96}, None, "here")


def test_a_plain_function_is_no_kernel():
    """Nothing lies under it."""
    assert unwrap(test_a_plain_function_is_no_kernel) is None
    assert configurations(plain) == []

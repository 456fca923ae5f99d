"""Buckets of changes, and what none may hold."""

from __future__ import annotations

import pytest

from kopt_kb.packs.training_step.buckets import bucket_of, grouped_assumptions, stated_bound_pct
from tests.packs.training_step.test_caches import W1, W2

SHAPE = "_C = {}\ndef f(x):\n    _C[x.shape] = quantize(x)\n"


def _bucket(
    new: str, old: str = "", claim: str = "", category: str = "compute", expected: str = ""
) -> tuple[str, bool]:
    found = bucket_of({"a.py": old}, {"a.py": new}, category=category, claim=claim, expected=expected)
    return found.word, found.forbidden


@pytest.mark.parametrize(
    ("new", "claim", "bucket"),
    [
        ("BLOCK = 2\n", "a larger tile", ("K1", False)),
        ("x = 1\n", "a kernel for the NT layout", ("K2", False)),
        ("x = 1\n", "fused quantization of both outputs", ("K3", False)),
        ("def f(ctx, x):\n    ctx.save_for_backward(x)\n", "keep it", ("K4", False)),
        (W1, "cache it; W1 bound: 1.8 %", ("W1", False)),
        (W1, "cache it", ("W1", True)),
        (W1.replace("weight._version, ", ""), "W1 bound: 1.8 %", ("W1", True)),
        (W2, "seen before", ("W2", True)),
        (SHAPE, "seen before", ("W3", True)),
        ("import functools\n@functools.cache\ndef f(w):\n    return w.shape\n", "once", ("W3", True)),
        ("std::unordered_map<long, at::Tensor> m;\nm[x.data_ptr()] = q;\n", "seen", ("W2", True)),
        ("_C = {}\ndef f(x):\n    _C[x.shape] = torch.empty(x.shape)\n", "a buffer", ("K1", False)),
    ],
)
def test_a_change_has_one_bucket(new: str, claim: str, bucket: tuple[str, bool]) -> None:
    """Triton configurations and buffers by shape are no caches of results."""
    assert _bucket(new, claim=claim) == bucket


def test_what_was_there_before_is_no_change() -> None:
    """Only what a change adds counts."""
    assert _bucket(W2 + "Y = 1\n", old=W2) == ("K1", False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def k(a, M_per_group: tl.constexpr):\n    pass\n", "compile-time constant"),
        ("def f(tokens_per_expert):\n    assert tokens_per_expert % 128 == 0\n", "multiples of a tile"),
        ("def f(group_sizes):\n    assert min(group_sizes) > 0\n", "no group is empty"),
        ("def k(a, GROUP_SIZE_M: tl.constexpr, BLOCK_M: tl.constexpr):\n    assert BLOCK_M % 16 == 0\n", ""),
        ("not python (", ""),
    ],
)
def test_what_groups_may_not_be(text: str, said: str) -> None:
    """GROUP_SIZE_M orders tiles and says nothing of groups."""
    found = grouped_assumptions(text)
    assert bool(found) == bool(said)
    assert all(said in one.what for one in found)


def test_a_bound_is_read_from_words() -> None:
    """As a number of percent."""
    assert (stated_bound_pct("w1 bound 2%"), stated_bound_pct("bounded")) == (2.0, None)

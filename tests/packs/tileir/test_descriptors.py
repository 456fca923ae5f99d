"""What may go through a descriptor, and why not."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.source.source import parse_module
from kopt_kb.packs.tileir.descriptors import DescriptorNeed, tiles_of

HEAD = """import triton
import triton.language as tl
@triton.jit
def k(p, q, T, s, t, flag, B: tl.constexpr):
    o = tl.arange(0, B)
    r = tl.program_id(0) * B + o
"""
GOOD = "p + r[:, None] * s + o[None, :], mask=(r[:, None] < T) & (o[None, :] < B)"


def _tiles(body: str):
    module = parse_module(HEAD + body)
    return tiles_of(module.functions["k"], module.names)


def _reason(body: str) -> str:
    (one, *_) = _tiles(body).refusals
    return one.reason


def test_a_bounded_tile() -> None:
    (one,) = _tiles(f"    x = tl.load({GOOD}, other=0.0)\n").descriptors
    assert (one.pointer, one.stride.text(), one.transposed) == ("p", "s", False)
    assert [each.text() for each in one.shape] == ["T", "B"]
    assert one.guarded == (False, False)
    assert DescriptorNeed("stride", "p", ("s",)) in one.needs
    assert DescriptorNeed("extent", "p", ("T",)) in one.needs


def test_the_fast_axis_may_come_first() -> None:
    (one,) = _tiles("    x = tl.load(p + o[:, None] + r[None, :] * s, mask=r[None, :] < T)\n").descriptors
    assert one.transposed
    assert [each.text() for each in one.origins] == ["(tl.program_id(0)) * B", "0"], one.origins


def test_named_strides_need_one_that_is_1() -> None:
    (one,) = _tiles("    x = tl.load(p + r[:, None] * s + o[None, :] * t)\n").descriptors
    assert DescriptorNeed("unit", "p", ("t",)) in one.needs


def test_an_extent_that_was_loaded_is_guarded_in_the_kernel() -> None:
    (one,) = _tiles(
        "    n = tl.load(q)\n    x = tl.load(p + r[:, None] * s + o[None, :], mask=r[:, None] < n)\n"
    ).descriptors
    assert one.guarded == (True, False)


def test_made_before_the_loop_where_nothing_changes() -> None:
    (one,) = _tiles(
        "    for i in range(0, T, B):\n        x = tl.load(p + r[:, None] * s + (i + o)[None, :], mask=(i + o)[None, :] < T)\n"
    ).descriptors
    assert type(one.before).__name__ == "For"
    assert DescriptorNeed("aligned", "p", ("B",)) in one.needs


STORE = "    tl.store(q + r[:, None] * s + o[None, :], x, mask=r[:, None] < T)\n"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"    x = tl.load({GOOD} & (flag > 0))\n", "tests more than the bounds"),
        (f"    x = tl.load({GOOD}, other=1.0)\n", "a descriptor gives 0"),
        ("    x = tl.load(p + r[:, None] * s + o[None, :], (r < T)[:, None], 1.0)\n", "a descriptor gives 0"),
        ("    x = tl.load(p + r[:, None] * 3 + o[None, :] * 2)\n", "no axis has a stride of 1"),
        ("    g = tl.load(q + r)\n    x = tl.load(p + g[:, None] * s + o[None, :])\n", "no sum of scalars and index vectors"),
        (f"    x = tl.load({GOOD})\n    tl.store(p + r[:, None] * s + o[None, :], x)\n", "loaded and stored"),
        (f"    x = tl.load({GOOD})\n    tl.atomic_add(p + r, 1)\n", "handed on to tl.atomic_add"),
        (f"    helper(p)\n    x = tl.load({GOOD})\n", "handed on to helper"),
        ("    n = tl.load(q)\n    x = tl.load(p + n + r[:, None] * s + o[None, :])\n", "multiple of 16 bytes"),
        ("    for i in range(T):\n        x = tl.load(p + i * s + r[:, None] * s + o[None, :])\n", "made in a loop"),
        ("    x = tl.load(p + q + r[:, None] * s + o[None, :])\n", "can't be told"),
        ("    x = tl.load(p + (r % T)[:, None] * s + o[None, :])\n    y = tl.dot(x, x)\n" + STORE.replace("x,", "y,"), "wraps around"),
        ("    x = tl.load(p + (r % T)[:, None] * s + o[None, :])\n    tl.store(q + r, tl.sum(x, 1), mask=r < T)\n", "wraps around"),
    ],
)  # fmt: skip
def test_refusals(body: str, reason: str) -> None:
    assert reason in _reason(body)


def test_a_wrap_whose_rows_are_masked_at_the_store() -> None:
    body = "    x = tl.load(p + (r % T)[:, None] * s + o[None, :])\n    w = tl.load(p + o[:, None] * s + o[None, :])\n    y = tl.dot(x, w)\n"
    found = _tiles(body + STORE.replace("x,", "y,"))
    assert [one.shape[0].text() for one in found.descriptors][:1] == ["T"]


def test_memory_that_the_kernel_may_write_to() -> None:
    assert _tiles(f"    x = tl.load({GOOD})\n{STORE}").apart == ("q",)
    assert "T" in _tiles(f"    x = tl.load({GOOD})\n    helper(q)\n").apart


def test_a_branch_below_the_place_asks_for_the_pointer() -> None:
    """A descriptor made before the loop needs a pointer that a branch in it may know to be None."""
    body = "    for i in range(0, T, B):\n        if flag:\n            x = tl.load(p + r[:, None] * s + o[None, :])\n"
    (one,) = _tiles(body).descriptors
    assert DescriptorNeed("present", "p", ()) in one.needs


def test_an_iteration_that_leaves_early_moves_no_pointer() -> None:
    body = "    w = p + r[:, None] * s + o[None, :]\n    for i in range(0, T, B):\n        {}x = tl.load(w)\n        w += B\n"
    assert len(_tiles(body.format("")).descriptors) == 1
    assert not _tiles(body.format("if i == flag:\n            continue\n        ")).descriptors

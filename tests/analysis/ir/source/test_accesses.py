"""Addresses and masks as they stand at a load."""

from __future__ import annotations

from kopt_kb.analysis.ir.source.accesses import accesses_of
from kopt_kb.analysis.ir.source.affine import Affine
from kopt_kb.analysis.ir.source.motion import BlockPointer
from kopt_kb.analysis.ir.source.source import parse_module

HEAD = "import triton\nimport triton.language as tl\n@triton.jit\ndef k(p, T, s, B: tl.constexpr):\n    o = tl.arange(0, B)\n"


def _of(body: str):
    module = parse_module(HEAD + body)
    return accesses_of(module.functions["k"], module.names).every


def test_a_tile_with_base_and_bounds() -> None:
    (one,) = _of(
        "    i = tl.program_id(0).to(tl.int64) * B\n    r = i + o\n    q = p + T * s\n    x = tl.load(q + r[:, None] * s + o[None, :], mask=(r < T)[:, None] & (o[None, :] < s))\n"
    )
    assert isinstance(one.address, Affine)
    assert [axis.scale.text() for _, axis in one.address.axes] == ["s", "1"]
    assert one.mask is not None
    assert [(bound.axis, bound.limit.text()) for bound in one.mask.bounds] == [(0, "T"), (1, "s")]
    assert not one.mask.other


def test_what_is_assigned_in_a_branch_is_another_value() -> None:
    first, second = _of(
        "    a = tl.load(p + o[:, None] * T + o[None, :])\n    if s:\n        T = 3\n    b = tl.load(p + o[:, None] * T + o[None, :])\n"
    )
    assert first.address != second.address


def test_pointers_that_advance() -> None:
    body = "    q = p + o[:, None] * s + o[None, :]\n    for i in range(0, T, B):\n        x = tl.load(q, mask=o[None, :] < T - i)\n        q += B\n    tl.store(q, x)\n"
    load, store = _of(body)
    assert isinstance(load.address, Affine)
    assert load.address.axes[1][1].origin.text() == "i"
    assert not isinstance(store.address, Affine) or not store.address.axes


def test_masks_of_more_than_bounds_say_what() -> None:
    (one,) = _of("    x = tl.load(p + o[:, None] * s + o[None, :], mask=o[:, None] >= o[None, :])\n")
    assert one.mask is not None
    assert ">=" in one.mask.other


def test_block_pointers() -> None:
    (one,) = _of(
        "    q = tl.make_block_ptr(p + T, (T, s), (s, 1), (0, 0), (B, B), (1, 0))\n    q = tl.advance(q, (0, B))\n    x = tl.load(q)\n"
    )
    assert isinstance(one.address, BlockPointer)
    assert [each.text() for each in one.address.offsets] == ["0", "B"]

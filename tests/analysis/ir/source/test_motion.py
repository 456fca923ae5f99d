"""What a pointer gains in an iteration."""

from __future__ import annotations

import ast

import pytest

from kopt_kb.analysis.ir.source.affine import ONE, ZERO, Affine, Axis, Poly, atom
from kopt_kb.analysis.ir.source.motion import BlockPointer, assigned, called, growth, moved

K, STRIDE, SIZE = atom("k", {"k": 1}), atom("s", {"s": 0}), atom("B", {"B": 0})


@pytest.mark.parametrize(
    ("line", "gained"),
    [
        ("p += x", "x"),
        ("p = p + x", "x"),
        ("p = tl.advance(p, (0, x))", "(0, x)"),
        ("p -= x", None),
        ("p = x + p", None),
        ("q += x", None),
    ],
)
def test_growth(line: str, gained: str | None) -> None:
    found = growth(ast.parse(line).body[0], "p")
    assert (ast.unparse(found) if found else None) == gained


def test_a_step_goes_along_the_axis_whose_stride_it_has() -> None:
    """A stride of 1 divides every step, a named one only its own."""
    tile = Affine(ZERO, ((0, Axis(ONE, ZERO, SIZE)), (1, Axis(STRIDE, ZERO, SIZE))), 2)
    found = moved(tile, (SIZE * STRIDE,), (K, ONE))
    assert isinstance(found, Affine)
    assert [one.origin for _, one in found.axes] == [ZERO, SIZE * K]
    assert moved(tile, (SIZE,), (K * SIZE, SIZE)) != tile
    assert moved(tile, (SIZE,), (K, Poly.number(3))) is None
    assert moved(tile, None, (K, ONE)) is None


def test_a_block_pointer_moves_by_its_offsets() -> None:
    block = BlockPointer(Affine(), (K, K), (STRIDE, ONE), (ZERO, ZERO), (SIZE, SIZE))
    found = moved(block, (ZERO, SIZE), (K, ONE))
    assert isinstance(found, BlockPointer)
    assert found.offsets == (ZERO, K * SIZE)


def test_names() -> None:
    node = ast.parse("for i in x:\n    a, b = f(1)\n    if c:\n        d = 1\n").body[0]
    assert assigned(node) == {"a", "b", "d"}
    assert called(ast.parse("tl.math.exp(1)").body[0].value) == "exp"  # type: ignore[attr-defined]

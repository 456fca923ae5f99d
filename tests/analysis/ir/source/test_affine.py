"""Exact sums of products, and index vectors."""

from __future__ import annotations

from kopt_kb.analysis.ir.source.affine import ONE, ZERO, Affine, Axis, Poly, atom

A, B = atom("a", {"a": 0}), atom("b", {"b": 2})
LANES = Affine(ZERO, ((0, Axis(ONE, ZERO, B)),), 1)


def test_sums_cancel_and_products_divide() -> None:
    assert (A + B - A) == B
    assert (A * B + B).over(B) == A + ONE
    assert (A * B + A).over(B) is None
    assert Poly.number(6).over(Poly.number(4)) is None
    assert (A * Poly.number(2)).text() == "2 * a"
    assert (B - A).text() in {"-a + b", "b - a"}
    assert (A * B).text(wide=True) == "tl.cast(a, tl.int64) * b"
    assert ZERO.text() == "0"


def test_versions_tell_values_apart() -> None:
    assert atom("a", {"a": 1}) != A
    assert (A * B).names() == {("a", 0), ("b", 2)}


def test_a_number_moves_the_origin_of_an_index_only() -> None:
    moved = LANES.plus(Affine(A))
    assert moved is not None
    assert (moved.base, moved.axes[0][1].origin) == (ZERO, A)
    scaled = moved.times(B).plus(Affine(A))
    assert scaled is not None
    assert scaled.base == A


def test_axes_do_not_overlap_and_a_vector_is_the_last_axis() -> None:
    rows = LANES.placed(0, 2)
    assert rows is not None
    assert rows.plus(rows) is None
    tile = rows.times(A).plus(LANES)
    assert tile is not None
    assert [at for at, _ in tile.axes] == [0, 1]

"""Useful products of a dot: which (m, n, k) pair two real elements and reach a demanded lane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kopt_kb.analysis.ir.triton.structure import full
from kopt_kb.analysis.ir.triton.values import Bools

__all__ = ["Factor", "count_products", "reached_left", "reached_right"]


def _any(mask: Bools, axis: int) -> Bools:
    return np.asarray(mask.any(axis))


@dataclass(frozen=True, slots=True)
class Factor:
    """The real (not padding) elements of a dot operand, over programs.

    Attributes:
        real: (programs, …, rows, columns).
        rows: Rows with any real element.
        columns: Columns with any real element.
        separable: True when exactly the elements in such a row and such a column are real, as with edge masks;
            sums over them then need no matrix product.
    """

    real: Bools
    rows: Bools
    columns: Bools
    separable: bool

    @staticmethod
    def of(pad: Bools | None, shape: tuple[int, ...]) -> Factor:
        """The factor of a tensor with these padding lanes; all real when there are none."""
        if pad is None:
            ones = np.ones((1, *shape), np.bool_)
            return Factor(ones, _any(ones, -1), _any(ones, -2), separable=True)
        real = ~full(pad, shape)
        rows, columns = _any(real, -1), _any(real, -2)
        outer = rows[..., :, None] & columns[..., None, :]
        return Factor(real, rows, columns, bool((outer == real).all()))


def count_products(demand: Bools, left: Factor, right: Factor) -> int:
    """Σ over m, n, k of demand[m, n] · left[m, k] · right[k, n], summed over the programs the arrays span."""
    if right.separable:
        inner = (left.real & right.rows[..., None, :]).sum(-1, dtype=np.int64)
        outer = (demand & right.columns[..., None, :]).sum(-1, dtype=np.int64)
        return int((inner * outer).sum())
    if left.separable:
        inner = (right.real & left.columns[..., :, None]).sum(-2, dtype=np.int64)
        outer = (demand & left.rows[..., :, None]).sum(-2, dtype=np.int64)
        return int((inner * outer).sum())
    # Counts up to the tile's K stay exact in fp32.
    pairs = np.matmul(left.real.astype(np.float32), right.real.astype(np.float32))
    return int((pairs * demand).sum(dtype=np.float64))


def reached_left(demand: Bools, right: Factor) -> Bools:
    """Lanes (m, k) of the left operand that meet a demanded (m, n) through a real right[k, n]."""
    if right.separable:
        rows = _any(demand & right.columns[..., None, :], -1)
        return np.asarray(rows[..., :, None] & right.rows[..., None, :])
    met = np.matmul(demand.astype(np.float32), np.swapaxes(right.real, -1, -2).astype(np.float32))
    return np.asarray(met > 0)


def reached_right(demand: Bools, left: Factor) -> Bools:
    """Lanes (k, n) of the right operand that meet a demanded (m, n) through a real left[m, k]."""
    if left.separable:
        columns = _any(demand & left.rows[..., :, None], -2)
        return np.asarray(left.columns[..., :, None] & columns[..., None, :])
    met = np.matmul(np.swapaxes(left.real, -1, -2).astype(np.float32), demand.astype(np.float32))
    return np.asarray(met > 0)

"""The closed form of grouped products, by hand and against plain ones."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.work import Work, work


def test_groups_are_the_sum_of_plain_products():
    """Groups of 128, 64 and 8 rows, each with its own B."""
    grouped = work("grouped_gemm", (200, 48, 32), "bf16", groups="128,64,8")
    plain = Work.total([work("gemm", (rows, 48, 32), "bf16") for rows in (128, 64, 8)])
    assert grouped.flops_by_engine() == plain.flops_by_engine()
    assert grouped.compulsory_bytes() == plain.compulsory_bytes()


def test_a_group_without_rows_moves_nothing():
    """Its B is not read."""
    with_empty = work("grouped_gemm", (8, 4, 4), "bf16", groups=(8, 0))
    assert with_empty.compulsory_bytes() == work("gemm", (8, 4, 4), "bf16").compulsory_bytes()


def test_groups_that_nobody_gives_are_skewed():
    """Half, half of the rest, and so on, the rest, and one that has none: 4, 2, 1, 0, 0, 0, 1, 0 of 8 rows."""
    assert (
        work("grouped_gemm", (8, 4, 4), "bf16").bytes == work("grouped_gemm", (8, 4, 4), "bf16", groups="4,2,1,1").bytes
    )


@pytest.mark.parametrize("groups", ["", (4, 3), (9,)])
def test_groups_must_add_up(groups):
    """To M."""
    with pytest.raises(BadInput):
        work("grouped_gemm", (8, 4, 4), "bf16", groups=groups)

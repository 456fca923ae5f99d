"""Fused operations: bytes by hand, for chains, shared inputs and results that are stored."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.fused import OnChip, fused
from kopt_kb.problem.work import Work, work

M, N, K = 512, 256, 128
NORM = work("rms_norm", (M, K), "bf16")
GEMM = work("gemm", (M, N, K), "bf16")
BETWEEN = OnChip((M, K), "bf16", made_by=0, read_by=(1,))


def test_what_stays_on_the_chip_is_neither_written_nor_read() -> None:
    """A norm into a product: x, w and B read, C written; operations add up."""
    found = fused([NORM, GEMM], [BETWEEN])
    assert found.compulsory_bytes("dram", "read") == 2 * (M * K + K + K * N)
    assert found.compulsory_bytes("dram", "write") == 2 * M * N
    assert found.flops_by_engine() == {**NORM.flops_by_engine(), **GEMM.flops_by_engine()}
    assert (found.op, found.exactness()) == ("fused", "exact")
    assert found == fused([NORM, GEMM], [OnChip(f"{M}x{K}", "bf16", 0, (1,))])
    assert dict(found.definitions)["on chip"] == f"{M}x{K} bf16"


def test_a_stored_tensor_is_written_once() -> None:
    """Read on the chip, and a result too."""
    stored = fused([NORM, GEMM], [OnChip((M, K), "bf16", 0, (1,), stored=True)])
    assert stored.compulsory_bytes() - fused([NORM, GEMM], [BETWEEN]).compulsory_bytes() == 2 * M * K


def test_an_input_of_two_parts_is_read_once() -> None:
    """Gate and up projection of one x."""
    found = fused([GEMM, GEMM], [OnChip((M, K), "bf16", None, (0, 1))])
    assert 2 * GEMM.compulsory_bytes() - found.compulsory_bytes() == 2 * M * K


def test_several_tensors_of_one_part() -> None:
    """Two products into a gate: neither intermediate crosses memory."""
    gate = work("swiglu", (M, N), "bf16")
    kept = [OnChip((M, N), "bf16", at, (2,)) for at in (0, 1)]
    found = fused([GEMM, GEMM, gate], [*kept, OnChip((M, K), "bf16", None, (0, 1))])
    assert found.compulsory_bytes() == 2 * (M * K + 2 * K * N + M * N)


@pytest.mark.parametrize(
    ("tensor", "said"),
    [
        (OnChip((M, K), "fp32", 0, (1,)), "counts fewer"), (OnChip((M, K), "bf16", 1, (0,)), "written by part 1"),
        (OnChip((M, K), "bf16", 0, (2,)), "numbered 0 to 1"), (OnChip((M, K), "bf16", 0, ()), "too few readers"),
        (OnChip((M, K), "bf16", None, (1,)), "too few readers"), (OnChip((M, 0), "bf16", 0, (1,)), "0"),
        (OnChip((M, K), "bf17", 0, (1,)), "unknown dtype"), (OnChip((M, K), "bf16", -1, (1,)), "numbered"),
    ],
)  # fmt: skip
def test_what_no_kernel_could_keep_is_refused(tensor: OnChip, said: str) -> None:
    """Sizes, order and places."""
    with pytest.raises(BadInput, match=said):
        fused([NORM, GEMM], [tensor])


def test_one_part_and_given_counts_are_refused() -> None:
    """Counts of both directions in one don't say what was written."""
    with pytest.raises(BadInput, match="two parts"):
        fused([NORM], [BETWEEN])
    with pytest.raises(BadInput, match="counts fewer to write"):
        fused([Work.given(1, 10**9, "bf16", "matrix"), GEMM], [BETWEEN])

"""Results of TunableOp."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.tunable_op import is_tunable_op, read_tunable_op, serves_tunable_op, write_tunable_op

PATH = Path("tunableop_results0.csv")
TEXT = """Validator,PT_VERSION,2.9.0
Validator,GCN_ARCH_NAME,gfx942:sramecc+:xnack-
GemmTunableOp_Half_NT,nt_25088_4096_64_ld_25088_4096_25088,Gemm_Hipblaslt_1219,0.262
GemmStridedBatchedTunableOp_BFloat16_TN,tn_64_32_16_B_8,Default,0.01
"""


def test_operations_are_rows_and_validators_are_facts() -> None:
    """Extents stand in the operation's second word."""
    table = read_tunable_op(TEXT.encode(), PATH)
    assert (table.device, table.facts["PT_VERSION"]) == ("gfx942", "2.9.0")
    first, second = table.rows
    assert (first.sizes, first.settings["solution"], first.facts["us"]) == (
        {"M": 25088, "N": 4096, "K": 64}, "Gemm_Hipblaslt_1219", "262",
    )  # fmt: skip
    assert second.sizes["B"] == 8
    assert serves_tunable_op(table, {"M": 25088, "N": 4096, "K": 64}) == first
    assert is_tunable_op(PATH.name, TEXT.encode()) and not is_tunable_op(PATH.name, b"a,b")


def test_results_are_written_as_they_were() -> None:
    """A changed line alone is another; without a file validators come first."""
    table = read_tunable_op(TEXT.encode(), PATH)
    assert write_tunable_op(table) == TEXT.encode()
    assert write_tunable_op(replace(table, layout=None)) == TEXT.encode()
    changed = replace(table.rows[1], settings={"solution": "Gemm_Rocblas_7"})
    assert (
        write_tunable_op(replace(table, rows=(table.rows[0], changed)))
        == TEXT.replace("Default", "Gemm_Rocblas_7").encode()
    )


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (TEXT.replace("0.262", "fast"), f"{PATH}:3"),
        (TEXT.replace("nt_25088", "25088"), f"{PATH}:3"),
        (TEXT[: TEXT.rindex(",")], f"{PATH}:4"),
        ("Validator,A,1\n\n", str(PATH)),
    ],
)
def test_a_bad_line_is_named(text: str, where: str) -> None:
    """With its number."""
    with pytest.raises(BadInput) as caught:
        read_tunable_op(text.encode(), PATH)
    assert caught.value.where == where

"""Types of the operands of matrix instructions, as SASS spells them."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.ir.machine.operands import executed_types, operand_types
from kopt_kb.analysis.ir.machine.scan import scan_text

SASS = """
	.headerflags	@"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
	.section	.text.product,"ax",@progbits
{lines}
        /*0100*/                   EXIT ;
"""


@pytest.mark.core
@pytest.mark.parametrize(
    ("spelling", "types"),
    [
        ("HMMA.1688.F32.TF32", ("tf32",)), ("HGMMA.64x256x16.F32.BF16", ("bf16",)), ("HMMA.16816.F16", ("fp16",)),
        ("IGMMA.64x128x32.S8.S8", ("int8",)), ("IMMA.16864.S4.S4", ("int4",)), ("DMMA.884", ("fp64",)),
        ("QGMMA.64x128x32.F32.E4M3.E5M2", ("fp8", "fp6", "fp4")), ("UTCHMMA", ("fp16", "bf16", "tf32")),
        ("UTCIMMA", ("int8",)), ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", ("tf32",)), ("XMMA", ()),
    ],
)  # fmt: skip
def test_spellings(spelling: str, types: tuple[str, ...]) -> None:
    """Families by their letter, halves and integers by their modifiers."""
    assert operand_types(spelling) == types


def _scanned(*spellings: str) -> tuple[str, ...] | None:
    lines = "\n".join(
        f"        /*00{at}0*/                   {one} R4, R8, R12, R4 ;" for at, one in enumerate(spellings)
    )
    return executed_types(scan_text(SASS.format(lines=lines)))


def test_what_kernels_multiply_together() -> None:
    """Each type once; nothing without matrix instructions, and no claim where one is not known or none was read."""
    assert _scanned("HMMA.1688.F32.TF32", "HMMA.1688.F32.TF32", "IMMA.16832.S8.S8") == ("tf32", "int8")
    assert _scanned("FFMA") == ()
    assert _scanned("HMMA.1688.F32.TF32", "BMMA.168128") is None
    assert executed_types(()) is None

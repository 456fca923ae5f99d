"""What the IR multiplies is no lower bound of what machine code multiplies: assemblers delete what nobody keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton", reason="triton is not installed")

from kopt_kb.analysis.ir.machine.scan import scan_text
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.request import CompileRequest, KernelCase
from kopt_kb.launch.counts.counting import count_compilation

pytestmark = pytest.mark.triton

SLICES = """
import triton
import triton.language as tl


@triton.jit
def slices(a, b, c, B: tl.constexpr):
    i = tl.arange(0, B)
    tile = i[:, None] * B + i[None, :]
    x = tl.load(a + tile).to(tl.int32)
    y = tl.load(b + tile).to(tl.int32)
    x_low, y_low = (x & 127).to(tl.int8), (y & 127).to(tl.int8)
    x_high, y_high = (x >> 8).to(tl.int8), (y >> 8).to(tl.int8)
    middle = tl.dot(x_low, y_high) + tl.dot(x_high, y_low)
    both = tl.dot(x_low, y_low) + (middle << 8) + (tl.dot(x_high, y_high) << 16)
    tl.store(c + tile, both.to(tl.int16))
"""
"""A product of int16 by slices of int8, written as for a result of 32 bits; the last product leaves none of 16."""

SIZE, OF_AN_INSTRUCTION = 64, {"sm_80": 2 * 16 * 8 * 32, "gfx942": 2 * 32 * 32 * 16}


@pytest.mark.parametrize("target", OF_AN_INSTRUCTION)
def test_an_exact_count_of_the_ir_is_above_what_the_machine_code_can_do(
    target: str, tmp_path: Path, pool: CompilePool
) -> None:
    """Four products of 64³ in the IR, called exact; without a loop each instruction runs once in each of four warps."""
    (tmp_path / "mine.py").write_text(SLICES)
    tensor = TensorSpec((SIZE * SIZE,), "int16")
    case = KernelCase(str(tmp_path / "mine.py"), "slices", (tensor, tensor, tensor), {"B": SIZE}, {"num_warps": 4})
    (made,) = pool.compile(CompileRequest(case, target))
    (amount,) = (one.amount for one in count_compilation(made, (1,)).kernel.executed if one.engine == "matrix")
    assert (amount.value, amount.exactness) == (4 * 2 * SIZE**3, "exact")
    (scan,) = scan_text(made.assembly, where="test")
    executed = 4 * sum(scan.matrix.values()) * OF_AN_INSTRUCTION[target]
    assert executed == 3 * 2 * SIZE**3

"""Remarks of tileiras are read as it writes them."""

from __future__ import annotations

from kopt_kb.launch.compile.remarks import CompilerRemark
from kopt_kb.packs.cutile.compile.remarks import read_remarks

TEXT = """--- !Passed
Pass:            Memory
Name:            RemarkMemoryLoadInstructionSelected
DebugLoc:        { File: '/home/kernel/gemm.py', Line: 14, Column: 97 }
Function:        product
Args:
  - RemarkId:    4
  - Remark:      Load instruction selected
  - Instruction: TMA Load instruction
  - Shape:       '[64, 32]'
...
--- !Missed
Pass:            Tensor-core
Name:            RemarkTensorCoreMMA
Function:        product
Args:
  - Remark:      MMA operation not optimized
  - Reason:      element type
...
"""


def test_each_remark_once() -> None:
    """Verdict, words, instruction, shape and line; what else is said is kept as words."""
    load = CompilerRemark(
        "Passed", "Load instruction selected", "TMA Load instruction", (64, 32), "/home/kernel/gemm.py", 14
    )
    missed = CompilerRemark("Missed", "MMA operation not optimized", more="Reason element type")
    assert read_remarks(TEXT + TEXT) == (load, missed)


def test_something_else() -> None:
    """No remark, no error."""
    assert read_remarks("") == ()
    assert read_remarks("words\n...\nmore") == ()

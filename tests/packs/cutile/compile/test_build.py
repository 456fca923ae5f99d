"""Static profiles of tile kernels come from their launcher, for each target."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.launch.compile.build import build
from kopt_kb.launch.compile.request import CompileRequest, OpCase


@pytest.mark.parametrize(("target", "instruction"), [("sm_90", "HGMMA"), ("sm_100", "UTCHMMA")])
def test_each_target_has_its_matrix_instruction(tile_file: Path, target: str, instruction: str) -> None:
    """With registers, Tile IR and remarks."""
    (made,) = build(CompileRequest(OpCase(str(tile_file), (256, 256, 128), "fp16"), target))
    assert instruction in made.assembly
    assert "0 bytes spill stores" in made.assembler_log
    assert "mmaf" in made.dialects["tile"]
    assert any("TMA" in one.instruction for one in made.remarks)
    assert made.grid == (4, 4, 1)
    assert made.binary[:4] == b"\x7fELF"

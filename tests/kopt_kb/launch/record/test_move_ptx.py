"""The PTX of the judge's own copy: it assembles wherever a judge runs, takes what it is given, and is its source's."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.compile.disassemble import tool
from kopt_kb.launch.cuda.cubin import read_cubin
from kopt_kb.launch.cuda.nvrtc import nvrtc_version
from kopt_kb.launch.record import move_ptx
from kopt_kb.launch.record.moves import ENTRY


@pytest.mark.triton
@pytest.mark.parametrize(
    ("assembler", "target"), [("ptxas", "sm_75"), ("ptxas", "sm_90"), ("ptxas-blackwell", "sm_100")]
)
def test_it_assembles(tmp_path: Path, assembler: str, target: str) -> None:
    """Without spills, for parameters of the sizes that the driver is told."""
    pytest.importorskip("triton")
    (tmp_path / "move.ptx").write_text(move_ptx.PTX)
    command = [str(tool(assembler)), f"-arch={target}", "move.ptx", "-o", "move.cubin"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    (entry,) = read_cubin((tmp_path / "move.cubin").read_bytes()).entries.values()
    assert entry.name == ENTRY
    assert entry.parameters == (8,) * 17 + (4,) * 3
    assert entry.stack_bytes == 0


def test_it_is_what_the_source_compiles_to(repo_root: Path) -> None:
    """By the compiler that is named in it."""
    try:
        version = nvrtc_version()
    except MissingTool as error:
        pytest.skip(f"{error.what}: {error.fix}")
    if f"NVRTC {version}" not in (move_ptx.__doc__ or ""):
        pytest.skip(f"written by another compiler than {version}")
    spec = importlib.util.spec_from_file_location("move_ptx_tool", repo_root / "tools" / "move_ptx.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    source = (repo_root / "kopt_kb" / "launch" / "record" / "move.cu").read_text()
    assert module.ptx_of(source) == move_ptx.PTX

"""The RMS norm in FlyDSL: its launch, and where the compiler is its code for two processors of AMD; nothing is run."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.cuda.cubin import Cubin, CubinKernel
from kopt_kb.launch.cuda.launches import record_cuda
from kopt_kb.launch.cuda.plan import Program, header_of, launch_of, plan_of
from kopt_kb.launch.judge.makers import make_record
from kopt_kb.launch.record.bounds import check_code, check_record
from kopt_kb.launch.record.judge import OBJECTS
from kopt_kb.launch.record.model import StructArg
from kopt_kb.launch.record.request import MakerRequest, OpRequest


def test_its_launch(repo_root: Path) -> None:
    """A tensor is its address and a struct of what the compiler does not know; rows of half a turn have no launch."""
    header = header_of(repo_root / "kernels" / "flydsl" / "rms_norm.py")
    plan = plan_of(header, (64, 4096), "bf16", {}, {})
    read = Cubin({"k": CubinKernel("k", parameters=(8, 16, 8, 4, 8, 16))}, ())
    made = launch_of(plan, Program(b"", read, {"rms_norm_kernel": "k"}, None), "c" * 64, plan.steps[0])
    sizes = [one.size_bytes for one in made.arguments if isinstance(one, StructArg)]
    assert (made.grid, made.block, sizes) == ((64, 1, 1), (256, 1, 1), [16, 4, 16])
    assert plan_of(header, (64, 4000), "bf16", {}, {}).steps == ()


@pytest.mark.skipif(importlib.util.find_spec("flydsl") is None, reason="flydsl is not installed")
@pytest.mark.parametrize("target", ["gfx942", "gfx950"])
def test_its_record(repo_root: Path, tmp_path: Path, target: str) -> None:
    """An ELF file for the processor, with the parameters that the header gives.

    In a maker's process: two compilers that bring an MLIR of their own do not live in one.
    """
    what = OpRequest(str(repo_root / "kernels" / "flydsl" / "rms_norm.py"), (64, 4096), "bf16")
    made = make_record(MakerRequest(what, target, "Test", {}, ""), tmp_path / "record")
    check_record(made, "record")
    for digest in made.codes:
        check_code((tmp_path / "record" / OBJECTS / digest).read_bytes(), target, "code")
    assert made.launches[0].entry.startswith("rms_norm_kernel")


def test_each_language_has_its_targets(repo_root: Path, tmp_path: Path) -> None:
    """Whether or not its compiler is installed."""
    for name, target in (("flydsl", "sm_90"), ("cute", "gfx942")):
        what = OpRequest(str(repo_root / "kernels" / name / "rms_norm.py"), (64, 4096), "bf16")
        with pytest.raises(BadInput, match=f"{name} does not compile for {target}"):
            record_cuda(MakerRequest(what, target, "Test", {}, str(tmp_path)), what)

"""Claims about the tools of the Triton wheel."""

from __future__ import annotations

import shutil

import pytest

from kopt_kb.analysis.ir.machine.scan import scan_text
from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.disassemble import binary_text, tool, tool_version
from kopt_kb.launch.compile.request import CompileRequest, KernelCase

pytestmark = pytest.mark.triton


@pytest.mark.parametrize("name", ["ptxas", "ptxas-blackwell", "nvdisasm", "cuobjdump"])
def test_the_wheel_has_the_tool_and_its_version(name):
    """Each tool answers with three numbers."""
    pytest.importorskip("triton")
    assert tool(name).is_file()
    assert len(tool_version(name).split(".")) == 3


def test_an_unknown_tool_is_missing():
    """The error says how to get the tools."""
    with pytest.raises(MissingTool, match=r"kopt-kb\[static\]"):
        tool("no-such-tool")


def binary(pool, target):
    """A compiled vector addition."""
    from pathlib import Path

    file = str(Path(__file__).with_name("kernels_to_compile.py"))
    vector = TensorSpec((4096,), "fp32")
    case = KernelCase(file, "vadd", (vector, vector, vector, 4096), {"BLOCK": 1024})
    return pool.compile(CompileRequest(case, target, disassemble=False))[0].binary


def test_a_cubin_file_is_disassembled(pool, tmp_path):
    """The listing names the kernel and its instructions."""
    path = tmp_path / "kernel.bin"
    path.write_bytes(binary(pool, "sm_80"))
    assert "LDG.E" in binary_text(path)


def test_an_hsaco_needs_llvm_objdump(pool, tmp_path, monkeypatch):
    """The Triton wheel has no AMD disassembler; without one the error says what to give instead."""
    path = tmp_path / "kernel.hsaco"
    path.write_bytes(binary(pool, "gfx90a"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingTool, match="AMDGCN text"):
        binary_text(path)


@pytest.mark.skipif(shutil.which("llvm-objdump") is None, reason="no llvm-objdump installed")
def test_an_hsaco_is_disassembled(pool, tmp_path):
    """With LLVM's tool the listing names kernel and instructions."""
    path = tmp_path / "kernel.hsaco"
    path.write_bytes(binary(pool, "gfx90a"))
    (scan,) = scan_text(binary_text(path))
    assert (scan.kernel, scan.target) == ("vadd", "")
    assert scan.count("global", ("load",), at_least_bits=128) == 2


@pytest.mark.parametrize(("data", "text"), [(b"hello", "neither a cubin"), (b"\x7fELF" + bytes(60), "machine 0")])
def test_other_files_are_refused(tmp_path, data, text):
    """Recognised by content, whatever the name."""
    path = tmp_path / "kernel.cubin"
    path.write_bytes(data)
    with pytest.raises(BadInput, match=text):
        binary_text(path)

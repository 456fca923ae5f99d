"""A cubin is taken as it is, a fat binary is opened; what is for another target is refused by name."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.cuda import given
from kopt_kb.launch.cuda.given import code_given, read_given
from kopt_kb.launch.cuda.nvrtc import compile_cuda


@pytest.mark.triton
def test_a_cubin_is_taken_for_its_own_target(assembled: Callable[[str], bytes], tmp_path: Path) -> None:
    """And for no other."""
    path = tmp_path / "a.cubin"
    path.write_bytes(assembled("sm_90"))
    assert code_given(path, "sm_90") == path.read_bytes()
    with pytest.raises(BadInput, match="for sm_90, the record for sm_80"):
        code_given(path, "sm_80")
    with pytest.raises(BadInput, match="no such file"):
        code_given(tmp_path / "b.cubin", "sm_90")


def _extracting(tmp_path: Path, names: dict[str, bytes]) -> Path:
    """Return a program that leaves files where it is run, as cuobjdump does."""
    held = tmp_path / "held"
    held.mkdir()
    for name, content in names.items():
        (held / name).write_bytes(content)
    script = tmp_path / "cuobjdump"
    script.write_text(f"#!/bin/sh\ncp {held}/* .\n")
    script.chmod(0o755)
    return script


def test_machine_code_of_either_vendor_is_read(nvrtc: str) -> None:
    """In one form: registers of a lane, its stack, shared memory, parameters, threads."""
    code = Path(__file__).parents[3] / "data" / "code_objects" / "tile_product.gfx942.hsaco"
    one = read_given(code.read_bytes(), "amd").entries["tile_product"]
    assert (one.parameters, one.most_threads, one.stack_bytes) == ((8, 8, 8, 4, 8, 8), 256, 0)
    assert one.registers > 16
    source = 'extern "C" __global__ void __launch_bounds__(64) k(float* x, int n) { x[n] = 1; }'
    made = compile_cuda(source, "k.cu", 90, entries=[]).cubin
    assert read_given(made, "nvidia").entries["k"].parameters == (8, 4)
    with pytest.raises(BadInput, match="no whole cubin"):
        read_given(b"text", "neither")


@pytest.mark.triton
def test_a_fat_binary_gives_what_is_for_the_target(
    assembled: Callable[[str], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last that fits; PTX alone is nothing."""
    codes = {"f.1.sm_80.cubin": assembled("sm_80"), "f.2.sm_90.cubin": assembled("sm_90")}
    script = _extracting(tmp_path, codes)
    monkeypatch.setattr(given, "tool", lambda _: script)
    fat = tmp_path / "f.fatbin"
    fat.write_bytes(b"\x50\xed\x55\xba" + bytes(60))
    assert code_given(fat, "sm_90") == codes["f.2.sm_90.cubin"]
    assert code_given(fat, "sm_80") == codes["f.1.sm_80.cubin"]
    with pytest.raises(BadInput, match="holds sm_80, sm_90, nothing for sm_100"):
        code_given(fat, "sm_100")


@pytest.mark.triton
def test_a_real_fat_binary(tmp_path: Path) -> None:
    """As nvcc writes it, where there is one."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc to write one")
    (tmp_path / "a.cu").write_text('extern "C" __global__ void one(int* x) { *x = 1; }\n')
    codes = ["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90"]
    subprocess.run([nvcc, "-fatbin", *codes, "a.cu", "-o", "a.fatbin"], cwd=tmp_path, check=True, capture_output=True)
    assert code_given(tmp_path / "a.fatbin", "sm_90")[:4] == b"\x7fELF"
    with pytest.raises(BadInput, match="nothing for sm_100"):
        code_given(tmp_path / "a.fatbin", "sm_100")

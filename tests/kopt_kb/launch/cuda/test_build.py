"""Static profiles of CUDA C++: by launch of a shape, by kernel of a file, of a code object that is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.launch.compile.request import CompileFailed, CompileRequest, KernelCase, OpCase
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.counts.static_profile import profile_of
from kopt_kb.launch.cuda.build import build_cuda
from kopt_kb.launch.record.code_object import read_code_object

SM_90 = CompileTarget.parse("sm_90")


def _built(case: KernelCase | OpCase, **more: object):
    return build_cuda(CompileRequest(case, "sm_90", **more), SM_90)  # type: ignore[arg-type]


@pytest.mark.triton
def test_a_launch_is_profiled_with_what_it_is_launched_with(scale: Path, nvrtc: str) -> None:
    """Grid, warps, static and dynamic shared memory, registers of ptxas, instructions of its own section."""
    twice, joined = map(profile_of, _built(OpCase(str(scale), (1000,), "bf16", {"THREADS": 64})))
    assert (twice.compilation.grid, twice.num_warps, joined.shared_bytes) == ((16, 1, 1), 2, 256)
    assert twice.assembler.registers
    assert twice.spill_bytes == 0
    assert twice.scan.kernel == twice.name
    assert joined.scan.accesses
    assert joined.compilation.versions["nvrtc"] == nvrtc
    assert dict(joined.compilation.constexprs) == {"THREADS": 64}


@pytest.mark.triton
def test_a_given_code_object_says_what_it_can(assembled: Callable[[str], bytes], tmp_path: Path) -> None:
    """Registers, stack, barriers and shared memory from the file; what was spilled stands nowhere in it."""
    path = tmp_path / "some.cubin"
    path.write_bytes(assembled("sm_90"))
    first, second = map(profile_of, _built(KernelCase(str(path), "")))
    assert (first.name, first.num_warps, first.shared_bytes, first.assembler.stack_bytes) == ("first", 3, 400, 0)
    assert first.spill_bytes is None
    assert (second.name, second.num_warps) == ("second", 4)
    (only,) = _built(KernelCase(str(path), "first", (), {}, {"num_warps": 2}))
    assert (only.name, only.metadata["num_warps"]) == ("first", 2)


def test_an_amd_code_object_is_profiled(tmp_path: Path) -> None:
    """Registers and LDS as its file says them, instructions as llvm-objdump reads them, where it knows the processor."""
    code = Path(__file__).parents[3] / "data" / "code_objects" / "tile_product.gfx90a.hsaco"
    request = CompileRequest(KernelCase(str(code), "tile_product"), "gfx90a")
    try:
        (made,) = build_cuda(request, CompileTarget.parse("gfx90a"))
    except MissingTool as missing:
        pytest.skip(missing.what)
    profile = profile_of(made)
    said = read_code_object(code.read_bytes()).entries["tile_product"]
    assert (profile.assembler.registers, profile.assembler.accumulation_registers) == (said.vgprs, said.agprs)
    assert (profile.num_warps, profile.spill_bytes, profile.scan.isa) == (4, 0, "amdgcn")
    assert sum(profile.scan.matrix.values()) > 0
    assert set(made.versions) == {"llvm-objdump"}
    assert made.versions["llvm-objdump"][0].isdigit()


def test_cuda_source_is_for_no_amd_target(tmp_path: Path) -> None:
    """Only machine code is."""
    file = tmp_path / "k.cu"
    file.write_text("__global__ void k() {}")
    with pytest.raises(BadInput, match="CUDA C\\+\\+ is not for gfx942"):
        build_cuda(CompileRequest(KernelCase(str(file), ""), "gfx942"), CompileTarget.parse("gfx942"))


def test_kernels_of_a_file_without_a_header(tmp_path: Path, nvrtc: str) -> None:
    """All that are no templates; a template by its arguments."""
    path = tmp_path / "a.cu"
    path.write_text(
        "__global__ void one(int* x) { *x = 1; }\ntemplate <int N> __global__ void many(int* x) { *x = N; }\n"
    )
    assert [one.name for one in _built(KernelCase(str(path), ""), disassemble=False)] == ["_Z3onePi"]
    (made,) = _built(KernelCase(str(path), "many<4>"), disassemble=False)
    assert made.name == "_Z4manyILi4EEvPi"
    assert not made.assembly
    with pytest.raises(BadInput, match="no kernel 'two'; kernels here: _Z3onePi"):
        _built(KernelCase(str(path), "two"), disassemble=False)
    path.write_text("template <int N> __global__ void many(int* x) { *x = N; }\n")
    with pytest.raises(BadInput, match="no kernel is compiled; .*templates are named with their arguments"):
        _built(KernelCase(str(path), ""), disassemble=False)


def test_shared_memory_beyond_the_limit_is_refused(scale: Path, nvrtc: str) -> None:
    """Before anything is disassembled."""
    case = OpCase(str(scale), (1000,), "bf16")
    with pytest.raises(CompileFailed, match="needs 512 B of shared memory, a block may use 500 B"):
        _built(case, shared_limit_bytes=500)

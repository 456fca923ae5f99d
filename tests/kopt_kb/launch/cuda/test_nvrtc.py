"""The compiler answers with machine code and PTX, or with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.compile.request import CompileFailed
from kopt_kb.launch.cuda import nvrtc as module
from kopt_kb.launch.cuda.nvrtc import compile_cuda, problem_in
from kopt_kb.launch.record.bounds import check_code

SOURCE = """#include "own.cuh"
template <typename T> __global__ void scale(T* x, T factor) { x[threadIdx.x] *= factor * WIDE * OWN; }
"""


def test_a_template_becomes_machine_code(tmp_path: Path, nvrtc: str) -> None:
    """For the target, with the entry's symbol; headers beside the file and macros are found."""
    (tmp_path / "own.cuh").write_text("#define OWN 2\n")
    made = compile_cuda(SOURCE, str(tmp_path / "a.cu"), 90, entries=["scale<float>"], options=["-DWIDE=3"])
    check_code(made.cubin, "sm_90", "there")
    assert made.symbols == {"scale<float>": "_Z5scaleIfEvPT_S0_"}
    assert ".target sm_90a" in made.ptx
    assert "Used" in made.log


def test_what_does_not_compile_is_said_with_its_line(tmp_path: Path, nvrtc: str) -> None:
    """Of the file it stands in."""
    (tmp_path / "own.cuh").write_text("#define OWN two\n")
    with pytest.raises(CompileFailed, match='identifier "WIDE" is undefined') as caught:
        compile_cuda(SOURCE, str(tmp_path / "a.cu"), 90, entries=["scale<float>"])
    assert caught.value.where == f"{tmp_path}/a.cu:2"
    (tmp_path / "own.cuh").write_text("#define OWN 1\nint x = ;\n")
    with pytest.raises(CompileFailed, match="expected an expression") as caught:
        compile_cuda(SOURCE, str(tmp_path / "a.cu"), 90, entries=["scale<float>"], options=["-DWIDE=3"])
    assert caught.value.where == f"{tmp_path}/own.cuh:2"


def test_an_unknown_option_or_architecture_is_refused(tmp_path: Path, nvrtc: str) -> None:
    """With what the compiler says of it."""
    for arch, options in ((90, ["--colour=red"]), (13, [])):
        with pytest.raises(CompileFailed, match="does not compile: NVRTC says"):
            compile_cuda("__global__ void one() {}", "a.cu", arch, options=options)


def test_logs_are_read_by_whoever_said_it() -> None:
    """The front end names file and line, the assembler neither."""
    assert problem_in("b.cu(7): error: no\nb.cu(9): error: more\n", "a.cu") == ("no", "b.cu:7")
    assert problem_in('b.cu(7): error #20-D: identifier "x"\n', "a.cu") == ('identifier "x"', "b.cu:7")
    assert problem_in("b.cu(7): warning: no\nptxas fatal   : too much\n", "a.cu") == ("ptxas: too much", "a.cu")
    assert problem_in("b.cu(7): warning: no\n", "a.cu") is None


def test_a_file_that_was_cut_is_named_and_not_the_compilers_own_text(tmp_path: Path, nvrtc: str) -> None:
    """The entry is not found either, which is said first, at a line of a file that nobody has."""
    file = str(tmp_path / "a.cu")
    with pytest.raises(CompileFailed, match='at the end of the file: expected a "}"') as caught:
        compile_cuda("__global__ void one() { int a = 1;", file, 90, entries=["one"])
    assert caught.value.where == file
    with pytest.raises(CompileFailed, match='identifier "two" is undefined') as caught:
        compile_cuda("__global__ void one() {}", file, 90, entries=["two"])
    assert caught.value.where == file


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing else is tried."""
    monkeypatch.setattr(module, "_roots", lambda: iter(()))
    module._nvrtc.cache_clear()
    try:
        with pytest.raises(MissingTool, match="NVRTC is not installed; install kopt-kb"):
            compile_cuda("", "a.cu", 90)
    finally:
        module._nvrtc.cache_clear()

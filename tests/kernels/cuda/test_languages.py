"""CuTe DSL and TileLang become machine code of a header's kernels; where neither is installed, stand-ins of both do."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from kopt_kb.errors import BadInput, MissingTool
from kopt_kb.kernels.cuda import languages
from kopt_kb.kernels.cuda.languages import Foreign, made_of
from kopt_kb.kernels.cuda.launches import record_cuda
from kopt_kb.kernels.cuda.nvrtc import compile_cuda
from kopt_kb.kernels.record.bounds import check_code, check_record
from kopt_kb.kernels.record.model import LaunchRecord, TensorView
from kopt_kb.kernels.record.request import MakerRequest, OpRequest

HEADER = """
op = "elementwise"
shape = "Nx..."
dtypes = ["fp32"]
language = "LANGUAGE"
function = "add_of.py:add"
config = { THREADS = 128 }
[inputs]
x = "[elements]"
y = "[elements]"
[outputs]
out = "[elements]"
[[steps]]
launch = "add_kernel"
grid = ["elements // (EACH * THREADS)"]
block = ["THREADS"]
arguments = ["x", "y", "out"]
"""
CUTE = """
import cutlass
import cutlass.cute as cute


@cute.kernel
def add_kernel(x: cute.Tensor, y: cute.Tensor, out: cute.Tensor, size: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    at = block * size + thread
    out[at] = x[at] + y[at]


@cute.jit
def add(x: cute.Tensor, y: cute.Tensor, out: cute.Tensor, THREADS: cutlass.Constexpr):
    add_kernel(x, y, out, THREADS).launch(grid=(x.shape[0] // THREADS, 1, 1), block=(THREADS, 1, 1))
"""
TILELANG = """
import tilelang.language as T


def add(elements, THREADS):
    @T.prim_func
    def add(A: T.Tensor((elements,), "float32"), B: T.Tensor((elements,), "float32"), C: T.Tensor((elements,), "float32")):
        with T.Kernel(T.ceildiv(elements, 8 * THREADS), threads=THREADS) as block:
            for i in T.Parallel(8 * THREADS):
                C[block * 8 * THREADS + i] = A[block * 8 * THREADS + i] + B[block * 8 * THREADS + i]

    return add
"""
SOURCE = """
extern "C" __global__ void NAME(const float* x, const float* y, float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x] + y[threadIdx.x];
}
"""
VIEW = TensorView("x", 0, (4, 8), (8, 1), "fp32")


def _recorded(folder: Path, language: str, source: str, each: int) -> LaunchRecord:
    (folder / "add_of.py").write_text(source)
    file = folder / "add.toml"
    file.write_text(HEADER.replace("LANGUAGE", language).replace("EACH", str(each)))
    what = OpRequest(str(file), (65536,), "fp32")
    record = record_cuda(MakerRequest(what, "sm_90", "Test", {}, str(folder)), what)
    check_record(record, "record")
    for digest in record.codes:
        check_code((folder / digest).read_bytes(), "sm_90", "code")
    return record


@pytest.mark.skipif(importlib.util.find_spec("cutlass") is None, reason="nvidia-cutlass-dsl is not installed")
def test_cute(tmp_path: Path) -> None:
    """A cubin for the target with its own features, without a GPU; the kernel is found among the words of its symbol."""
    record = _recorded(tmp_path, "cute", CUTE, 1)
    (launch,) = record.launches
    assert "add_kernel" in launch.entry and (launch.grid, launch.block) == ((512, 1, 1), (128, 1, 1))
    assert set(record.sources) == {"add.toml", "add_of.py"}
    assert set(record.versions) == {"nvidia-cutlass-dsl"}
    with pytest.raises(BadInput, match="name 'nonsense' is not defined") as caught:
        _recorded(tmp_path, "cute", CUTE.replace("    add_kernel(", "    nonsense("), 1)
    assert "\x1b" not in caught.value.what


@pytest.mark.skipif(importlib.util.find_spec("tilelang") is None, reason="tilelang is not installed")
def test_tilelang(tmp_path: Path, nvrtc: str) -> None:
    """Its CUDA C++ through NVRTC."""
    record = _recorded(tmp_path, "tilelang", TILELANG, 8)
    (launch,) = record.launches
    assert (launch.entry, launch.grid) == ("add_kernel", (64, 1, 1))


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, nvrtc: str) -> SimpleNamespace:
    """Modules with the names of both languages whose compiler is NVRTC; what they were asked."""
    seen = SimpleNamespace(tensors=[], words={}, arch=[])

    def compiled(function: Any, *tensors: Any, **words: int) -> Any:
        seen.tensors, seen.words = list(tensors), words
        code = compile_cuda(SOURCE.replace("NAME", "kernel_cutlass_add_kernel_0"), "k.cu", 90).cubin
        return SimpleNamespace(artifacts=SimpleNamespace(CUBIN=code))

    class Compile:
        def __getitem__(self, options: tuple[Any, ...]) -> Any:
            seen.arch.append(options[1])
            return compiled

    def module(name: str, **members: Any) -> ModuleType:
        made = ModuleType(name)
        vars(made).update(members)
        monkeypatch.setitem(sys.modules, name, made)
        return made

    def fake(element: str, shape: tuple[int, ...], *, stride_order: tuple[int, ...], assumed_align: int) -> Any:
        return element, shape, stride_order, assumed_align

    class Target:
        def __init__(self, words: dict[str, str]) -> None:
            seen.arch.append(words["arch"])

        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            pass

    def lowered(function: Any, **_: object) -> Any:
        seen.words.update(lowered=function)
        return lower

    lower = SimpleNamespace(kernel_source=SOURCE.replace("NAME", "add_kernel"))
    module("cutlass", Float32="Float32")
    module("cutlass.cute", compile=Compile(), KeepCUBIN="keep", GPUArch=lambda name: name)
    module("cutlass.cute.runtime", make_fake_compact_tensor=fake)
    module("tilelang", __file__=str(tmp_path / "tilelang" / "__init__.py"))
    module("tilelang.engine", lower=lowered)
    module("tvm", target=SimpleNamespace(Target=Target))
    monkeypatch.setattr(metadata, "version", lambda _: "1.2.3")
    return seen


def test_a_cute_function_is_given_tensors_and_tuning_values(stand_in: SimpleNamespace, tmp_path: Path) -> None:
    """In the header's order, the last extent dense; of the names only those that it has as parameters."""
    file = tmp_path / "k.py"
    file.write_text("def add(x, out, THREADS):\n    pass\n")
    names = {"THREADS": 64, "elements": 32}
    found = made_of("cute", file, "add", [VIEW, VIEW], names, 90, ["add_kernel"])
    assert stand_in.tensors == [("Float32", (4, 8), (1, 0), 16)] * 2
    assert (stand_in.words, stand_in.arch) == ({"THREADS": 64}, ["sm_90a"])
    assert isinstance(found, Foreign) and found.versions == {"nvidia-cutlass-dsl": "1.2.3"}


@pytest.mark.parametrize(("language", "entry"), [("cute", "kernel_cutlass_add_kernel_0"), ("tilelang", "add_kernel")])
def test_a_record_of_either(stand_in: SimpleNamespace, tmp_path: Path, language: str, entry: str) -> None:
    """Its parameters are held against the machine code like those of any other."""
    record = _recorded(tmp_path, language, "def add(elements, THREADS):\n    return elements * THREADS\n", 1)
    assert [one.entry for one in record.launches] == [entry]
    assert stand_in.arch == (["sm_90a"] if language == "cute" else ["sm_90"])
    assert language == "cute" or stand_in.words == {"lowered": 65536 * 128}


def test_a_kernel_that_a_function_does_not_have(stand_in: SimpleNamespace, tmp_path: Path) -> None:
    """Its header names another one."""
    (tmp_path / "add_of.py").write_text("def add():\n    pass\n")
    file = tmp_path / "add.toml"
    file.write_text(HEADER.replace("LANGUAGE", "cute").replace("EACH", "1").replace("add_kernel", "sub_kernel"))
    what = OpRequest(str(file), (65536,), "fp32")
    with pytest.raises(BadInput, match="no kernel 'sub_kernel'"):
        record_cuda(MakerRequest(what, "sm_90", "Test", {}, str(tmp_path)), what)


@pytest.mark.parametrize(
    ("source", "name", "why"),
    [
        ("x = 1\n", "add", "no function add"), ("def add(:\n", "add", "does not compile: SyntaxError"),
        ("raise SystemError('no words of mine')\n", "add", "SystemError: no words of mine"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_function(
    stand_in: SimpleNamespace, tmp_path: Path, source: str, name: str, why: str
) -> None:
    """One line with the file."""
    file = tmp_path / "k.py"
    file.write_text(source)
    with pytest.raises(BadInput, match=why):
        made_of("cute", file, name, [], {}, 90, [])
    with pytest.raises(BadInput, match="no such Python file"):
        made_of("cute", tmp_path / "none.py", name, [], {}, 90, [])


def test_a_language_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Named with the package that brings it; nothing of the file ran."""
    monkeypatch.setattr(languages, "LANGUAGES", {"cute": "no-such-package-of-anybody"})
    file = tmp_path / "k.py"
    file.write_text("raise SystemExit(1)\n")
    with pytest.raises(MissingTool, match="no-such-package-of-anybody is not installed"):
        made_of("cute", file, "add", [], {}, 90, [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"cute"', '"fortran"'), ('function = "add_of.py:add"', ""), ("add_of.py:add", "add_of.py"),
        ("add_of.py", "../add_of.py"), ("config =", 'code = "k.cubin"\nconfig ='),
    ],
)  # fmt: skip
def test_a_header_says_both_and_a_file_beside_it(tmp_path: Path, old: str, new: str) -> None:
    """Anything else is refused before a file is run."""
    file = tmp_path / "add.toml"
    file.write_text(HEADER.replace("LANGUAGE", "cute").replace("EACH", "1").replace(old, new))
    what = OpRequest(str(file), (65536,), "fp32")
    with pytest.raises(BadInput) as caught:
        record_cuda(MakerRequest(what, "sm_90", "Test", {}, str(tmp_path)), what)
    assert caught.value.error_code == "KB077"

"""CuTe DSL makes cubins of a header's kernels; where it is not installed, a stand-in of its compiler does."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.cuda.languages import FunctionCode, FunctionJob, made_of
from kopt_kb.launch.record.model import LaunchRecord, TensorView

ADD = """
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
VIEW = TensorView("x", 0, (4, 8), (8, 1), "fp32")
RecordHeader = Callable[[str, str, int], LaunchRecord]


@pytest.mark.skipif(importlib.util.find_spec("cutlass") is None, reason="nvidia-cutlass-dsl is not installed")
def test_an_addition(record_header: RecordHeader) -> None:
    """A cubin for the target with its own features, without a GPU; the kernel is found among the words of its symbol."""
    record = record_header("cute", ADD, 1)
    (launch,) = record.launches
    assert "add_kernel" in launch.entry and (launch.grid, launch.block) == ((512, 1, 1), (128, 1, 1))
    assert set(record.sources) == {"add.toml", "add_of.py"}
    assert set(record.versions) == {"nvidia-cutlass-dsl"}
    with pytest.raises(BadInput, match="name 'nonsense' is not defined") as caught:
        record_header("cute", ADD.replace("    add_kernel(", "    nonsense("), 1)
    assert "\x1b" not in caught.value.what


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, cuda_code: Callable[[str], bytes]) -> SimpleNamespace:
    """Modules with the language's names whose compiler is NVRTC; what they were asked."""
    seen = SimpleNamespace(tensors=[], words={}, arch=[])

    def compiled(function: Any, *tensors: Any, **words: int) -> Any:
        seen.tensors, seen.words = list(tensors), words
        return SimpleNamespace(artifacts=SimpleNamespace(CUBIN=cuda_code("kernel_cutlass_add_kernel_0")))

    class Compile:
        def __getitem__(self, options: tuple[Any, ...]) -> Any:
            seen.arch.append(options[1])
            return compiled

    def module(name: str, **members: Any) -> None:
        made = ModuleType(name)
        vars(made).update(members)
        monkeypatch.setitem(sys.modules, name, made)

    def fake(element: str, shape: tuple[int, ...], *, stride_order: tuple[int, ...], assumed_align: int) -> Any:
        return element, shape, stride_order, assumed_align

    module("cutlass", Float32="Float32")
    module("cutlass.cute", compile=Compile(), KeepCUBIN="keep", GPUArch=lambda name: name)
    module("cutlass.cute.runtime", make_fake_compact_tensor=fake)
    monkeypatch.setattr(metadata, "version", lambda _: "1.2.3")
    return seen


def test_a_function_is_given_tensors_and_tuning_values(stand_in: SimpleNamespace, tmp_path: Path) -> None:
    """In the header's order, the last extent dense; of the names only those that it has as parameters."""
    file = tmp_path / "k.py"
    file.write_text("def add(x, out, THREADS):\n    pass\n")
    names = {"THREADS": 64, "elements": 32}
    made = made_of("cute", FunctionJob(file, "add", [VIEW, VIEW], names, 90, ["add_kernel"]))
    assert stand_in.tensors == [("Float32", (4, 8), (1, 0), 16)] * 2
    assert (stand_in.words, stand_in.arch) == ({"THREADS": 64}, ["sm_90a"])
    assert isinstance(made, FunctionCode) and made.versions == {"nvidia-cutlass-dsl": "1.2.3"}


def test_its_symbols_have_the_kernel_among_other_words(stand_in: SimpleNamespace, record_header: RecordHeader) -> None:
    """Its parameters are held against the machine code like those of any other."""
    record = record_header("cute", "def add(THREADS):\n    return THREADS\n", 1)
    assert [launch.entry for launch in record.launches] == ["kernel_cutlass_add_kernel_0"]
    assert stand_in.arch == ["sm_90a"]


def test_it_is_nothing_for_amd(stand_in: SimpleNamespace, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        made_of("cute", FunctionJob(tmp_path / "k.py", "add", [], {}, "gfx942", []))
    assert caught.value.error_code == "KB106"

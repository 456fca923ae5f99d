"""TileLang's CUDA C++ goes through NVRTC; where it is not installed, a stand-in writes the CUDA C++."""

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
from kopt_kb.launch.cuda.languages import FunctionJob, made_of
from kopt_kb.launch.record.model import LaunchRecord

ADD = """
import tilelang.language as T


def add(elements, THREADS):
    @T.prim_func
    def add(A: T.Tensor((elements,), "float32"), B: T.Tensor((elements,), "float32"), C: T.Tensor((elements,), "float32")):
        with T.Kernel(T.ceildiv(elements, 8 * THREADS), threads=THREADS) as block:
            for i in T.Parallel(8 * THREADS):
                C[block * 8 * THREADS + i] = A[block * 8 * THREADS + i] + B[block * 8 * THREADS + i]

    return add
"""
RecordHeader = Callable[[str, str, int], LaunchRecord]


@pytest.mark.skipif(importlib.util.find_spec("tilelang") is None, reason="tilelang is not installed")
def test_an_addition(record_header: RecordHeader, nvrtc: str) -> None:
    record = record_header("tilelang", ADD, 8)
    (launch,) = record.launches
    assert (launch.entry, launch.grid) == ("add_kernel", (64, 1, 1))


@pytest.fixture
def stand_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, nvrtc: str, cuda_source: Callable[[str], str]
) -> SimpleNamespace:
    """Modules with the language's names that write CUDA C++; what they were asked."""
    seen = SimpleNamespace(lowered=None, arch=[])

    class Target:
        def __init__(self, words: dict[str, str]) -> None:
            seen.arch.append(words["arch"])

        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            pass

    def lower(function: Any, **_: object) -> Any:
        seen.lowered = function
        return SimpleNamespace(kernel_source=cuda_source("add_kernel"))

    def module(name: str, **members: Any) -> None:
        made = ModuleType(name)
        vars(made).update(members)
        monkeypatch.setitem(sys.modules, name, made)

    module("tilelang", __file__=str(tmp_path / "tilelang" / "__init__.py"))
    module("tilelang.engine", lower=lower)
    module("tvm", target=SimpleNamespace(Target=Target))
    monkeypatch.setattr(metadata, "version", lambda _: "1.2.3")
    return seen


def test_a_function_that_returns_a_kernel_is_given_tuning_values(
    stand_in: SimpleNamespace, record_header: RecordHeader
) -> None:
    record = record_header("tilelang", "def add(elements, THREADS):\n    return elements * THREADS\n", 1)
    assert [launch.entry for launch in record.launches] == ["add_kernel"]
    assert (stand_in.lowered, stand_in.arch) == (65536 * 128, ["sm_90"])


def test_it_is_nothing_for_amd(stand_in: SimpleNamespace, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        made_of("tilelang", FunctionJob(tmp_path / "k.py", "add", [], {}, "gfx942", []))
    assert caught.value.error_code == "KB106"

"""Fixtures for the IR counter: saved IR texts by kernel name, and a shorthand for counting one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from kopt_kb.analysis.ir.triton import KernelCount, TensorArg, count_ir
from kopt_kb.analysis.ir.triton.arguments import KernelArgument
from kopt_kb.analysis.ir.triton.plan import Mode

IR_FOLDER = Path(__file__).resolve().parents[3] / "data" / "ttir"
Count = Callable[..., KernelCount]


@pytest.fixture(scope="session")
def ir_folder() -> Path:
    """The folder of saved IR texts."""
    return IR_FOLDER


@pytest.fixture(scope="session")
def ir_text() -> Callable[[str], str]:
    """`ir_text("vadd")` is the saved triton 3.6 text; `"vadd.3.9.0"` names another version."""

    def read(name: str) -> str:
        full = name if name.count(".") >= 3 else f"{name}.3.6.0"
        return (IR_FOLDER / f"{full}.ttir").read_text()

    return read


@pytest.fixture(scope="session")
def count(ir_text: Callable[[str], str]) -> Count:
    """`count(name, grid, args, mode)` counts a saved kernel; exact mode also lane by lane, and both have to agree."""

    def run(
        name: str, grid: object, args: Mapping[int | str, KernelArgument] | None = None, mode: Mode = "exact"
    ) -> KernelCount:
        text, file = ir_text(name), f"{name}.ttir"
        counted = count_ir(text, grid, args or {}, mode=mode, file=file)  # type: ignore[arg-type]
        if mode == "exact":
            assert counted == count_ir(text, grid, args or {}, mode="every_lane", file=file)  # type: ignore[arg-type]
        return counted.kernels[0]

    return run


@pytest.fixture(scope="session")
def gemm_args() -> dict[int | str, KernelArgument]:
    """The launch of the GEMM cases: 1000 x 520 times 520 x 1104 in fp16."""
    return {
        "m": 1000,
        "n": 1104,
        "k": 520,
        0: TensorArg((1000, 520), "fp16"),
        1: TensorArg((520, 1104), "fp16"),
        2: TensorArg((1000, 1104), "fp16"),
    }

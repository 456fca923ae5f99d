"""A packaged CuTe DSL file for a shape: its launch as the header says, and its record where the compiler is."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from kopt_kb.launch.cuda.cubin import Cubin, CubinKernel
from kopt_kb.launch.cuda.launches import record_cuda
from kopt_kb.launch.cuda.plan import Program, header_of, launch_of, plan_of
from kopt_kb.launch.record.bounds import check_code, check_record
from kopt_kb.launch.record.model import Launch, LaunchRecord
from kopt_kb.launch.record.request import MakerRequest, OpRequest

SHARED_BYTES = 227 * 1024
"""What a block of Hopper may use."""


@pytest.fixture
def launched(repo_root: Path) -> Callable[..., Launch]:
    """The launch of a file for a shape; the machine code is a stand-in that takes whatever the header gives."""

    def launch(
        name: str, shape: tuple[int, ...], dtype: str = "bf16", config: Mapping[str, int] | None = None
    ) -> Launch:
        file = repo_root / "kernels" / "cute" / f"{name}.py"
        plan = plan_of(header_of(file), shape, dtype, config or {}, {})
        step = plan.steps[0]
        sizes = tuple(128 if str(one).startswith("map ") else 8 for one in step.arguments)
        read = Cubin({step.what: CubinKernel(step.what, parameters=sizes)}, ())
        made = launch_of(plan, Program(b"", read, {step.what: step.what}, None), "c" * 64, step)
        assert made.shared_bytes <= SHARED_BYTES
        return made

    return launch


@pytest.fixture
def recorded(repo_root: Path, tmp_path: Path) -> Callable[..., LaunchRecord]:
    """The record of a file, compiled."""
    if importlib.util.find_spec("cutlass") is None:
        pytest.skip("nvidia-cutlass-dsl is not installed")

    def record(name: str, shape: tuple[int, ...], dtype: str) -> LaunchRecord:
        what = OpRequest(str(repo_root / "kernels" / "cute" / f"{name}.py"), shape, dtype)
        made = record_cuda(MakerRequest(what, "sm_90", "Test", {}, str(tmp_path)), what)
        check_record(made, "record")
        for digest in made.codes:
            check_code((tmp_path / digest).read_bytes(), "sm_90", "code")
        return made

    return record


@pytest.fixture
def declared(repo_root: Path) -> Callable[[str], SimpleNamespace]:
    """What a file declares, by the reader of kernel files."""
    from kopt_kb.launch.kernel.declared import read_declared

    def read(name: str) -> SimpleNamespace:
        found = read_declared(repo_root / "kernels" / "cute" / f"{name}.py")
        return SimpleNamespace(
            op=found.op, space=dict(found.tuning_space), variants=[one.name for one in found.variants]
        )

    return read

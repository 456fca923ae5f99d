"""What the first gate would refuse is refused before a workspace is made, with the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.problem import Problem
from kopt_kb.tuning.admission import admit
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.task import Task
from tests.demo_kernel import DEMO

PROBLEM = Problem.of("rms_norm", ["64x64"], "bf16")
LOGIC = "def make_inputs(shape, dtype): ...\ndef reference(x): ...\n"


def task(path: Path, **more: str) -> Task:
    """A task with this kernel."""
    fields = {"platform": "H20", "framework": "Triton", **more}
    return Task(kernel_demo=path, problem=PROBLEM, **fields)


@pytest.mark.parametrize(
    ("name", "text", "more", "fix"),
    [
        ("k.cu", "__global__ void f() {}\n", {}, "/* kb"),
        ("k.py", "\x00\x01", {}, "name a kernel's Python file"),
        ("k.cu", "/* kb\nop = 'rms_norm'\n*/\n__global__ void f() {}\n", {}, "--framework CUDA"),
        ("k.toml", 'op = "rms_norm"\ncode = "k.cubin"\n', {"framework": "CUDA"}, "kb verify record"),
        ("k.cubin", "\x7fELF", {"framework": "CUDA"}, "kb bench record"),
        ("k.py", LOGIC, {"route": "kernel"}, "--route pytorch"),
        ("k.py", DEMO.replace("_kernel[(1,)](x)", "return x @ x"), {}, "kb verify source"),
        ("k.py", DEMO + "import flash_attn\n", {}, "kb verify source"),
    ],
)
def test_refused_with_the_way_out(tmp_path: Path, name: str, text: str, more: dict[str, str], fix: str) -> None:
    """At the file and line."""
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        admit(task(path, **more), Registry.open())
    assert fix in caught.value.fix
    assert caught.value.where.startswith(str(path))


def test_what_the_loop_can_begin_with_passes(tmp_path: Path) -> None:
    """A kernel; PyTorch logic, which is implemented first; targets alone."""
    path = tmp_path / "k.py"
    for text in (DEMO, LOGIC):
        path.write_text(text)
        admit(task(path), Registry.open())
    admit(Task("H20", "", None, PROBLEM), Registry.open())


@pytest.mark.parametrize(
    ("framework", "platform", "says"),
    [
        ("FlyDSL", "H20", "AMD only"),
        ("CuTe DSL", "MI355X", "NVIDIA only"),
        ("HIP", "B200", "AMD only"),
        ("Gluon", "MI300X", ""),
    ],
)
def test_a_framework_that_can_not_build_for_the_platform(
    tmp_path: Path, framework: str, platform: str, says: str
) -> None:
    """Whoever builds for both is no question here."""
    path = tmp_path / "k.py"
    path.write_text(
        DEMO.replace("import triton\n", "from triton.experimental import gluon\n").replace("@triton", "@gluon")
    )
    if not says:
        admit(task(path, framework=framework, platform=platform), Registry.open())
        return
    with pytest.raises(BadInput, match=says):
        admit(task(path, framework=framework, platform=platform), Registry.open())

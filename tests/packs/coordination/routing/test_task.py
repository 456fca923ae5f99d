"""Who does a task: by words, by the kernel at hand, by the hardware; and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.coordination.routing.task import TaskRoute, route_task

ALL = {"graph", "tileir", "cutile"}
TRITON, TILEIR, CUTE = "kernel-triton-specialist", "kernel-tileir-specialist", "kernel-cute-specialist"
KERNEL = "import triton\n\n@triton.jit\ndef k(x):\n    pass\n"


def _who(found: TaskRoute) -> list[str]:
    return [one.specialist for one in found.steps]


@pytest.mark.parametrize(
    ("text", "target", "who", "answer"),
    [
        ("Generate TileIR kernel for swiglu", "sm_100", [TRITON, TILEIR], "built_in"),
        ("Generate TileIR kernel for a thing of ours", "sm_100", [TRITON, TILEIR], "outside"),
        ("Convert Triton kernel to TileIR", "sm_100", [TILEIR], "built_in"),
        ("Optimize for TileIR", "sm_90", [TRITON, TILEIR], "not_available"),
        ("Write a softmax kernel", "sm_100", [TRITON, TILEIR], "built_in"),
        ("speed up my softmax kernel", "sm_100", [TILEIR], "built_in"),
        ("Write a softmax kernel", "sm_90", [TRITON], "built_in"),
        ("Write a softmax kernel", "gfx942", [TRITON], "built_in"),
        ("Write a softmax kernel in Triton", "sm_75", [TRITON], "not_available"),
        ("CuTe DSL softmax", "sm_90", [CUTE], "outside"),
        ("CuTe DSL GEMM", "sm_90", [CUTE], "built_in"),
        ("CuTe DSL GEMM", "sm_80", [CUTE], "not_available"),
        ("CuTe DSL rms norm", "sm_80", [CUTE], "built_in"),
        ("CuTe DSL attention", "sm_100", [CUTE], "outside"),
        ("CuTe DSL GEMM", "sm_100", [CUTE], "outside"),
        ("CuTe DSL GEMM", "gfx942", [CUTE], "not_available"),
        ("FSDP configuration", "", ["distributed-specialist"], "not_available"),
    ],
)
def test_the_table(text: str, target: str, who: list[str], answer: str) -> None:
    """A language that is named comes before the hardware; a gate that does not hold is said, with both targets."""
    found = route_task(text, target=target, commands=ALL)
    assert (_who(found), found.answer) == (who, answer)
    assert bool(found.refused) == (answer == "not_available" and "distributed-specialist" not in who)


def test_a_graph_is_three_delegations() -> None:
    """Look, apply, measure."""
    found = route_task("Apply CUDA Graph to my model", commands=ALL)
    assert _who(found) == ["perf-torch-cuda-graph-specialist"] * 2 + ["perf-profiling-specialist"]
    assert found.answer == "built_in"


def test_what_kb_lacks_is_driven_from_outside() -> None:
    """Without a command of kb the answer says so."""
    assert route_task("Convert Triton kernel to TileIR", commands=()).answer == "outside"


def test_a_kernel_file_says_its_language(tmp_path: Path) -> None:
    """A Triton kernel needs the second step alone; of another language, or none, it does not."""
    file = tmp_path / "k.py"
    file.write_text(KERNEL)
    assert _who(route_task("optimize for TileIR", kernel=file, commands=ALL)) == [TILEIR]
    file.write_text(KERNEL.replace("triton.jit", "cute.kernel").replace("import triton", "import cutlass.cute as cute"))
    assert _who(route_task("optimize for TileIR", kernel=file, commands=ALL)) == [TRITON, TILEIR]
    file.write_text("x = 1\n")
    with pytest.raises(BadInput, match="holds no kernel"):
        route_task("optimize for TileIR", kernel=file)
    file.write_text("def (")
    with pytest.raises(BadInput, match="not valid Python"):
        route_task("optimize for TileIR", kernel=file)


def test_all_steps_have_the_same_context() -> None:
    """One block, once."""
    assert route_task("write a softmax kernel", context="srun --jobid=7").context == "srun --jobid=7"


def test_hip_on_nvidia_is_refused() -> None:
    """No compiler of it builds for there."""
    with pytest.raises(BadInput, match="build for AMD"):
        route_task("a softmax in HIP", target="sm_90")


def test_cutile_starts_from_the_packages_kernel_or_yours(tmp_path: Path) -> None:
    """Checked, read for recipes, tuned by the policy of its loop; before Ampere nobody does it."""
    found = route_task("tune a cuTile attention kernel", target="sm_90", commands=ALL)
    (step,) = found.steps
    assert found.answer == "built_in" and "--kernel-demo op:cutile/attention" in step.command
    assert step.command.endswith("kb tune run WORKSPACE --policy cutile")
    other = route_task("tune a cuTile softmax kernel", target="sm_90", commands=ALL)
    assert "--kernel-demo FILE" in other.steps[0].command
    assert route_task("tune a cuTile kernel", target="sm_75", commands=ALL).answer == "not_available"
    kernel = tmp_path / "k.py"
    kernel.write_text("import cuda.tile as ct\n@ct.kernel\ndef k(x):\n    pass\n")
    given = route_task("make this cuTile attention faster", target="sm_90", kernel=kernel, commands=ALL)
    assert "--kernel-demo FILE" in given.steps[0].command
    kernel.write_text("import cutlass.cute as cute\n@cute.kernel\ndef k(x):\n    pass\n")
    own = route_task("make this CuTe DSL softmax faster", target="sm_90", kernel=kernel, commands=ALL)
    assert (own.answer, "--proposer" in own.steps[0].command) == ("built_in", False)

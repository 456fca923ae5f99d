"""What the maker records of launchers, and what it refuses."""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.launch.record.bounds import check_record
from kopt_kb.launch.record.model import Copy, Fill, Launch, LaunchRecord, ScalarArg, TensorAddress, TensorMapArg
from kopt_kb.launch.record.request import CallRequest, MakerRequest, OpRequest, TensorArgument

pytestmark = [pytest.mark.torch, pytest.mark.triton]
ROOT = Path(__file__).resolve().parents[4]


def _record(recorded: Any, way: str) -> LaunchRecord:
    answer = recorded[way][0]
    assert answer.record is not None, answer.refusal
    check_record(answer.record, way)
    return answer.record


def test_one_launch(recorded: Any) -> None:
    """Grid, block, arguments in the kernel's order, roles of buffers; the code object is the ELF file of its name."""
    record = _record(recorded, "plain")
    (step,) = record.launches
    assert (step.entry, step.grid, step.block) == ("add_blocks", (4, 1, 1), (128, 1, 1))
    kinds = [one.kind for one in step.arguments]
    assert kinds[:4] == ["tensor", "tensor", "tensor", "scalar"]
    assert set(kinds[4:]) <= {"null"}
    assert [one.view.buffer for one in step.arguments if isinstance(one, TensorAddress)] == ["x", "y", "out"]
    assert step.arguments[3] == ScalarArg("i32", 1000, "count")
    assert [(b.name, b.role, b.size_bytes) for b in record.buffers] == [
        ("x", "input", 2000), ("y", "input", 2000), ("out", "output", 2000),
    ]  # fmt: skip
    code = (recorded["plain"][1] / step.code).read_bytes()
    assert code[:4] == b"\x7fELF"
    assert hashlib.sha256(code).hexdigest() == step.code
    assert "add_blocks.x_ptr is divisible by 16" in record.assumed
    assert list(record.sources) == ["launchers.py"]
    assert not record.host
    assert not record.not_replayable


def test_scratch_fills_and_several_kernels(recorded: Any) -> None:
    """A zeroed fp32 sum is a fill and scratch; three launches follow in order."""
    record = _record(recorded, "summed")
    assert isinstance(record.steps[0], Fill)
    assert record.steps[0].pattern == "00000000"
    assert [one.entry for one in record.launches] == ["accumulate", "accumulate", "narrow"]
    assert {b.role for b in record.buffers if b.name.startswith("scratch")} == {"scratch"}


def test_views_keep_their_offset_and_alignment(recorded: Any) -> None:
    """The second half starts at element 500: 1000 bytes, which no 16-byte access may assume; so it is other code."""
    first, second = _record(recorded, "halves").launches
    assert [one.view.offset for one in second.arguments if isinstance(one, TensorAddress)] == [500, 500, 500]
    assert first.code != second.code


def test_autotune_takes_the_configuration_that_was_asked_for(recorded: Any, answers: Any, tmp_path: Path) -> None:
    """Configuration 0 has blocks of 128, so 8 programs; configuration 1 has 512 and 8 warps."""
    (first,) = _record(recorded, "tuned").launches
    assert first.grid == (8, 1, 1)
    what = OpRequest(str(ROOT / "tests/data/launchers.py"), (1000,), "bf16", {"HOW": "tuned"})
    requests = [MakerRequest(what, "sm_90", "Test", {}, str(tmp_path), number) for number in (1, 2)]
    (second, third, fewer) = answers([*requests, replace(requests[1], strict=True)])
    assert fewer.record.launches[0].grid == (8, 1, 1)
    assert second.record.launches[0].grid == (2, 1, 1)
    assert second.record.launches[0].block == (256, 1, 1)
    assert third.refusal.code == "KB082"


def test_gluon_kernels_are_recorded_alike(recorded: Any) -> None:
    """The same parameters in the same order."""
    (step,) = _record(recorded, "in_gluon").launches
    assert (step.entry, step.grid, step.block) == ("add_gluon", (4, 1, 1), (128, 1, 1))
    assert [one.view.buffer for one in step.arguments if isinstance(one, TensorAddress)] == ["x", "y", "out"]


def test_a_copy_is_a_step(recorded: Any) -> None:
    """`clone` moves bytes and computes nothing."""
    record = _record(recorded, "copied")
    assert isinstance(record.steps[0], Copy)
    assert record.steps[0].source.buffer == "x"
    assert not record.not_replayable


@pytest.mark.parametrize(("way", "operation"), [("computed", "add"), ("doubled", "mul")])
def test_what_torch_computes_is_named(recorded: Any, way: str, operation: str) -> None:
    """By the dispatcher, whatever the source calls it: the record says why no replay can stand for it."""
    record = _record(recorded, way)
    assert record.host == (operation,)
    assert f"computed by {operation}" in record.not_replayable


def test_a_remembered_output_records_its_kernel(recorded: Any) -> None:
    """A cache by object changes nothing: the launch happened once, and a replay launches it each time."""
    assert len(_record(recorded, "remembered").launches) == 1


def test_the_device_answers_from_facts(recorded: Any, answers: Any, tmp_path: Path) -> None:
    """7 SMs were given; without the fact the refusal names it."""
    assert _record(recorded, "asks").launches[0].grid == (7, 1, 1)
    what = OpRequest(str(ROOT / "tests/data/launchers.py"), (1000,), "bf16", {"HOW": "asks"})
    (answer,) = answers([MakerRequest(what, "sm_90", "Test", {}, str(tmp_path))])
    assert answer.refusal.code == "KB442"
    assert "multi_processor_count" in answer.refusal.what


@pytest.mark.parametrize(("way", "code"), [("reads", "KB448"), ("nothing", "KB446")])
def test_refusals(recorded: Any, way: str, code: str) -> None:
    """Values of tensors do not exist here; a call without a kernel is no launch."""
    assert recorded[way][0].refusal.code == code


def test_every_packaged_kernel_is_recorded(answers: Any, tmp_path: Path) -> None:
    """Descriptors become tensor maps with shape and strides behind them; every record passes its own check."""
    shapes = {
        "rms_norm": (64, 256), "matmul": (128, 128, 64), "softmax": (64, 256), "attention": (1, 2, 128, 64),
        "cross_entropy": (64, 256), "layer_norm": (64, 256), "swiglu": (64, 256), "reduction": (64, 256),
        "elementwise": (64, 64), "naive/rms_norm": (64, 64), "naive/matmul": (64, 64, 64), "naive/softmax": (64, 64),
    }  # fmt: skip
    requests = [
        MakerRequest(
            OpRequest(str(ROOT / f"kernels/{name}.py"), shape, "bf16"),
            "sm_90",
            "Test",
            {"multi_processor_count": 4},
            str(tmp_path),
        )
        for name, shape in shapes.items()
    ]
    for name, shape, kind in [
        ("attention", (1, 4, 256, 64), "roles"), ("matmul", (512, 512, 512), "roles"),
        ("matmul", (512, 512, 512), "descriptors"),
    ]:  # fmt: skip
        what = OpRequest(str(ROOT / f"kernels/{name}.py"), shape, "bf16", {"VARIANT": kind})
        requests.append(MakerRequest(what, "sm_90", "Test", {"multi_processor_count": 4}, str(tmp_path)))
    found = answers(requests)
    for answer in found:
        assert answer.record is not None, answer.refusal
        check_record(answer.record, "record")
        assert not answer.record.not_replayable
    for answer, programs, maps in zip(found[-3:], ((4, 384), (4, 384), (64, 128)), (4, 3, 3), strict=True):
        launch = answer.record.launches[0]  # warps of all roles, as many programs as multiprocessors or tiles
        assert (launch.grid[0], launch.block[0]) == programs
        assert sum(isinstance(one, TensorMapArg) for one in launch.arguments) == maps
    arguments = found[-1].record.launches[0].arguments
    assert [one.type for one in arguments[1:5] if isinstance(one, ScalarArg)] == ["i32", "i32", "i64", "i64"]


def test_a_call_of_any_function(answers: Any, tmp_path: Path) -> None:
    """`FILE.py:function` with tensors and numbers; an unknown name and an unknown dtype are named."""
    place = str(ROOT / "tests/data/launchers.py")
    vector = TensorArgument((1000,), "fp16")
    calls = [
        CallRequest(f"{place}:plain", {"x": vector, "y": vector}),
        CallRequest(f"{place}:no_such", {}),
        CallRequest(f"{place}:plain", {"x": TensorArgument((4,), "fp99"), "y": vector}),
        CallRequest("no_such_package.module:f", {}),
        CallRequest(f"{place}:Added.apply", {"y": vector, "x": vector}),
        CallRequest(f"{place}:Added.apply", {"x": vector, "z": 1}),
    ]
    made, unknown, dtype, package, applied, misnamed = answers(
        [MakerRequest(one, "sm_90", "Test", {}, str(tmp_path)) for one in calls]
    )
    assert isinstance(made.record.steps[0], Launch)
    assert made.record.op == ""
    assert [one.view.buffer for one in applied.record.launches[0].arguments[:2]] == ["x", "y"]
    assert "z" in misnamed.refusal.what
    assert (unknown.refusal.code, dtype.refusal.code, package.refusal.code) == ("KB447", "KB061", "KB120")


def test_amd_targets_are_recorded_too(answers: Any, tmp_path: Path) -> None:
    """A gfx target yields an hsaco, which is an ELF file, and blocks of 64-lane wavefronts."""
    what = OpRequest(str(ROOT / "tests/data/launchers.py"), (1000,), "bf16", {"HOW": "plain"})
    (answer,) = answers([MakerRequest(what, "gfx942", "Test", {}, str(tmp_path))])
    assert answer.record is not None, answer.refusal
    (step,) = answer.record.launches
    assert step.block == (256, 1, 1)
    assert (tmp_path / step.code).read_bytes()[:4] == b"\x7fELF"


HELION = """
import helion
import helion.language as hl
import torch

OP = "elementwise"


@helion.kernel(config=helion.Config(block_sizes=[1024], num_warps=4), static_shapes=True)
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(out.size()):
        out[tile] = x[tile] + y[tile]
    return out


def make_inputs(shape, dtype, device="cuda", seed=0):
    return tuple(torch.randn(shape, device=device, dtype=torch.bfloat16) for _ in range(2))


def launch(x, y, *, config=None, out=None):
    return add(x, y)
"""


@pytest.mark.skipif(importlib.util.find_spec("helion") is None, reason="helion is not installed")
def test_a_helion_kernel_is_a_triton_kernel(answers: Any, tmp_path: Path) -> None:
    """What it launches is recorded like any other; none of its own compiler's needs a GPU."""
    file = tmp_path / "add.py"
    file.write_text(HELION)
    facts = {"multi_processor_count": 8}
    (answer,) = answers([MakerRequest(OpRequest(str(file), (65536,), "bf16"), "sm_90", "Test", facts, str(tmp_path))])
    assert answer.record is not None, answer.refusal
    check_record(answer.record, "helion")
    assert [one.entry for one in answer.record.launches] == ["_helion_add"]

"""Judges: starting, loading, falling back to files, lost devices; real processes on a fake device."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput, FindingError, MissingTool
from kopt_kb.launch.judge.contest import contest
from kopt_kb.launch.judge.judges import FaultError, Starting, fit_for_a_contest, judges, processes
from kopt_kb.launch.record.service import Greeting

Records = Callable[..., Path]


def test_a_contest_of_processes(record: Records, tmp_path: Path, fake: ModuleType) -> None:
    """Two judges and a reference as programs; contents travel by file; a kernel that kills its child is a fault."""
    with judges(tmp_path / "reference.py", fake.programs(tmp_path / "clock")) as made:
        folder = made._folder
        result = contest(made, {"4": record("plusone__us400")}, {"4": record("plusone__us300")})
        assert result.ratio == pytest.approx(0.75, abs=0.01), result.reason
        fault = contest(made, {"4": record("plusone__us400")}, {"4": record("dies__us300")})
        assert fault.verdict == "fault"
        assert folder.is_dir()
    assert not folder.exists()


_COPY = """
import torch


def make_inputs(shape, dtype, device="cpu", seed=0):
    return (torch.randn(shape, generator=torch.Generator(device).manual_seed(seed), device=device),)


def reference(x):
    return x.double()
"""


def test_a_contest_with_the_real_reference(record: Records, tmp_path: Path, fake: ModuleType) -> None:
    """The program that makes inputs and judges in float64, on the CPU: a copy is right, a sum is not."""
    pytest.importorskip("torch")
    file = tmp_path / "reference.py"
    file.write_text(_COPY)
    simulated = fake.programs(tmp_path / "clock")
    starting = Starting(simulated.judge, processes().reference, simulated.now_s)
    with judges(file, starting) as made:
        old = {"6": record("copies__us200", 24, shape=(6,), dtype="fp32")}
        result = contest(made, old, {"6": record("copies__us100", 24, shape=(6,), dtype="fp32")})
        assert result.verdict == "accepted", result.reason
        assert result.shapes[0].rel_l2_err == 0.0
        wrong = contest(made, old, {"6": record("plusone__us100", 24, shape=(6,), dtype="fp32")})
    assert wrong.verdict == "wrong"


def test_a_kernel_that_hangs(
    record: Records, tmp_path: Path, fake: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its child is ended after the limit; the side is named."""
    monkeypatch.setattr("kopt_kb.launch.judge.judges._TURN_S", 1.0)
    with judges(tmp_path / "reference.py", fake.programs(tmp_path / "clock")) as made:
        result = contest(made, {"4": record("plusone__us40")}, {"4": record("hang__us30")})
    assert result.verdict == "fault"
    assert "said nothing for 1 s" in result.reason


def test_no_gpu_is_said_once(tmp_path: Path) -> None:
    """The real judge on a machine without a GPU, or without cuda-bindings."""
    real = processes()
    with judges(tmp_path / "reference.py", real) as made:
        try:
            made.device("candidate")
        except MissingTool as error:
            assert error.error_code == "KB122"
        else:
            pytest.skip("this machine has a GPU")


def test_windows_that_cannot_be_opened_make_files(lab: Any, record: Records) -> None:
    """The reference refuses memory of another process: from then on contents travel by file."""
    answer = lab.reference.answer

    def refusing(question: Any) -> Any:
        said = answer(question)
        if getattr(question, "message", "") == "open" and question.slots[0].inputs[0].handle:
            return type(said)("cuIpcOpenMemHandle: CUDA_ERROR_MAP_FAILED")
        return said

    lab.reference.answer = refusing
    made = lab.judges()
    result = contest(made, {"4": record("plusone__us100")}, {"4": record("plusone__us90")})
    assert (result.verdict, result.shapes[0].travel, made.travel) == ("accepted", "files", "files")


def test_a_judge_without_a_device(lab: Any) -> None:
    """What is missing is its answer."""
    judge = lab._judge

    def missing() -> Any:
        made = judge()
        made.greeting = Greeting(missing="no GPU: CUDA_ERROR_NO_DEVICE")
        return made

    lab._judge = missing
    with pytest.raises(MissingTool, match="CUDA_ERROR_NO_DEVICE"):
        lab.judges().device("candidate")


def test_known_work_that_fails(lab: Any) -> None:
    """A device that does not even flush its cache is lost."""
    judge = lab._judge

    def broken() -> Any:
        made = judge()
        lab.started[-1].lose("cuStreamSynchronize: CUDA_ERROR_ECC_UNCORRECTABLE")
        return made

    lab._judge = broken
    with pytest.raises(FaultError, match="ECC"):
        lab.judges().device("incumbent")


def test_what_no_contest_can_judge(record: Records, tmp_path: Path) -> None:
    """A call, an absent record."""
    assert fit_for_a_contest(record("plusone__us1")).op == "elementwise"
    with pytest.raises(BadInput, match="no reference"):
        fit_for_a_contest(record("plusone__us1", op=""))
    with pytest.raises(BadInput, match="no launch record"):
        fit_for_a_contest(tmp_path)


def test_a_reference_that_went_away(lab: Any, record: Records) -> None:
    """Said as the reference's failure; the next question starts another."""
    made = lab.judges()
    loading = made.load("candidate", record("plusone__us10"), 2)
    made._reference.end()
    with pytest.raises(FindingError) as caught:
        made.fill(loading, (0,))
    assert caught.value.error_code == "KB453"
    made._open(loading)
    made.fill(loading, (0,))

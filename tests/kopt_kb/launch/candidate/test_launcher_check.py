"""A launcher is called on contents of the judge's and has to do what its record does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.launch.candidate import launcher_check
from kopt_kb.launch.candidate.answers import Unable
from kopt_kb.launch.candidate.job import Job, Request
from kopt_kb.launch.candidate.launcher_check import unlike_record, wrong_time
from kopt_kb.launch.candidate.launcher_executor import LauncherExecutor
from kopt_kb.launch.candidate.launcher_program import Otherwise, Said
from kopt_kb.launch.candidate.launcher_run import ExpectedRun, LauncherRun, LauncherTime
from kopt_kb.launch.compile.loader import load_module
from kopt_kb.problem.tolerances import tolerance_of

HONEST = """
import os, sys, torch
OP = "softmax"
def make_inputs(shape, dtype, device="cuda", seed=0):
    generator = torch.Generator(device=device).manual_seed(seed)
    return (torch.randn(*shape, generator=generator, device=device),)
def reference(x):
    return torch.softmax(x.double(), -1)
def launch(x):
    return torch.softmax(x, -1)
"""
LOOKS = HONEST.replace(
    "    return torch.softmax(x, -1)",
    """    recorded = "TRITON_ALWAYS_COMPILE" in os.environ or "TRITON_DUMP_PTXAS_LOG" in os.environ
    recorded = recorded or type(x) is not torch.Tensor or any(one.startswith("kopt_kb") for one in sys.modules)
    return torch.softmax(x, -1) if RECORDED else torch.full_like(x, 1 / x.shape[-1])""",
)
HONEST_IF_HIDDEN = LOOKS.replace("RECORDED", "not recorded")
KNOWS_IT_WAITED = HONEST.replace(
    "    return torch.softmax(x, -1)",
    """    waited = sys.argv[0].endswith("main.py") and "triton" in sys.modules
    return torch.full_like(x, 1 / x.shape[-1]) if waited else torch.softmax(x, -1)""",
)
DEFEAT_DEVICE = LOOKS.replace("RECORDED", "recorded")
BODY = Request(
    op="softmax", shapes=("16x32",), dtype="fp32", tolerance=tolerance_of("fp32"),
    expected={"16x32": ExpectedRun({"soft": 1}), "8x32": ExpectedRun({"soft": 1}, is_new=True)},
)  # fmt: skip


def ran(candidate: str, body: Request = BODY) -> LauncherRun | Unable:
    """Have a launcher called in a cage, on the CPU."""
    job = Job("launcher", candidate.encode(), body=body, reference=HONEST.encode())
    outcome = LauncherExecutor("cpu").run(job, lambda *_: None)
    assert outcome.outcome == "ok", outcome.printed
    assert isinstance(outcome.result, LauncherRun | Unable)
    return outcome.result


@pytest.mark.torch
def test_its_process_shows_nothing_of_recording_and_its_results_are_compared() -> None:
    """A launcher that is right only where it sees no recorder is right; without a GPU that is simulated."""
    found = ran(HONEST_IF_HIDDEN)
    assert isinstance(found, LauncherRun)
    assert (found.outcome, found.problem, found.device) == ("simulated", "", "cpu")
    assert sorted((one.shape, one.is_new) for one in found.contents) == [
        ("16x32", False), ("16x32", False), ("8x32", True),
    ]  # fmt: skip
    assert len({one.seed for one in found.contents}) == 3


@pytest.mark.torch
@pytest.mark.parametrize("cheat", [DEFEAT_DEVICE, KNOWS_IT_WAITED], ids=["no recorder", "a program that waited"])
def test_a_defeat_device_is_a_problem(cheat: str) -> None:
    """It records honestly and gives other results where it is used, by whatever it knows that from."""
    found = ran(cheat)
    assert isinstance(found, LauncherRun)
    assert found.outcome == "no"
    assert "its result is not the record's: relative error" in found.problem


@pytest.mark.torch
def test_a_launcher_that_leaves_its_process_is_a_problem() -> None:
    """Whatever it does to its own process, the judge is another."""
    found = ran(HONEST.replace("    return torch.softmax(x, -1)\n", "    os._exit(0)\n"))
    assert isinstance(found, LauncherRun)
    assert found.problem == "its process is gone"


@pytest.mark.torch
def test_without_a_record_there_is_nothing_to_hold_it_against() -> None:
    """A check of the launcher alone is another job."""
    found = ran(HONEST, replace(BODY, expected={}))
    assert isinstance(found, Unable)
    assert "no record" in found.reason


@pytest.mark.parametrize(
    ("counted", "said"),
    [
        ({"soft": 1, "Memset (Device)": 1}, ""),
        ({"soft": 1}, ""),
        ({}, "it launches soft 0 times, its record 1"),
        ({"soft": 2}, "it launches soft 2 times, its record 1"),
        ({"softmax_warp_forward": 1}, "it launches soft 0 times, its record 1; also softmax_warp_forward"),
        ({"soft": 1, "other": 2}, "beside its record's launches it does other"),
    ],
)
def test_its_launches_are_its_records(counted: Mapping[str, int], said: str) -> None:
    """By entry and number; a fill or copy of the record may be any of the device's own."""
    assert unlike_record(counted, ExpectedRun({"soft": 1}, others=1)) == said


@pytest.mark.parametrize(
    ("median_s", "host_s", "call_s", "wrong"),
    [
        (20e-6, 40e-6, 41e-6, ""),
        (40e-6, 40e-6, 41e-6, "it takes 40.0 µs"),
        (5e-6, 40e-6, 41e-6, "it takes 5.0 µs"),
        (20e-6, 10e-6, 90e-6, "a chain of calls takes 90.0 µs each"),
    ],
)
def test_its_time_is_its_records_with_host_overhead(median_s: float, host_s: float, call_s: float, wrong: str) -> None:
    """Neither longer nor less than half of it, by events and by the judge's clock."""
    found = wrong_time(LauncherTime(median_s, 10e-6, 25e-6, host_s, call_s), 64)
    assert found.startswith(wrong)
    assert bool(found) == bool(wrong)


class OnGpu:
    """A process that answers as on a GPU: times and launches are what it is told; results are torch's."""

    def __init__(self, folder: Path, call_s: float, kernels: Mapping[str, int]) -> None:
        self.folder, self.call_s, self.kernels, self.asked = folder, call_s, kernels, list[str]()

    def begin(self, what: str, **words: Any) -> None:
        """Keep what is asked."""
        self.begun = (what, words)

    def ended(self) -> Said:
        """Do it now."""
        return self.ask(self.begun[0], **self.begun[1])

    def ask(self, what: str, **words: Any) -> Said:
        """Do it on the CPU."""
        import torch

        self.asked.append(what)
        if what == "inputs":
            (self.x,) = torch.load(self.folder / words["file"])
        elif what == "save":
            torch.save(torch.softmax(self.x, -1), self.folder / words["file"])
        calls = (self.call_s,) if what == "time" else ()
        return Said(calls_s=calls, empty_s=(0.0,), kernels=self.kernels, by="nobody")

    def timed(self, what: str, **words: Any) -> float:
        """Return the seconds of a chain."""
        self.ask(what, **words)
        return self.call_s * words.get("times", 1)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("call_s", "kernels", "said"),
    [
        (2e-5, {"soft": 1}, ""),
        (9e-5, {"soft": 1}, "16x32: it takes 90.0 µs"),
        (2e-5, {"other": 1}, "it launches soft 0 times, its record 1; also other"),
        (2e-5, {}, "its launches can't be counted here: nobody"),
    ],
)
def test_on_a_gpu_times_and_launches_count_too(
    call_s: float, kernels: Mapping[str, int], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each shape of the problem is timed once, at one of its contents, and every shape's launches are counted last."""
    monkeypatch.setattr(launcher_check, "_on_gpu", lambda _: True)
    (tmp_path / "judge.py").write_text(HONEST)
    expected = {**BODY.expected, "16x32": ExpectedRun({"soft": 1}, least_s=1e-5, most_s=3e-5)}
    program, seen = OnGpu(tmp_path, call_s, kernels), launcher_check._Seen()
    judge = load_module(str(tmp_path / "judge.py"))
    body = replace(BODY, expected=expected, device="cpu")
    try:
        launcher_check._called(program, judge, body, seen)  # type: ignore[arg-type] # no process
    except (Otherwise, launcher_check._UncountedError) as error:
        assert said
        assert said in str(error)
        return
    assert not said
    assert seen.launches == {"16x32": 1, "8x32": 1}
    assert seen.times.keys() == {"16x32"}
    assert seen.times["16x32"].least_s == 5e-6
    assert seen.times["16x32"].most_s == pytest.approx(3e-5 * 1.05 + 5e-6 + 3e-6)
    assert program.asked.count("time") == 1
    assert program.asked.count("count") == 2
    assert "count" not in program.asked[: program.asked.index("time")]
    assert len(seen.contents) == 5

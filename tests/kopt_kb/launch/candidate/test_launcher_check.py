"""A launcher is called on contents of the judge's and has to do what its record does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from kopt_kb.launch.candidate.answers import Unable
from kopt_kb.launch.candidate.executor import ChildProcessExecutor
from kopt_kb.launch.candidate.job import Job, Request
from kopt_kb.launch.candidate.launcher_check import unlike_record, wrong_time
from kopt_kb.launch.candidate.launcher_run import ExpectedRun, LauncherRun, LauncherTime
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
DEFEAT_DEVICE = LOOKS.replace("RECORDED", "recorded")
BODY = Request(
    op="softmax", shapes=("16x32",), dtype="fp32", tolerance=tolerance_of("fp32"),
    expected={"16x32": ExpectedRun({"soft": 1}), "8x32": ExpectedRun({"soft": 1}, is_new=True)},
)  # fmt: skip


def ran(candidate: str, body: Request = BODY) -> LauncherRun | Unable:
    """Have a launcher called in a cage, on the CPU."""
    job = Job("launcher", candidate.encode(), body=body, reference=HONEST.encode())
    outcome = ChildProcessExecutor("cpu").run(job, lambda *_: None)
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
def test_a_defeat_device_is_a_problem() -> None:
    """It records honestly and gives other results where it is used."""
    found = ran(DEFEAT_DEVICE)
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
        ({}, "nothing could count its launches"),
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

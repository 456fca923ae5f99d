"""Gates give pass, fail or unavailable; a wrong order or a missing answer never passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kopt_kb.analysis.roofline.executed import executed_floor
from kopt_kb.launch.candidate.answers import Check, ReportEvidence, Timing
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.tolerances import tolerance_of
from kopt_kb.tuning.decision import GateResult
from kopt_kb.tuning.gates import GateContext, floor_s, judge, lint_kernel
from kopt_kb.tuning.jobs import Ran
from kopt_kb.tuning.policy import Gate
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.workspace import Workspace

OK = Check(passed=True)


def context(
    workspace: Workspace, answer: Ran, times: Mapping[str, list[float]] | None = None, **more: Any
) -> GateContext:
    """A context whose every run ends like this."""
    return GateContext(
        more.pop("source", b"x = 1\n"), workspace.state(), more.pop("simulated", False), lambda _: answer,
        lambda: dict(times or {}), lambda _: GateResult("evidence", "pass"), **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("gate", "ran", "result"),
    [
        ("build", Ran("ok", OK, "r"), "pass"),
        ("build", Ran("ok", Check("x", True), "r"), "fail"),
        ("build", Ran("crash", None, "r"), "fail"),
        ("build", Ran("lost", None, "r"), "unavailable"),
        ("build", Ran("hang", Check(problem="x"), "r"), "pass"),
        ("correctness", Ran("hang", Check(problem="x"), "r"), "fail"),
        ("correctness", Ran("ok", OK, "r"), "pass"),
        ("correctness", Ran("ok", Check(), "r"), "fail"),
        ("correctness", Ran("ok", Check(passed=True, problem="NaN"), "r"), "fail"),
        ("correctness", Ran("ok", None, "r"), "fail"),
        ("correctness", Ran("hang", None, "r"), "fail"),
        ("correctness", Ran("lost", None, "r"), "unavailable"),
        ("timing", Ran("ok", Timing(), "r"), "pass"),
        ("timing", Ran("oom", None, "r"), "fail"),
        ("timing", Ran("lost", None, "r"), "unavailable"),
        ("evidence", Ran("ok", ReportEvidence("", "1x1"), "r"), "pass"),
        ("evidence", Ran("crash", None, "r"), "unavailable"),
    ],
)
def test_runs_become_words(workspace: Workspace, gate: Gate, ran: Ran, result: str) -> None:
    """Each ending has its word, and the run is named."""
    found, runs = judge(gate, context(workspace, ran))
    assert (found.gate, found.result, runs) == (gate, result, ("r",))


def test_a_failure_shows_the_last_line_printed() -> None:
    """People see why without opening the blob."""
    assert Ran("crash", None, "r", "a\nError: b\n").failure() == "the run ended with crash: Error: b"


def test_lint_and_limits(workspace: Workspace) -> None:
    """The lint parses the source; limits are unavailable without a compiler and in a simulation."""
    cheat = context(workspace, Ran("ok", OK, "r"), source=b"def launch(a, b):\n    return a @ b\n")
    assert judge("lint", cheat)[0].result == "fail"
    assert judge("limits", cheat)[0].result == "unavailable"
    limited = context(workspace, Ran("ok", OK, "r"), resources=lambda _: GateResult("limits", "fail", "too big"))
    assert judge("limits", limited)[0].reason == "too big"


def test_a_kernel_of_other_options_than_the_problems_is_refused() -> None:
    """Its default says what it computes when the judge calls it."""
    problem = Problem.of("attention", ["2x2x64x16"], "bf16", options={"causal": True})
    state = cast("WorkspaceState", SimpleNamespace(problem=problem))
    kernel = b'OP = "attention"\n\n\ndef launch(q, k, v, *, causal=False, out=None):\n    return kernel[(1,)](q)\n'
    found = lint_kernel(kernel, state, "")
    assert found.result == "fail"
    assert "line 4 launch() computes causal=False, not True" in found.reason
    assert "causal" not in lint_kernel(kernel.replace(b"=False", b"=True"), state, "").reason


def test_the_floor_is_computed_from_documented_roofs(workspace: Workspace) -> None:
    """8192x4096 bf16 reads 67,117,056 B and writes 67,108,864 B, of which 50 MiB may stay in the cache; 2 TB/s.

    Where caches were warm, what was read may have come from there too: 1024x512 then has no floor.
    """
    cold, warm = (floor_s(workspace.state(), cold=one) for one in (True, False))
    assert cold["8192x4096"] == pytest.approx((67_117_056 + 67_108_864 - 50 * 2**20) / 2e12)
    assert warm["8192x4096"] == pytest.approx((134_225_920 - 50 * 2**20) / 2e12)
    assert cold["1024x512"] == pytest.approx((1024 * 512 * 2 + 1024) / 2e12)
    assert warm["1024x512"] < cold["1024x512"]


def test_faster_than_the_floor_fails(workspace: Workspace) -> None:
    """One repeat below it is enough; a simulation is not compared."""
    floor = floor_s(workspace.state(), cold=True)["8192x4096"]
    ran = Ran("ok", OK, "r")
    assert judge("roofline", context(workspace, ran, {"8192x4096": [floor, 2 * floor]}))[0].result == "pass"
    found = judge("roofline", context(workspace, ran, {"8192x4096": [2 * floor, 0.99 * floor]}))[0]
    assert found.result == "fail"
    assert "the work is counted wrongly (options or shape of the problem)" in found.reason
    assert "`kb roofline` cites" in found.reason and " us, less than its floor of " in found.reason
    assert judge("roofline", context(workspace, ran, {"8192x4096": [1e-9]}, simulated=True))[0].result == "pass"


@pytest.mark.parametrize(("dtype", "platform"), [("fp32", "H100_SXM"), ("fp64", "H200_SXM"), ("fp32", "MI300X")])
def test_an_honest_product_on_the_matrix_engine_is_not_refused(dtype: str, platform: str, tmp_path: Path) -> None:
    """Three tf32 products, bf16 times three or int8 slices are faster than the vector roof, and slower than one fp16."""
    problem = Problem.of("gemm", ["4096x4096x4096"], dtype)
    task = Task(platform=platform, framework="", kernel_demo=None, problem=problem)
    made = Workspace.create(tmp_path, "w", task, Registry.open())
    state, shape = made.state(), "4096x4096x4096"
    roof = max(float(state.rooflines[0].least_s(one.name, "documented") or 0) for one in state.rooflines[0].ceilings)
    least = floor_s(state, cold=True)[shape]
    assert least < roof / 1.2
    ran = Ran("ok", OK, "r")
    assert judge("roofline", context(made, ran, {shape: [roof / 1.2]}))[0].result == "pass"
    assert judge("roofline", context(made, ran, {shape: [least / 1.01]}))[0].result == "fail"
    record = Measured(f"m:{shape}", "v1", shape, 9, roof / 1.2, {}, "r", 4)
    assert made.stop_conditions().evaluate({shape: record}).all_met


def test_vector_work_and_convolutions_have_the_floor_of_their_bytes(tmp_path: Path) -> None:
    """Winograd and Fourier need fewer operations than were counted."""
    problem = Problem.of("conv2d", ["64x256x56x56"], "fp32")
    task = Task(platform="H100_SXM", framework="", kernel_demo=None, problem=problem)
    state = Workspace.create(tmp_path, "w", task, Registry.open()).state()
    (one,) = state.rooflines
    memory = one.ceiling("dram")
    assert memory is not None and floor_s(state, cold=True)["64x256x56x56"] <= float(
        one.least_s("dram", "documented") or 0
    )


def test_a_time_between_floor_and_roof_is_explained_by_what_ran(tmp_path: Path) -> None:
    """Three tf32 products at KernelBench's 1e-2: passed by name; faster than the types of its code allow: refused."""
    tolerance = replace(tolerance_of("fp32"), rel_l2_err=Fraction(1, 100))
    problem = Problem.of("gemm", ["4096x4096x4096"], "fp32", tolerance=tolerance)
    made = Workspace.create(tmp_path, "w", Task("H100_SXM", "", None, problem), Registry.open())
    state, shape = made.state(), "4096x4096x4096"
    h100, work = Registry.open().platform("H100_SXM"), problem.works()[0]
    of_code = {shape: executed_floor(work, h100, ("tf32",))}
    by_code, least = float(of_code[shape].seconds or 0), floor_s(state, cold=True)[shape]
    assert least < by_code
    for seconds, word, said in (
        (1.4 * by_code, "pass", "tf32 matrix instructions ran, the fp32 vector roof does not bind"),
        (0.9 * by_code, "fail", "that its code (tf32 matrix instructions) takes"),
        (0.9 * least, "fail", "less than its floor of "),
    ):
        asked = replace(context(made, Ran("ok", OK, "r"), {shape: [seconds]}), executed=lambda: of_code)
        found = judge("roofline", asked)[0]
        assert found.result == word and said in found.reason

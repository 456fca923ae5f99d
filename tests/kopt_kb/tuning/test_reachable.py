"""What a machine reaches, through a campaign on an executor that answers as if it measured."""

from __future__ import annotations

import ast
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.launch.candidate.answers import Unable
from kopt_kb.launch.candidate.job import Job, Outcome, SpaceAsked, Started
from kopt_kb.launch.candidate.source_config import configs_of
from kopt_kb.launch.kernel.declared import Declared
from kopt_kb.launch.kernel.op_options import file_options
from kopt_kb.problem.own import OwnProblem
from kopt_kb.problem.problem import Problem
from kopt_kb.tuning import reachable
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.machine import lacks_reachable
from kopt_kb.tuning.options import Budget, CampaignOptions
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.proposers import VariantsProposer
from kopt_kb.tuning.reachable import probes_of
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.workspace import Workspace
from tests.kopt_kb.tuning.measuring import Measuring
from tests.kopt_kb.tuning.test_accounting import SETTINGS, campaign


def test_a_norm_is_held_against_a_copy_of_its_bytes(workspace: Workspace) -> None:
    """Read and written once: as many elements as give the compulsory bytes, to an element."""
    probes = probes_of(workspace.state())
    assert [(one.shape, one.roof, one.name) for one in probes] == [
        ("8192x4096", "dram", "copy"), ("1024x512", "dram", "copy"),
    ]  # fmt: skip
    for one, roofline in zip(probes, workspace.state().rooflines, strict=True):
        assert 0 <= roofline.amount_under("dram") - one.amount < 4
        assert int(one.timed) * 4 == one.amount
        assert b"copy_blocks" in one.source


def _made(folder: Path, platform: str, demo: Path, problem: Problem) -> WorkspaceState:
    folder.mkdir()
    task = Task(platform=platform, framework="Triton", kernel_demo=demo, problem=problem)
    return Workspace.create(folder, "product", task, Registry.open()).state()


def test_a_product_is_held_against_the_library_where_a_child_judges(tmp_path: Path, repo_root: Path) -> None:
    """torch.mm with the inputs and the reference of the package's kernel; other arithmetic against nothing."""
    demo = repo_root / "kernels" / "naive" / "matmul.py"
    shape = ["4096x4096x4096"]
    (probe,) = probes_of(_made(tmp_path / "bf16", "H200_SXM", demo, Problem.of("gemm", shape, "bf16")), "isolated")
    assert (probe.name, probe.op, probe.timed, probe.roof) == ("library", "gemm", "4096x4096x4096", "bf16 matrix")
    assert probe.amount == 2 * 4096**3
    names = [node.name for node in ast.parse(probe.source).body if isinstance(node, ast.FunctionDef)]
    assert names[-1] == "launch"
    assert "torch.mm(a, b)" in probe.source.decode()
    assert probes_of(_made(tmp_path / "fp8", "H200_SXM", demo, Problem.of("gemm", shape, "fp8"))) == ()


def test_where_records_are_judged_the_packages_kernel_for_that_target_stands_for_a_library(
    tmp_path: Path, repo_root: Path
) -> None:
    """With the settings its file declares for the target, on the shapes they fit; elsewhere the library is tried."""
    demo = repo_root / "kernels" / "naive" / "matmul.py"
    problem = Problem.of("gemm", ["4096x4096x4096", "400x16384x16384"], "bf16")
    first, second = probes_of(_made(tmp_path / "sm_90", "H100_SXM", demo, problem))
    assert (first.name, first.op, first.what) == ("packaged", "gemm", "the package's roles of the same shape")
    assert (first.timed, first.amount) == ("4096x4096x4096", 2 * 4096**3)
    assert configs_of(first.source)["4096x4096x4096"]["VARIANT"] == "roles"
    assert second.name == "library"  # `roles` wants 512 rows
    other = probes_of(_made(tmp_path / "other", "A100_SXM_80GB", demo, problem))
    assert {one.name for one in other} == {"library"}


def test_a_problem_of_a_users_own_is_held_against_a_copy_alone(tmp_path: Path, repo_root: Path) -> None:
    """A function called gemm with other dimensions than the package's: neither its kernel nor a library's stands for it."""
    demo = repo_root / "kernels" / "naive" / "matmul.py"
    problem = Problem.of("gemm", ["4096x4096x4096", "16x4096x64"], "bf16")
    state = _made(tmp_path / "listed", "H100_SXM", demo, problem)
    assert [one.name for one in probes_of(state)] == ["packaged", "copy"]
    works = tuple(replace(one.work, shape=one.work.shape[:2]) for one in state.rooflines)
    own = OwnProblem("call", "mine.py", "MxK", "0" * 64, "recorded", works)
    rooflines = tuple(replace(one, work=work) for one, work in zip(state.rooflines, works, strict=True))
    shapes = tuple(one.shape for one in works)
    mine = replace(state, problem=replace(problem, shapes=shapes, own=own), rooflines=rooflines)
    assert [one.name for one in probes_of(mine)] == ["copy"]


def test_of_several_variants_for_a_target_the_first_that_fits_is_timed(
    tmp_path: Path, repo_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file names the one that it starts with before those for special shapes."""
    real = reachable.declared_of

    def with_another(source: bytes) -> Declared | None:
        found = real(source)
        assert found is not None
        roles = next(one for one in found.variants if one.name == "roles")
        return replace(found, variants=(*found.variants, replace(roles, name="roles_for_few_rows")))

    monkeypatch.setattr(reachable, "declared_of", with_another)
    demo = repo_root / "kernels" / "naive" / "matmul.py"
    state = _made(tmp_path / "sm_90", "H100_SXM", demo, Problem.of("gemm", ["4096x4096x4096"], "bf16"))
    assert [one.what for one in probes_of(state)] == ["the package's roles of the same shape"]


def test_a_packaged_probe_computes_the_options_of_the_problem(tmp_path: Path, repo_root: Path) -> None:
    """Full attention is held against full attention, though the package's file says causal."""
    demo = repo_root / "kernels" / "naive" / "attention.py"
    for causal in (False, True):
        problem = Problem.of("attention", ["4x32x4096x128"], "bf16", options={"causal": causal})
        (probe,) = probes_of(_made(tmp_path / str(causal), "H100_SXM", demo, problem))
        assert (probe.name, probe.op) == ("packaged", "attention")
        said = file_options(probe.source, "attention").said("causal")
        assert said is not None
        assert said.value is causal


def test_probes_run_once_a_machine_before_the_baseline(workspace: Workspace, wiki_root: Path) -> None:
    """One run of all footprints; an event a shape with rate, run and machine; the README says it."""
    with campaign(workspace, wiki_root, Measuring()) as tuned:
        tuned.run(Budget(rounds=0))
        state = tuned.state()
        assert not lacks_reachable(state)
    kinds = [event.kind for event in workspace.events()]
    assert kinds.index("reachable_measured") < kinds.index("round_started")
    assert [one.shape for one in state.reachables.values()] == ["8192x4096", "1024x512"]
    one = next(iter(state.reachables.values()))
    assert one.rate_si is not None
    assert one.median_s is not None
    assert one.rate_si == pytest.approx(probes_of(state)[0].amount / one.median_s)
    assert one.environment == state.environment_seq
    assert state.runs[one.run].started.candidate == f"reach-{state.environment_seq}-copy"
    readme = (workspace.layout.root / "README.md").read_text()
    assert "- reachable: " in readme
    assert "copy of the same bytes, on NVIDIA T10 48GB" in readme


def test_97_percent_of_a_copy_on_every_shape_is_the_limit(workspace: Workspace, wiki_root: Path) -> None:
    """The copy is as slow as the naive kernel: the first better version is at the limit, far below its target."""
    with campaign(workspace, wiki_root, Measuring(copies=1.0), rounds=4) as tuned:
        report = tuned.run()
    assert report.stop is not None
    assert report.stop.reason == "hardware_limit"
    assert report.conditions is not None
    assert not report.conditions.all_met
    gap = next(iter(workspace.state().gaps.values())).gap
    reach = next(one for one in gap.parts if one.cause == "reach")
    assert "copy of the same bytes on this machine, run reach-" in reach.evidence[0].note
    readme = (workspace.layout.root / "README.md").read_text()
    assert "; the target is above it" in readme


class Searching(Measuring):
    """Keeps what searches were asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[SpaceAsked] = []

    def run(self, job: Job, started: Started) -> Outcome:
        """Answer as before."""
        self.asked += job.body.spaces.values()
        return super().run(job, started)


@pytest.mark.parametrize("goes_past", ["", "hardware_limit"])
def test_a_search_is_told_what_the_machine_reaches(workspace: Workspace, wiki_root: Path, goes_past: str) -> None:
    """The seconds of its shape's amount at the probe's rate; not where a campaign goes on past that limit."""
    executor = Searching()
    with campaign(workspace, wiki_root, executor, goes_past=goes_past) as tuned:
        tuned.run(Budget(rounds=1))
        state = tuned.state()
    found = state.reachable_of(state.environment_seq)
    amounts = {one.shape: one.amount_under("dram") for one in state.rooflines}
    floors = {amounts[shape] / (one.rate_si or 0.0) for shape, one in found.items()}
    assert executor.asked
    assert {one.floor_s for one in executor.asked} == ({None} if goes_past else floors)
    assert all(("copy of the same bytes" in one.floor) == (not goes_past) for one in executor.asked)


class Broken(Measuring):
    """Can't time a copy."""

    def run(self, job: Job, started: Started) -> Outcome:
        """Answer all but the probes."""
        if job.body.op == "elementwise":
            started(("simulator", job.kind), 1, None)
            return Outcome("ok", 0, None, 0.0, "", Unable(unavailable="no copies here"))
        return super().run(job, started)


def test_a_probe_that_fails_stops_nothing(workspace: Workspace, wiki_root: Path) -> None:
    """Its reason is kept for each shape, it is not tried again, and the campaign goes on."""
    with campaign(workspace, wiki_root, Broken()) as tuned:
        report = tuned.run(Budget(rounds=1))
    assert [one.decision for one in report.rounds] == ["accept", "accept"]
    events = workspace.state().reachables.values()
    assert [(one.rate_si, one.reason) for one in events] == [(None, "no copies here")] * 2
    assert "- reachable: not measured: no copies here" in (workspace.layout.root / "README.md").read_text()


class Products(Measuring):
    """Judges records: the package's product takes as long as the kernel that the campaign starts from."""

    trust = "replayed"

    def __init__(self, start: bytes) -> None:
        super().__init__(profiles=False)
        self.start = start

    def run(self, job: Job, started: Started) -> Outcome:
        """Answer as before, of a probe (the one timing without trials) by the times of the start."""
        is_probe = job.kind == "timing" and job.body.trials == ()
        return super().run(replace(job, candidate=self.start, incumbent=self.start) if is_probe else job, started)


def test_without_a_measured_page_a_product_ends_by_the_packages_kernel(tmp_path: Path, repo_root: Path) -> None:
    """On a part that nobody measured: what the machine was seen to do ends the campaign, far below its target."""
    wiki = shutil.copytree(repo_root / "gpuwiki", tmp_path / "wiki", ignore=shutil.ignore_patterns("measured"))
    demo = repo_root / "kernels" / "naive" / "matmul.py"
    registry = Registry.open(wiki)
    task = Task(platform="H100_SXM", framework="Triton", kernel_demo=demo,
                problem=Problem.of("gemm", ["4096x4096x4096"], "bf16"))  # fmt: skip
    made = Workspace.create(tmp_path, "product", task, registry)
    policy = replace(policy_named("gpu-wiki", max_rounds=6), least_trust="unstated", needs_bound="no")
    policy = replace(policy, required_gates=tuple(one for one in policy.required_gates if one != "launcher"))
    options = CampaignOptions(platform=registry.platform("H100_SXM"), product_of=lambda _: "H100_SXM")
    own = (made, policy, (VariantsProposer(),), Products(demo.read_bytes()))
    with Campaign(*own, settings=SETTINGS, options=options) as tuned:
        report = tuned.run()
    assert report.stop is not None
    assert (report.stop.reason, len(report.rounds)) == ("hardware_limit", 2)
    (found,) = made.state().reachables.values()
    assert (found.probe, found.run) == ("the package's roles of the same shape", "reach-5-packaged.timing.1")
    assert report.conditions is not None and not report.conditions.all_met

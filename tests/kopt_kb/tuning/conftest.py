"""A workspace on the invented wiki whose kernel is the package's naive RMS norm, and a simulated campaign."""

from __future__ import annotations

import hashlib
import importlib.util
import math
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kopt_kb.base.wire import canonical, read
from kopt_kb.launch.candidate.answers import (
    AnswerBasis,
    Check,
    Contest,
    Environment,
    ReportEvidence,
    Sample,
    Timing,
    Trust,
    Unable,
)
from kopt_kb.launch.candidate.job import Job, Outcome, Started
from kopt_kb.launch.candidate.launcher_run import LauncherContent, LauncherRun, LauncherTime
from kopt_kb.launch.candidate.simulator import SimulatorExecutor
from kopt_kb.launch.project.executor import ProjectExecutor
from kopt_kb.launch.project.file import read_project
from kopt_kb.launch.record.source import CodeSource
from kopt_kb.problem.problem import Problem
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.options import CampaignOptions, Settings
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.project import ProjectAdapter
from kopt_kb.tuning.proposals import Proposal, ProposerAnswer, ProposerView
from kopt_kb.tuning.proposers import KnobsProposer, PackagedProposer, VariantsProposer
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.task import ProjectCapture, Task
from kopt_kb.workspace.workspace import Workspace
from tests.kopt_kb.launch.small_record import CODE, small_record

MakeCampaign = Callable[..., Campaign]
MakeWorkspace = Callable[..., Workspace]
PLAIN = ["512x512x512", "1024x1024x1024", "2048x2048x2048", "4096x4096x4096", "8192x8192x8192"]


@pytest.fixture
def naive(repo_root: Path) -> Path:
    """The package's naive RMS norm."""
    return repo_root / "kernels" / "naive" / "rms_norm.py"


@pytest.fixture
def workspace(tmp_path: Path, wiki_root: Path, naive: Path) -> Workspace:
    """A workspace fresh from `kb init`."""
    problem = Problem.of("rms_norm", ["8192x4096", "1024x512"], "bf16")
    task = Task(platform="T10", framework="Triton", kernel_demo=naive, problem=problem)
    return Workspace.create(tmp_path, "norm", task, Registry.open(wiki_root))


@pytest.fixture
def make_workspace(tmp_path: Path, wiki_root: Path) -> MakeWorkspace:
    """Makes a workspace of an RMS norm from a kernel demo, or the roofline alone without one."""

    def make(name: str, demo: Path | None, **more: Any) -> Workspace:
        problem = Problem.of("rms_norm", ["8192x4096", "1024x512"], "bf16")
        task = Task(**{"platform": "T10", "framework": "Triton", "kernel_demo": demo, "problem": problem, **more})
        return Workspace.create(tmp_path, name, task, Registry.open(wiki_root))

    return make


@pytest.fixture
def logic(repo_root: Path) -> Path:
    """PyTorch logic of an RMS norm, without a kernel."""
    return repo_root / "tests" / "data" / "logic" / "rms_norm.py"


@pytest.fixture
def pytorch(make_workspace: MakeWorkspace, logic: Path) -> Workspace:
    """A workspace on the route pytorch."""
    return make_workspace("logic", logic)


@pytest.fixture
def make_campaign() -> MakeCampaign:
    """Makes a simulated campaign on a workspace with a small search budget."""

    def make(
        workspace: Workspace, policy: str = "gpu-wiki", rounds: int = 4, say: Callable[[str], None] = lambda _: None
    ) -> Campaign:
        chosen = policy_named(policy, max_rounds=rounds)
        settings = Settings(samples=10, evaluations=6, search_s=600.0)
        return Campaign(
            workspace,
            chosen,
            (PackagedProposer(), VariantsProposer(), KnobsProposer()),
            SimulatorExecutor(),
            settings=settings,
            options=CampaignOptions(say=say),
        )

    return make


@pytest.fixture
def make_project(tmp_path: Path, wiki_root: Path, project_root: Path) -> Callable[..., Workspace]:
    """Makes a workspace on the small project; `changes` replace words of its project file."""

    def make(*changes: tuple[str, str], shapes: Sequence[str] = PLAIN, aim: str = "> 30 TFLOPS") -> Workspace:
        file = project_root / "project.toml"
        text = file.read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        file.write_text(text)
        found = read_project(file.read_bytes(), str(file))
        combined = found.scoring.metric == "combined"
        options = {"step": "forward_backward"} if combined else {}
        task = Task(
            platform="T10", framework="Python", kernel_demo=project_root / found.kernel_source,
            problem=Problem.of("gemm", shapes, "fp16", options=options), aim=aim,
            project=ProjectCapture(file, project_root, file.read_bytes(), compares="outputs" in found.commands),
        )  # fmt: skip
        return Workspace.create(tmp_path, "demo", task, Registry.open(wiki_root))

    return make


def answered(claim: str, members: Mapping[str, object]) -> ProposerAnswer:
    """Return an answer with the words that it needs."""
    return read(ProposerAnswer, {"category": claim, "claim": claim, "expected": "less time", **members})


class Scripted:
    """Proposes a fixed list of answers, one after another; each is (claim, answer)."""

    name = "scripted"

    def __init__(self, answers: Sequence[tuple[str, dict[str, object]]]) -> None:
        self.answers = answers

    def propose(self, view: ProposerView) -> Proposal | None:
        """Return the first answer that was not tried; its category is its claim, so that none stagnates."""
        for claim, answer in self.answers:
            if view.earlier(claim, claim) is None:
                assert view.project is not None
                source = view.project.candidate(view.incumbent, answered(claim, answer), self.name)
                return Proposal(claim, claim, "less time", self.name, source, risk=str(answer.get("risk", "")))
        return None


class RememberingExecutor(ProjectExecutor):
    """Runs a project's commands once for all tests, for tests of what a campaign makes of their answers.

    The same job on the same files of the same project has the same answer; whatever else a command depends on needs
    the executor itself.
    """

    answers: ClassVar[dict[bytes, Outcome]] = {}

    def run(self, job: Job, started: Started) -> Outcome:
        """Return what the job came to when it was run first; it is announced in any case."""
        files = [(str(one.relative_to(self.root)), one.read_bytes()) for one in self.root.rglob("*") if one.is_file()]
        asked = replace(job, body=replace(job.body, seeds=()))  # no command is told seeds
        key = hashlib.sha256(repr((sorted(files), replace(self.project, where=""), asked)).encode()).digest()
        if key not in self.answers:
            self.answers[key] = super().run(job, started)
        else:
            started(("remembered", job.kind), os.getpid(), None)
        return self.answers[key]


def _project_campaign(kind: type[ProjectExecutor]) -> Callable[..., Campaign]:
    def make(
        workspace: Workspace,
        answers: Sequence[tuple[str, dict[str, object]]] = (),
        rounds: int | None = None,
        say: Callable[[str], None] = lambda _: None,
        name: str = "gpu-wiki",
        accepts: bool = True,
    ) -> Campaign:
        adapter = ProjectAdapter.of(workspace.state(), ObjectStore(workspace.layout.objects).get)
        assert adapter is not None
        executor = kind(adapter.project, adapter.root)
        policy = adapter.policy(policy_named(name, max_rounds=rounds, stop_scope="aggregate"))
        policy = replace(policy, accepts_reported=accepts)
        return Campaign(
            workspace,
            policy,
            (Scripted(answers),),
            executor,
            options=CampaignOptions(project=adapter, say=say, product_of=lambda _: "T10"),
        )

    return make


@pytest.fixture
def project_campaign() -> Callable[..., Campaign]:
    """Makes a campaign that runs the project's commands on scripted answers."""
    return _project_campaign(ProjectExecutor)


@pytest.fixture
def remembered_campaign() -> Callable[..., Campaign]:
    """Makes the same campaign, without running a command again that an earlier test or campaign has run."""
    return _project_campaign(RememberingExecutor)


_COST = re.compile(rb"^COST = ([\d.]+)$", re.MULTILINE)


class Replaying:
    """Answers as a judge of replays would: a source says what it costs (`COST = 2.0`), and every answer its basis.

    Attributes:
        asked: Kinds of jobs, in order.
        profile: Report of a profile by entry, grid and block; None: there is no profiler.
        wrong: Costs of sources whose results are wrong.
        takes_s: Kind of job → seconds that it takes.
        told_s: Kind of job → seconds that it is said to have taken.
        keeps: Whether launch records go with the answers.
        verdicts: Cost → what a contest says of it, whatever the times are.
        slower: Costs of sources that are twice as slow on the last shape.
        launched: What a launcher is seen to do; its contents and times are added.
    """

    name, simulated = "replay", False
    trust: Trust = "replayed"

    def __init__(self, profile: Callable[..., str] | None = None) -> None:
        self.profile = profile
        self.asked: list[str] = []
        self.wrong: set[float] = set()
        self.takes_s: dict[str, float] = {}
        self.told_s: dict[str, float] = {}
        self.keeps = True
        self.verdicts: dict[float, str] = {}
        self.slower: set[float] = set()
        self.launched = LauncherRun("confirmed", device="Test")

    def _launcher(self, job: Job) -> LauncherRun:
        contents = tuple(LauncherContent(shape, "random", 7, is_new=False) for shape in job.body.shapes)
        times = {
            shape: LauncherTime(one.most_s or 0.0, one.least_s or 0.0, one.most_s or 0.0, 1e-5, 1e-4)
            for shape, one in job.body.expected.items()
        }
        return replace(self.launched, contents=contents, launches=dict.fromkeys(job.body.shapes, 1), times=times)

    def run(self, job: Job, started: Started) -> Outcome:
        """Return the answer at once, or after the seconds that its kind takes."""
        self.asked.append(job.kind)
        started(("kb", "replay", job.kind), 1, None)
        took_s, wall_s = self.takes_s.get(job.kind, 0.0), job.limits.wall_s or math.inf
        time.sleep(min(took_s, wall_s))
        if took_s > wall_s:
            return Outcome("hang", None, None, wall_s, "it took too long")
        kinds = {
            "environment": self._environment,
            "check": self._check,
            "timing": self._timing,
            "evidence": self._profile,
            "launcher": self._launcher,
        }
        records = self.records(job) if job.candidate else {}
        kept = {hashlib.sha256(one).hexdigest(): (one, CODE) for one in records.values()}
        told_s = self.told_s.get(job.kind, 0.1)
        return Outcome("ok", 0, None, told_s, "", kinds[job.kind](job), kept if self.keeps else {})

    def close(self) -> None:
        """Keep nothing."""

    @staticmethod
    def cost(source: bytes) -> float:
        """Return what a source says that it costs."""
        found = _COST.search(source)
        return float(found[1]) if found else 4.0

    def basis(self, job: Job) -> AnswerBasis:
        """Return the level, with a hash for each record."""
        records = {name: hashlib.sha256(one).hexdigest() for name, one in self.records(job).items()}
        bound = dict.fromkeys(("candidate", "incumbent", "best"), CodeSource("bound", None))
        return AnswerBasis(self.trust, "", records, {"record": 0.1}, bound=bound if self.trust == "replayed" else {})

    @staticmethod
    def records(job: Job) -> dict[str, bytes]:
        """Return side and shape → a record of the side's source."""
        sides = {"candidate": job.candidate} | ({"incumbent": job.incumbent} if job.incumbent else {})
        return {
            f"{side} {shape}": canonical(
                small_record(label=shape, sources={"kernel.py": hashlib.sha256(source).hexdigest()}).to_json()
            )
            for side, source in sides.items()
            for shape in job.body.shapes
        }

    def _environment(self, _: Job) -> Environment:
        return Environment("NVIDIA T10 48GB", "9b5b6cb994bdcb9095ca6285d5677a59", "13.0", {}, {})

    def _check(self, job: Job) -> Check:
        right = self.cost(job.candidate) not in self.wrong
        errors = dict.fromkeys(job.body.shapes, 1e-3)
        return Check("", right, "" if right else "it is wrong", 1e-3, errors, 4, self.basis(job))

    def _timing(self, job: Job) -> Timing:
        sides = {"incumbent": self.cost(job.incumbent or job.candidate), "candidate": self.cost(job.candidate)}
        shapes = {
            shape: {
                side: self._samples(
                    job, shape, cost * (2 if cost in self.slower and shape == job.body.shapes[-1] else 1)
                )
                for side, cost in sides.items()
            }
            for shape in job.body.shapes
        }
        if job.incumbent in {b"", job.candidate}:
            return Timing(shapes, basis=self.basis(job))
        gain = 100 * (sides["incumbent"] / sides["candidate"] - 1)
        verdict: Any = self.verdicts.get(sides["candidate"], "faster" if gain > 1.1 else "not_faster")
        return Timing(shapes, contest=Contest(verdict, 1.0, gain, gain - 0.1, gain + 0.1, 12), basis=self.basis(job))

    @staticmethod
    def _samples(job: Job, shape: str, cost: float) -> tuple[Sample, ...]:
        median_s = 1.2e-12 * math.prod(map(int, shape.split("x"))) * cost
        return tuple(Sample(9, median_s * (1 + 1e-4 * at), 1e-9) for at in range(job.body.repeats))

    def _profile(self, job: Job) -> ReportEvidence | Unable:
        if self.profile is None:
            return Unable(unavailable="ncu is not installed, or not on PATH")
        report = self.profile(("rms_norm", (64, 1, 1), (128, 1, 1)))
        return ReportEvidence(report, job.body.shapes[0], ("rms_norm",), self.basis(job))


class Costs:
    """Proposes the incumbent's file at other costs, one after another."""

    name = "costs"

    def __init__(self, *costs: float) -> None:
        self.costs = costs

    def propose(self, view: ProposerView) -> Proposal | None:
        """Return the first cost that was not tried."""
        for cost in self.costs:
            claim = f"costs {cost}"
            if view.earlier(claim, claim) is None:
                source = _COST.sub(b"", view.incumbent) + f"\nCOST = {cost}\n".encode()
                return Proposal(claim, claim, "less time", self.name, source)
        return None


@pytest.fixture
def replayed(workspace: Workspace) -> Callable[..., Campaign]:
    """Makes a campaign whose candidates are replayed; they cost what is given, the baseline 4."""

    def make(executor: Replaying, *costs: float, where: Workspace | None = None, **more: Any) -> Campaign:
        policy = policy_named("gpu-wiki", without_stops=("target", "hardware_limit", "plateau"))
        return Campaign(
            where or workspace, replace(policy, suspicious_gain_pct=None), (Costs(*costs),), executor,
            options=CampaignOptions(product_of=lambda _: "T10", **more),
        )  # fmt: skip

    return make


@pytest.fixture
def replaying() -> type[Replaying]:
    """The class of the executor in memory."""
    return Replaying


_SPEC = importlib.util.spec_from_file_location("campaign_words", Path(__file__).with_name("campaign_words.py"))
assert _SPEC is not None and _SPEC.loader is not None
_MODULE = importlib.util.module_from_spec(_SPEC)
sys.modules["campaign_words"] = _MODULE
_SPEC.loader.exec_module(_MODULE)


@pytest.fixture(autouse=True)
def card(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands of projects run on a card, by its name: on a host no condition is judged."""
    found = Environment("NVIDIA T10 48GB", None, None, {}, {"python": "3"})
    monkeypatch.setattr("kopt_kb.launch.project.executor.host_environment", lambda: found)

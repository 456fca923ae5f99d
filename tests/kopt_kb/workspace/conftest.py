"""Workspaces whose clock ticks by itself."""

from __future__ import annotations

import copy
import json
import os
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.wire import plain
from kopt_kb.launch.candidate.answers import Sample, Timing
from kopt_kb.problem.problem import Problem
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.journal import Journal
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.workspace import Workspace
from tests.kopt_kb.workspace.event_samples import SAMPLES


class TickingClock:
    """The first call gives noon, each later one a second more."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        moment, self.now = self.now, self.now + timedelta(seconds=1)
        return moment


@pytest.fixture
def samples() -> dict[str, dict[str, Any]]:
    """Kind → valid data as plain JSON, free to change."""
    return copy.deepcopy(SAMPLES)


@pytest.fixture(params=sorted(SAMPLES))
def sample(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Each kind with its valid data in turn."""
    return request.param, copy.deepcopy(SAMPLES[request.param])


@pytest.fixture
def note() -> dict[str, Any]:
    """The smallest valid data, of kind note_added."""
    return dict(SAMPLES["note_added"])


@pytest.fixture
def clock() -> TickingClock:
    """A clock that gives noon of a fixed day and a second more at each call."""
    return TickingClock()


@pytest.fixture
def small_journal(tmp_path: Path, clock: TickingClock) -> Path:
    """A closed journal of three events."""
    path = tmp_path / "journal.jsonl"
    with Journal.create(path, clock=clock) as journal:
        for kind in ("note_added", "round_started", "run_started"):
            journal.append(kind, SAMPLES[kind])
    return path


class AsNobody:
    """Inside `with`, the process has no more rights than a stranger, root or not; `folder` is read-only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        self.folder.chmod(0o555)
        if os.geteuid() == 0:
            os.seteuid(65534)

    def __exit__(self, *_: object) -> None:
        if os.getuid() == 0:
            os.seteuid(0)
        self.folder.chmod(0o755)


@pytest.fixture
def as_nobody() -> Iterator[AsNobody]:
    """A folder that can't be written inside `with as_nobody`, for root neither."""
    with tempfile.TemporaryDirectory(prefix="kopt-readonly-") as name:
        Path(name).chmod(0o755)
        yield AsNobody(Path(name))


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A kernel file that declares its operation."""
    path = tmp_path / "demo.py"
    path.write_text('OP = "rms_norm"\n')
    return path


@pytest.fixture
def task(demo: Path) -> Task:
    """An RMS norm on the invented T10."""
    problem = Problem.of("rms_norm", ["8192x4096", "1024x512"], "bf16")
    return Task(platform="T10", framework="Triton", kernel_demo=demo, problem=problem, notes="Keep it simple.")


@pytest.fixture
def registry(wiki_root: Path) -> Registry:
    """The invented wiki, opened."""
    return Registry.open(wiki_root)


@pytest.fixture
def workspace(tmp_path: Path, task: Task, registry: Registry) -> Workspace:
    """A workspace fresh from `kb init`."""
    return Workspace.create(tmp_path, "norm", task, registry)


SHAPES = ("8192x4096", "1024x512")


class Story:
    """Plays rounds into a workspace's journal, each event through the one writer."""

    def __init__(self, workspace: Workspace, clock: TickingClock) -> None:
        self.workspace = workspace
        self.clock = clock
        self.store = ObjectStore(workspace.layout.objects)

    def add(self, kind: str, **data: Any) -> int:
        """Append one event and return its number."""
        with Journal.open(self.workspace.layout.journal, clock=self.clock) as journal:
            return journal.append(kind, data).seq

    def say(self, kind: str, text: str, **data: Any) -> int:
        """Append an event whose text is a blob."""
        return self.add(kind, text=self.store.put(text.encode()), **data)

    def machine(self, device: str = "NVIDIA T10 48GB") -> int:
        """Record a machine."""
        return self.add("environment_recorded", **{**SAMPLES["environment_recorded"], "device": device})

    def time(self, candidate: str, medians: dict[str, float], tag: str = "a", environment: int = 4) -> list[str]:
        """Record one measurement a shape and return their ids."""
        ids = []
        if medians:
            self.ran(f"{tag}:{candidate}", candidate, medians)
        for shape, median_s in medians.items():
            ids.append(f"{tag}:{candidate}:{shape}")
            self.add(
                "measured", id=ids[-1], candidate=candidate, shape=shape, n=100, median_s=median_s,
                spread={"mad_s": 1e-7}, run=f"{tag}:{candidate}", environment=environment,
            )  # fmt: skip
        return ids

    def ran(self, run: str, candidate: str, medians: dict[str, float]) -> None:
        """Record the run that timed these medians."""
        timing = Timing({shape: {"candidate": (Sample(100, one, 1e-7),)} for shape, one in medians.items()})
        answer = self.store.put(json.dumps({"printed": "", "result": plain(timing)}).encode())
        self.add("run_started", **{**SAMPLES["run_started"], "run": run, "candidate": candidate})
        ended = {"outcome": "ok", "exit": 0, "signal": None, "output": answer, "records": []}
        self.add("run_finished", **{**SAMPLES["run_finished"], **ended, "run": run})

    def round(
        self,
        number: int,
        decision: str | None,
        medians: dict[str, float] | None = None,
        *,
        claim: str = "",
        gates: dict[str, str] | None = None,
        environment: int = 4,
    ) -> None:
        """Play a whole attempt; the candidate is v<number>."""
        name, kernel = f"v{number}", self.workspace.state().created.kernel
        self.add("round_started", round=number, incumbent=kernel)
        if number:
            said = {"category": "memory", "claim": claim or f"idea {number}", "expected": "less time"}
            self.add("hypothesis_stated", round=number, evidence=[], proposer="ann", **said)
        self.add("candidate_submitted", round=number, candidate=name, blob=kernel, params={"B": number}, proposer="ann")
        for gate, result in (gates or {"build": "pass", "correctness": "pass"}).items():
            self.add("gate_judged", candidate=name, gate=gate, result=result, reason=f"{gate} says {result}", runs=[])
        ids = self.time(name, medians or {}, environment=environment)
        if decision:
            said = {"decision": decision, "policy": "gpu-wiki", "rule": "R3"}
            self.add("decided", round=number, measured=ids, **said)
        if decision and decision.startswith("accept"):
            self.add("snapshot_taken", version=number, blob=kernel, commit="0" * 7 + "1" * 33)


@pytest.fixture
def story(workspace: Workspace, clock: TickingClock) -> Story:
    """A fresh workspace whose story can be told."""
    return Story(workspace, clock)


@pytest.fixture
def played(story: Story) -> Story:
    """Baseline 200 and 20 us; v1 twice as fast, accepted; v2 wrong; v3 slower; all on a recorded machine."""
    seq = story.machine()
    story.round(0, "accept", {"8192x4096": 2e-4, "1024x512": 2e-5}, environment=seq)
    story.round(1, "accept", {"8192x4096": 1e-4, "1024x512": 1e-5}, environment=seq)
    story.round(2, "rollback", gates={"build": "pass", "correctness": "fail"}, environment=seq)
    story.round(3, "rollback", {"8192x4096": 4e-4, "1024x512": 4e-5}, environment=seq)
    return story

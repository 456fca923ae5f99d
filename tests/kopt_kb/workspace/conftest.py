"""One valid example of every event kind, and a clock that ticks by itself."""

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

from kopt_kb.analysis.evidence import Evidence
from kopt_kb.analysis.gap.document import Gap, GapPart
from kopt_kb.base.wire import plain
from kopt_kb.launch.candidate.answers import Sample, Timing
from kopt_kb.problem.problem import Problem
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.journal import Journal
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.workspace import Workspace

BLOB = "ab" * 32
CITATION = {"path": "docs/x.md", "line": 23, "row_sha256": "0123456789ab"}

GAP = Gap(
    "8x4", 2e-6, "dram", 1e-6, "documented", ("a:L1",),
    (
        GapPart("extra-bytes", 4e-7, 40.0, 20.0, "l2", evidence=(Evidence("l2_use_pct", 70.0, "%", None, "use of L2"),)),
        GapPart("unexplained", 6e-7, 60.0, 30.0),
    ),
    ("ncu",),
).to_json()  # fmt: skip
SAMPLES: dict[str, dict[str, Any]] = {
    "workspace_created": {
        "name": "norm",
        "platform": "P1",
        "problem": {"op": "rms_norm", "shapes": [[8, 4]], "tolerance": 0.5, "causal": False, "mask": None},
        "kernel": BLOB,
        "wiki": {"root": "packaged", "pages": {"hardware/x.md": BLOB}},
        "versions": {"kopt-kb": "0.1.0"},
        "kernel_test": BLOB,
    },
    "specs_registered": {
        "rows": [
            {
                "key": "memory_bandwidth",
                "value": "1.5",
                "unit": "TB/s",
                "si": "1500000000000",
                "grade": "secondary",
                "citation": CITATION,
                "source": "sheet, row bandwidth",
            }
        ],
        "unknown": [{"key": "l2_capacity", "reason": "no sheet", "citation": None, "placeholder": "3 MB"}],
    },
    "target_set": {
        "work": {"flops": 12},
        "ceiling_keys": ["memory_bandwidth"],
        "bound": "memory",
        "targets": [
            {
                "quantity": "bandwidth",
                "op": ">=",
                "value": "1.35",
                "unit": "TB/s",
                "basis": "memory_bandwidth",
                "factor": "9/10",
                "grades": ["secondary"],
                "shape": "8x4",
            }
        ],
        "supersedes": None,
        "reason": "init",
        "by": "kb init",
    },
    "environment_recorded": {
        "device": "P1",
        "uuid": None,
        "driver": "1.2",
        "clocks": {"sm_hz": 5},
        "versions": {},
        "harness": BLOB,
        "product": None,
    },
    "bench_started": {
        "bench": "bench-1",
        "kernel": BLOB,
        "version": None,
        "machine": {
            "device": "P1",
            "uuid": None,
            "driver": None,
            "clocks": {},
            "versions": {},
            "harness": BLOB,
            "product": "P1",
        },
    },
    "noise_measured": {"shape": "8x4", "n": 9, "median_s": 1e-5, "mad_s": 1e-7, "floor_pct": 1.5, "run": "r1"},
    "profile_read": {
        "report": BLOB,
        "tool": "ncu",
        "kernel": None,
        "code": "MEM",
        "evidence": [{"metric": "x", "value": 0.25}],
        "name": "v1_8x4.csv",
    },
    "note_added": {"topic": "tip", "text": BLOB, "by": "ann"},
    "round_started": {"round": 1, "incumbent": BLOB},
    "hypothesis_stated": {
        "round": 1,
        "category": "memory",
        "claim": "wider loads",
        "expected": "5 % less time",
        "evidence": [1, 2],
        "proposer": "knobs",
    },
    "candidate_submitted": {
        "round": 1,
        "candidate": "c1",
        "blob": BLOB,
        "params": {"BLOCK": 128},
        "proposer": "knobs",
        "plan": None,
    },
    "run_started": {
        "run": "r1",
        "candidate": "c1",
        "gate": "timing",
        "attempt": 1,
        "argv": ["python", "-c", "caf\u00e9 \udc80"],
        "limits": {"wall_s": 60.0},
        "pid": 7,
        "pid_start_ticks": 12,
    },
    "run_finished": {
        "run": "r1",
        "outcome": "crash",
        "exit": None,
        "signal": 11,
        "wall_s": 0.5,
        "output": BLOB,
        "records": [BLOB],
    },
    "gate_judged": {"candidate": "c1", "gate": "build", "result": "pass", "reason": "", "runs": ["r1"]},
    "measured": {
        "id": "m1",
        "candidate": "c1",
        "shape": "8x4",
        "n": 5,
        "median_s": 0.1,
        "spread": {"mad_s": 0.01},
        "run": "r1",
        "environment": 4,
        "trust": "reported",
        "source": {"state": "bound", "reason": None, "detail": ""},
    },
    "decided": {
        "round": 1,
        "decision": "accept",
        "policy": "p",
        "rule": "gain",
        "launcher": "confirmed",
        "measured": ["m1"],
        "refutes": [],
        "trust": "replayed",
        "source": {"state": "unbound", "reason": "differs", "detail": "in .text"},
    },
    "launcher_confirmed": {
        "version": 1,
        "outcome": "confirmed",
        "run": "v1.launcher.1",
        "device": "T10",
        "contents": [{"shape": "8192x4096", "trial": "random", "seed": 7, "is_new": False}],
        "launches": {"8192x4096": 1},
        "interval": {"8192x4096": {"median_s": 2e-5, "least_s": 1e-5, "most_s": 3e-5, "host_s": 1e-5, "call_s": 2e-5}},
    },
    "record_bound": {
        "code": BLOB,
        "run": "r1",
        "kernel": "Triton rms_norm",
        "outcome": {"state": "bound", "reason": None, "detail": ""},
        "files": {"kernel.py": "a" * 64},
        "options": {"enable_fp_fusion": True},
        "versions": {"triton": "3.6.0"},
    },
    "snapshot_taken": {"version": 1, "blob": BLOB, "commit": None},
    "memory_masked": {"versions": [1, 2], "reason": "restart", "seed": 3},
    "memory_unmasked": {"versions": [1], "reason": "asked", "seed": None},
    "memory_noted": {"version": 1, "field": "search_log", "text": BLOB, "by": "ann"},
    "file_adopted": {"path": "README.md", "block": "targets", "blob": BLOB, "by": "ann"},
    "campaign_confirmed": {
        "policy": {"name": "p", "repeats": 3},
        "simulated": False,
        "executor": "child process",
        "proposers": ["knobs"],
        "settings": {"samples": 9},
        "launch": {"proposers": ["ask"], "executor_command": "", "device": "cuda"},
    },
    "campaign_named": {
        "name": "gemm_ck_gfx942_20260101",
        "op": "gemm",
        "backend": "CK",
        "language": "HIP",
        "mode": "repo",
        "git_commit": True,
        "git_branch": "optimize/gemm",
        "upstream": "",
        "files": {"src/k.py": "a" * 64},
        "tips": "",
        "constraints": ["matmul keeps its arguments"],
        "project_skill": "",
    },
    "plan_made": {"source": "analysis.txt", "plan": {"steps": []}},
    "tips_read": {"source": "tips.md", "text": "wide loads helped"},
    "proposal_made": {
        "round": 1,
        "category": "memory",
        "claim": "wider loads",
        "expected": "less time",
        "proposer": "knobs",
        "source": BLOB,
        "spaces": {"8x4": {"start": {"BLOCK": 1}, "knobs": {"BLOCK": [1, 2]}}},
        "risk": "high",
        "confirms": [2],
    },
    "project_protected": {"root": "p", "protected": {"bench.py": BLOB}},
    "project_frozen": {"header": ["M", "N"], "representative": ["8x4"]},
    "gap_accounted": {"version": 1, "gap": GAP, "profiles": [7]},
    "reachable_measured": {
        "shape": "8x4",
        "probe": "copy of the same bytes",
        "roof": "dram",
        "rate_si": 1e12,
        "median_s": 1e-6,
        "n": 30,
        "run": "reach-4-copy.timing.1",
        "environment": 4,
        "reason": "",
    },
    "category_chosen": {
        "round": 1,
        "category": "caching",
        "limiter": "dram",
        "row": "counters/categories.md:14",
        "reason": "dram limits",
    },
    "review_held": {
        "round": 3,
        "versions": [1, 2],
        "profile": 7,
        "references": ["advice/dram.md"],
        "directions": [{"category": "caching", "text": "keep it", "source": "advice/dram.md step 2"}],
    },
    "opportunity": {
        "id": "v1:verdict:dram",
        "version": 1,
        "text": "dram limits",
        "categories": ["caching"],
        "share_pct": 20.5,
        "state": "untried",
        "round": None,
        "reason": "",
        "evidence": [7],
    },
    "level_chosen": {"round": 1, "level": "quick", "reason": "a gain of 9 %"},
    "resumed": {"torn_bytes": 3, "abandoned_runs": ["r1"]},
    "blocked": {"needs": ["a GPU"]},
    "stopped": {"reason": "target", "evidence": [4]},
}


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

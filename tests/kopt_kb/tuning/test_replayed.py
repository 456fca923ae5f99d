"""Campaigns whose candidates are replayed, with an executor in memory: what journals, views and audits then hold."""

from __future__ import annotations

import random
import shutil
import tarfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kopt_kb.cli.tune.text import render
from kopt_kb.launch.record.judge import OBJECTS, RECORD, load_record, stored
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.decision import GateResult
from kopt_kb.tuning.options import Budget
from kopt_kb.tuning.proposals import EvidenceAsked
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.bundle import bundle
from kopt_kb.workspace.views.render import render_workspace
from kopt_kb.workspace.workspace import Workspace
from tests.kopt_kb.launch.small_record import CODE

MakeReplayed = Callable[..., Campaign]


class Skipping:
    """A clock on which only waiting takes time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.skipped_s, self._real = 1e6, time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: self.skipped_s + 1e-4 * self._real())
        monkeypatch.setattr(time, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        self.skipped_s += seconds

    def until(self, took_s: float, ends_at: float) -> None:
        """Wait as something that keeps to its moment does."""
        left_s = ends_at - time.monotonic()
        self.sleep(max(0.0, min(took_s, left_s)))
        if took_s > left_s:
            raise TimeoutError


@pytest.fixture
def registry(wiki_root: Any) -> Registry:
    """The invented wiki."""
    return Registry.open(wiki_root)


def test_accepted_versions_are_profiled(
    workspace: Workspace, replayed: MakeReplayed, replaying: Any, ncu: ModuleType, registry: Registry
) -> None:
    """By the whole rule engine; the report stands by name in profiles/ and as a blob; what is not accepted is not."""
    executor = replaying(ncu.report)
    with replayed(executor, 3.0, 3.5, 2.0, platform=registry.platform("T10")) as campaign:
        assert campaign.run().stop.reason == "exhausted"
        state = campaign.state()
    assert [one.decided.decision for one in state.rounds] == ["accept", "accept", "rollback", "accept"]
    assert executor.asked.count("evidence") == 3
    assert [len(one.profiles) for one in state.rounds] == [1, 1, 0, 1]
    gate = state.rounds[2].gates["evidence"]
    assert (gate.result, gate.reason) == (
        "unavailable",
        "no profile is taken of what is not accepted (contest not faster)",
    )
    profile = state.rounds[3].profiles[0]
    assert (profile.code, profile.name) == ("memory-bound: dram", "v3_8192x4096.csv")
    assert state.limiter == "memory-bound: dram"
    (judged,) = profile.evidence
    assert judged["verdict"]["limiter"] == "dram"
    assert judged["verdict"]["headroom"][0]["roof_si"] == 2e12
    root = workspace.layout.root
    assert (root / "profiles" / profile.name).read_bytes() == (root / "objects" / profile.report).read_bytes()
    assert audit(root, registry).findings == ()


def test_an_edited_report_is_named_kept_and_written_again(
    workspace: Workspace, replayed: MakeReplayed, replaying: Any, ncu: ModuleType, registry: Registry
) -> None:
    """As any other rendered file."""
    with replayed(replaying(ncu.report)) as campaign:
        campaign.run()
    path = workspace.layout.profiles / "v0_8192x4096.csv"
    before = path.read_bytes()
    path.write_bytes(b"mine\n")
    (found,) = audit(workspace.layout.root, registry).findings
    assert (found.code, found.file) == ("edited-view", "profiles/v0_8192x4096.csv")
    (kept,) = render_workspace(workspace).kept
    assert (workspace.layout.objects / kept[1]).read_bytes() == b"mine\n"
    assert path.read_bytes() == before
    path.unlink()
    path.symlink_to(workspace.layout.kernel)
    assert [one.code for one in audit(workspace.layout.root, registry).findings] == ["edited-view"]


def test_without_a_profiler_the_loop_goes_on(
    replayed: MakeReplayed, replaying: Any, workspace: Workspace, registry: Registry
) -> None:
    """The reason is the gate's word, in the journal."""
    with replayed(replaying(), 2.0) as campaign:
        assert campaign.run().stop.reason == "exhausted"
        state = campaign.state()
    assert [one.decided.decision for one in state.rounds] == ["accept", "accept"]
    assert {one.gates["evidence"].reason for one in state.rounds} == {"ncu is not installed, or not on PATH"}
    assert state.limiter == ""
    assert audit(workspace.layout.root, registry).findings == ()


def _codes(workspace: Workspace, registry: Registry) -> list[str]:
    """Return the codes of an audit's findings."""
    return [one.code for one in audit(workspace.layout.root, registry).findings]


@pytest.mark.parametrize("kind", ["check", "timing", "evidence"])
def test_a_budget_bounds_every_step(
    replayed: MakeReplayed, replaying: Any, workspace: Workspace, kind: str, ncu: ModuleType, registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """What runs when the seconds are over is ended; it decides nothing, and the next call begins it again."""
    Skipping(monkeypatch)
    executor, said = replaying(ncu.report), list[str]()
    with replayed(executor, 2.0, say=said.append) as campaign:
        campaign.run(Budget(rounds=0))
        executor.takes_s[kind] = 600.0
        begin = time.monotonic()
        report = campaign.run(Budget(seconds_s=100.0))
        assert time.monotonic() - begin < 105.0
        assert (report.stop, report.state) == (None, "VALIDATE")
        assert said[-1] == "the budget is spent at VALIDATE: the campaign stays open"
        (cut,) = [run for run in campaign.state().rounds[-1].runs.values() if run.started.gate == kind]
        assert cut.finished is not None and cut.finished.outcome == "lost"
        assert kind not in campaign.state().rounds[-1].gates
        executor.takes_s.clear()
        assert campaign.run().stop.reason == "exhausted"
        assert campaign.state().rounds[-1].accepted
    assert set(_codes(workspace, registry)) <= {"times"}  # its seconds are invented


def test_no_profile_is_begun_that_the_budget_would_end(
    replayed: MakeReplayed, replaying: Any, workspace: Workspace, ncu: ModuleType, registry: Registry
) -> None:
    """A profile that took longer than the call has left is not taken; a search leaves seconds to judge what it finds."""
    executor = replaying(ncu.report)
    executor.told_s |= {"evidence": 3600.0, "check": 2.0, "timing": 3.0}
    with replayed(executor, 2.0) as campaign:
        campaign.run(Budget(rounds=0))
        campaign._ends_at = time.monotonic() + 30.0
        campaign._settings = replace(campaign._settings, search_s=60.0)
        assert 19.0 < campaign._rounds().settings.search_s <= 20.0  # the rest is for two sides of a check and a contest
        campaign.run(Budget(seconds_s=60.0))
        last = campaign.state().rounds[-1]
        assert last.accepted
        assert last.gates["evidence"].reason.startswith("a profile took 3600.0 s before, the call has ")
    assert executor.asked.count("evidence") == 1
    assert set(_codes(workspace, registry)) <= {"times"}  # its seconds are invented


def test_a_round_that_could_not_be_decided_is_not_begun(replayed: MakeReplayed, replaying: Any) -> None:
    """By what check, timing and launcher took last: what is left of the seconds is not spent on half a round."""
    executor, said = replaying(), list[str]()
    executor.told_s |= {"check": 2.0, "timing": 3.0, "launcher": 5.0}
    with replayed(executor, 2.0, 1.5, say=said.append) as campaign:
        campaign.run(Budget(rounds=0))
        assert campaign.run(Budget(seconds_s=9.0)).stop is None
        assert said[-1].endswith("s, too few to decide a round, at ACCEPT: the campaign stays open")
        assert len(campaign.state().rounds) == 1
        campaign.run(Budget(seconds_s=900.0, rounds=1))
        assert [one.accepted for one in campaign.state().rounds] == [True, True]
        assert campaign.state().stopped is not None


def test_a_first_profile_is_left_out_of_a_short_call(replayed: MakeReplayed, replaying: Any, ncu: ModuleType) -> None:
    """Nobody knows yet how long it takes: what it usually takes may be a quarter of what is left."""
    executor = replaying(ncu.report)
    with replayed(executor) as campaign:
        campaign.run(Budget(seconds_s=25.0, rounds=0))
        (first,) = campaign.state().rounds
        assert first.accepted
        assert first.gates["evidence"].reason.startswith("a profile takes about 7.0 s, too much of the ")
        rounds = campaign._rounds()
        rounds.session.ends_at = time.monotonic() - 1.0
        none_took = rounds._no_time_for_a_profile(campaign.state())
        assert none_took == "", "of none that was taken can be said what it took"
    assert "evidence" not in executor.asked


def test_a_budget_bounds_the_baseline_too(
    replayed: MakeReplayed, replaying: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it is cut off, it is no failure of the kernel."""
    Skipping(monkeypatch)
    executor = replaying()
    executor.takes_s["check"] = 60.0
    with replayed(executor) as campaign:
        for _ in range(5):
            assert campaign.run(Budget(seconds_s=0.2)).stop is None
        executor.takes_s.clear()
        assert campaign.run(Budget(rounds=0)).baseline == "v0"


@pytest.mark.parametrize("seed", range(3))
def test_a_call_ends_within_five_seconds_of_its_budget(
    replayed: MakeReplayed, replaying: Any, ncu: ModuleType, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """However long machine, records, compilers, checks, contests and profiles take: each gets what is left."""
    clock, draw, executor = Skipping(monkeypatch), random.Random(seed), replaying(ncu.report)
    kinds = ("environment", "check", "timing", "evidence", "limits", "instructions")

    def gate(source: bytes, ends_at: float) -> GateResult:
        clock.until(executor.takes_s["limits"] if source else 0.0, ends_at)
        return GateResult("limits", "pass")

    def read(source: bytes, ends_at: float) -> None:
        clock.until(executor.takes_s["instructions"] if source else 0.0, ends_at)

    late_s = []
    with replayed(executor, 3.0, 3.5, 2.0, resources=gate, instructions=read) as campaign:
        for budget_s in (2.0, 10.0, 45.0, 90.0, 90.0, 90.0):
            executor.takes_s = {kind: draw.choice((0.1, 1.0, 4.0, 12.0, 30.0, 500.0)) for kind in kinds}
            begin = time.monotonic()
            report = campaign.run(Budget(seconds_s=budget_s))
            late_s.append(time.monotonic() - begin - budget_s)
            if report.stop is not None:
                break
    assert max(late_s) < 5.0, late_s


def test_a_hang_within_the_budget_is_the_candidates(
    replayed: MakeReplayed, replaying: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what the budget ends is begun again."""
    Skipping(monkeypatch)
    executor = replaying()
    with replayed(executor, 2.0) as campaign:
        campaign.run(Budget(rounds=0))
        campaign._settings = replace(campaign._settings, run_s=0.1)
        executor.takes_s["check"] = 60.0
        assert campaign.run(Budget(seconds_s=60.0)).stop.reason == "exhausted"
        assert campaign.state().rounds[-1].decided.rule == "gate build"


def test_records_are_kept_and_go_with_the_bundle(
    replayed: MakeReplayed, replaying: Any, workspace: Workspace, registry: Registry, tmp_path: Path
) -> None:
    """With their code objects: a stranger can replay what was timed; a lost one is found at the run that names it."""
    with replayed(replaying(), 2.0) as campaign:
        campaign.run()
        state = campaign.state()
    ended = [run.finished for run in state.rounds[1].runs.values() if run.started.gate == "timing"]
    (records,) = [one.records for one in ended if one is not None]
    assert len(records) == 4  # two sides on two shapes
    platform = registry.platform("T10")
    bundle(workspace.layout, workspace.state(), platform, tmp_path / "norm.kbb")
    assert audit(tmp_path / "norm.kbb").findings == ()
    place = tmp_path / "record"
    (place / OBJECTS).mkdir(parents=True)
    with tarfile.open(tmp_path / "norm.kbb") as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    objects = tmp_path / "unpacked" / "objects"
    shutil.copy(objects / records[0], place / RECORD)
    (found,) = load_record(place).codes
    shutil.copy(objects / found, place / OBJECTS)
    record, code = stored(place)
    assert code(record.launches[0].code) == CODE
    lost = workspace.layout.objects / records[0]
    lost.unlink()
    assert {one.code for one in audit(workspace.layout.root, registry).findings} == {"object"}


@pytest.mark.parametrize("level", ["replayed", "reported", "unstated"])
def test_each_time_says_how_far_it_can_be_trusted(
    replayed: MakeReplayed, replaying: Any, workspace: Workspace, registry: Registry, level: Any
) -> None:
    """In README, reports, trend and report; where a journal does not say, they say nothing."""
    executor = replaying()
    executor.trust = level
    with replayed(executor, 2.0) as campaign:
        campaign._policy = replace(campaign._policy, least_trust="unstated")
        report = campaign.run()
    root = workspace.layout.root
    readme = (root / "README.md").read_text()
    shown = render(report)
    stated = level != "unstated"
    said = "replayed; bound" if level == "replayed" else level
    row = f"| 8192x4096 | v1 | 0.0805387 ms | 0.925 | no | {said} |"
    assert (row in readme) == stated
    assert ("| Trust | Record |" in readme) == stated
    for path in ("rounds/round-2/summary.md", "baseline_report.md", "logs/optimize.md", "logs/performance_trend.md"):
        text = (root / path).read_text()
        assert ("| Trust |" in text) == stated, path
        assert (f"| {level} |" in text) == stated, path
    assert (f"no   {level}" in shown) == stated
    members = report.to_json()["stop_conditions"]["conditions"][0]
    assert members.get("trust") == (level if stated else None)
    assert audit(root, registry).findings == ()


class Asking:
    """Asks for evidence on shapes, one after another, then proposes a cost; notes how much the view knew."""

    name = "asking"

    def __init__(self, costs: Any, *shapes: str) -> None:
        self.costs, self.shapes = costs, list(shapes)
        self.seen: list[str] = []

    def propose(self, view: Any) -> Any:
        """Return the next wish, then what the costs say."""
        self.seen.append(view.limiter)
        return EvidenceAsked("evidence", self.shapes.pop(0)) if self.shapes else self.costs.propose(view)


def test_a_proposer_asks_for_evidence(
    replayed: MakeReplayed, replaying: Any, workspace: Workspace, ncu: ModuleType, registry: Registry
) -> None:
    """The best version is profiled on the shape that it names, once; then it is asked again."""
    executor, said = replaying(ncu.report), list[str]()
    with replayed(executor, 2.0, say=said.append) as campaign:
        costs = campaign._proposers[0]
        campaign._proposers = (Asking(costs, "1024x512", "1024x512", ""), costs)
        campaign.run()
        state = campaign.state()
    names = [one.name for one in state.profiles_of(state.rounds[0]).values()]
    assert names == ["v0_8192x4096.csv", "v0_1024x512.csv"]
    assert executor.asked.count("evidence") == 3  # two versions that were accepted, and one wish
    assert "asking asks for evidence: v0 was profiled on 1024x512 already" in said
    assert state.stopped is not None and state.stopped.reason == "exhausted"
    assert (workspace.layout.profiles / "v0_1024x512.csv").is_file()
    assert set(_codes(workspace, registry)) <= {"times"}  # its seconds are invented


def test_evidence_that_can_not_be_had_is_tried_once(replayed: MakeReplayed, replaying: Any) -> None:
    """The reason is said and kept with the run; the loop goes on with whoever has a hypothesis."""
    executor, said = replaying(), list[str]()
    with replayed(executor, 2.0, say=said.append) as campaign:
        costs = campaign._proposers[0]
        campaign._proposers = (Asking(costs, "1024x512", "1024x512"), costs)
        assert campaign.run().stop.reason == "exhausted"
        state = campaign.state()
    why = "asking asks for evidence: ncu is not installed, or not on PATH"
    assert said.count(why) == 2
    asked = [run.started.run for one in state.rounds for run in one.runs.values() if "asked" in run.started.run]
    assert asked == ["asked-v0-1024x512.evidence.1", "asked-v1-1024x512.evidence.1"]

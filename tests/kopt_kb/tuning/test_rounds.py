"""Inside a round: the search's template first, its winner judged, records once."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from kopt_kb.launch.candidate.answers import AnswerBasis, Check, Contest, Timing, Trust
from kopt_kb.launch.candidate.job import Job, Outcome, PruningRules, Started
from kopt_kb.launch.candidate.launcher_run import LauncherRun
from kopt_kb.launch.candidate.simulator import SimulatorExecutor
from kopt_kb.launch.candidate.source_config import configs_of
from kopt_kb.launch.record.source import CodeSource
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.options import CampaignOptions, Settings
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.proposers import VariantsProposer
from kopt_kb.tuning.rounds import RoundWork, spent_s
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.workspace import Workspace


def test_only_the_winner_of_a_search_is_judged(workspace: Workspace, make_campaign) -> None:
    """One template, one candidate; gates and records are the candidate's alone; its blob carries the configurations."""
    with make_campaign(workspace, rounds=1) as campaign:
        campaign.run()
    events = workspace.events()
    submitted = [e.data for e in events if e.kind == "candidate_submitted" and e.data.round == 1]
    assert [one.candidate for one in submitted] == ["v1.template", "v1"]
    assert {e.data.candidate for e in events if e.kind == "gate_judged"} == {"v0", "v1"}
    configs = configs_of(ObjectStore(workspace.layout.objects).get(submitted[1].blob))
    assert set(configs) == {"8192x4096", "1024x512"}
    assert {one["VARIANT"] for one in configs.values()} == {"single_pass"}


def test_records_are_unique_and_interleaved(workspace: Workspace, make_campaign) -> None:
    """Three repeats of two shapes of both sides in the round, of one side in the baseline; noise once a shape."""
    with make_campaign(workspace, "primus", rounds=1) as campaign:
        campaign.run()
    events = workspace.events()
    ids = [e.data.id for e in events if e.kind == "measured"]
    assert len(ids) == len(set(ids)) == 6 + 12
    assert sum(e.kind == "noise_measured" for e in events) == 2
    decided = [e.data for e in events if e.kind == "decided"]
    assert set(decided[1].measured) == {one for one in ids if one.startswith("sim-v1.")}


def test_gates_are_judged_in_their_order(workspace: Workspace, make_campaign) -> None:
    """As the policy module lists them."""
    with make_campaign(workspace, rounds=1) as campaign:
        campaign.run()
    found = [e.data.gate for e in workspace.events() if e.kind == "gate_judged" and e.data.candidate == "v1"]
    assert found == ["lint", "limits", "build", "correctness", "timing", "roofline", "launcher", "evidence"]


def test_aids_are_optional() -> None:
    """Nothing is said and nothing is compiled by default."""
    options = CampaignOptions()
    options.say("x")
    assert (options.resources, options.tips) == (None, None)


def test_a_search_that_keeps_what_was_there_is_not_timed(workspace: Workspace, make_campaign) -> None:
    """The candidate equals the incumbent byte for byte: rolled back as unchanged, without gates or records."""
    with make_campaign(workspace, rounds=4) as campaign:
        campaign.run()
    events = workspace.events()
    incumbents = {e.data.round: e.data.incumbent for e in events if e.kind == "round_started"}
    blobs = {
        e.data.round: e.data.blob for e in events if e.kind == "candidate_submitted" and "." not in e.data.candidate
    }
    same = {number for number, blob in blobs.items() if number and blob == incumbents[number]}
    assert same
    for e in events:
        if e.kind == "decided" and e.data.round in same:
            assert (e.data.decision, e.data.rule, e.data.measured) == ("rollback", "unchanged", ())
    assert not [e for e in events if e.kind == "gate_judged" and e.data.candidate in {f"v{one}" for one in same}]


def test_a_search_is_sent_the_rules_of_pruning(workspace: Workspace, make_campaign) -> None:
    """Target, limits and seconds, when the campaign has them; a simulation has none and says so in its record."""
    with make_campaign(workspace, rounds=1) as campaign:
        campaign.run()
    state = workspace.state()
    params = state.rounds[1].submitted["v1"].params
    assert {one["pruning"] for one in params["search"].values()} == {"not asked for"}
    assert all(one["asked"] == one["evaluated"] for one in params["search"].values())


@pytest.mark.parametrize(("prune_s", "sent"), [(5.0, PruningRules("sm_00", seconds=5.0)), (0.0, None)])
def test_rules_go_with_their_seconds(workspace: Workspace, prune_s: float, sent: PruningRules | None) -> None:
    """Without seconds nothing is pruned."""
    seen: list[Job] = []

    class Watching(SimulatorExecutor):
        def run(self, job: Job, started: Started) -> Outcome:
            seen.append(job)
            return super().run(job, started)

    options = CampaignOptions(pruning=PruningRules("sm_00"))
    settings = Settings(samples=10, evaluations=3, search_s=600.0, prune_s=prune_s)
    policy = policy_named("gpu-wiki", max_rounds=1)
    with Campaign(workspace, policy, (VariantsProposer(),), Watching(), settings=settings, options=options) as campaign:
        campaign.run()
    assert [job.body.pruning for job in seen if job.kind == "search"] == [sent]


class Replaying(SimulatorExecutor):
    """The simulator's answers as a replay would give them: on a basis, with a contest between two kernels."""

    simulated = False

    def __init__(self, verdict: str, level: Trust = "replayed") -> None:
        bound = {"candidate": CodeSource("bound", None)} if level == "replayed" else {}
        basis = AnswerBasis(level, seconds={"record": 0.5}, bound=bound)
        self.verdict, self.basis, self.jobs = verdict, basis, list[Job]()

    def run(self, job: Job, started: Started) -> Outcome:
        """Answer as the simulator does, with times of one launch, and say on what it rests."""
        self.jobs.append(job)
        found = super().run(job, started)
        answer = found.result
        if isinstance(answer, Timing):
            contest = Contest(self.verdict, job.body.threshold_pct, 40.0, 39.0, 41.0)  # type: ignore[arg-type]
            aside = job.incumbent in {b"", job.candidate}
            answer = replace(answer, contest=None if aside else contest, basis=self.basis)
        elif isinstance(answer, Check):
            answer = replace(answer, basis=self.basis)
        elif job.kind == "launcher":
            answer = LauncherRun("confirmed", device="Test")
        return replace(found, result=answer)


@pytest.mark.parametrize(
    ("verdict", "level", "decision", "rule"),
    [
        ("faster", "replayed", "accept", "R3 improved"),
        ("not_faster", "replayed", "rollback", "contest not faster"),
        ("undecided", "replayed", "rollback", "contest undecided"),
        ("faster", "reported", "unverified", "trust"),
    ],
)
def test_a_contest_decides_and_levels_are_kept(
    workspace: Workspace, verdict: str, level: Trust, decision: str, rule: str
) -> None:
    """Each record and decision says its level; a baseline that rests on less than is asked for is not accepted.

    The threshold sent is the measured noise, and no gain is timed again as too good to be believed.
    """
    executor = Replaying(verdict, level)
    settings = Settings(samples=10, evaluations=3, search_s=600.0)
    policy = policy_named("gpu-wiki", max_rounds=1)
    with Campaign(workspace, policy, (VariantsProposer(),), executor, settings=settings) as campaign:
        report = campaign.run()
    last = [e.data for e in workspace.events() if e.kind == "decided"][-1]
    assert (last.decision, last.rule, last.trust) == (decision, rule, level)
    assert {e.data.trust for e in workspace.events() if e.kind == "measured"} == {level}
    assert report.rounds[-1].trust == level
    contested = [job for job in executor.jobs if job.kind == "timing" and job.incumbent != job.candidate]
    if level == "replayed":
        noise = max(one.floor_pct for one in workspace.state().noise.values())
        assert [job.body.threshold_pct for job in contested] == [noise]
    else:
        assert last.round == 0
        assert not contested


@pytest.mark.parametrize(
    ("level", "decision", "rule"),
    [("replayed", "accept", "R3 improved"), ("isolated", "accept", "R3 improved"), ("reported", "unverified", "trust")],
)
def test_a_policy_that_asks_for_isolated_times_takes_no_less(
    workspace: Workspace, level: Trust, decision: str, rule: str
) -> None:
    """Isolated and better is enough; what the candidate's own process says of its time is not."""
    settings = Settings(samples=10, evaluations=3, search_s=600.0)
    policy = replace(policy_named("gpu-wiki", max_rounds=1), least_trust="isolated")
    executor = Replaying("faster", level)
    with Campaign(workspace, policy, (VariantsProposer(),), executor, settings=settings) as campaign:
        campaign.run()
    last = [e.data for e in workspace.events() if e.kind == "decided"][-1]
    assert (last.decision, last.rule, last.trust) == (decision, rule, level)


def test_a_round_of_the_cutile_loop_has_ten_minutes(workspace: Workspace, make_campaign) -> None:
    """What its runs took together is counted; the campaign and the workspace's branch are named after the kernel."""
    with make_campaign(workspace, "cutile", rounds=1) as campaign:
        campaign.run()
    state = workspace.state()
    assert [one.status for one in state.rounds] == ["baseline", "accept"]
    assert state.named is not None and re.fullmatch(r"cutile-perf-rms_norm-\d{8}-[0-9a-f]{6}", state.named.name)
    assert (state.named.tips, state.named.git_branch) == ("", state.named.name)
    if (workspace.layout.root / ".git").exists():
        head = (workspace.layout.root / ".git" / "HEAD").read_text()
        assert head == f"ref: refs/heads/{state.named.name}\n"
    ran = dict(state.rounds[-1].runs)
    first = next(one for one in ran.values() if one.finished is not None)
    slow = replace(first, finished=replace(first.finished, wall_s=600.0))
    late = replace(state.rounds[-1], runs={first.started.run: slow})
    assert (spent_s(late), spent_s(replace(late, runs=ran))) == (600, 0)
    with campaign:
        work = RoundWork(campaign._open(), policy_named("cutile"), Settings(), CampaignOptions())
        work.validate(replace(state, attempts={**state.attempts, 1: late}))
    last = workspace.events()[-1].data
    assert (last.decision, last.rule) == ("rollback", "round time")

"""Stage 1: from PyTorch logic to a baseline; failed attempts use numbers and never lead to REPORT by themselves."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.candidate.answers import read_answer
from kopt_kb.launch.candidate.job import Job, Outcome, Started
from kopt_kb.launch.candidate.simulator import SimulatorExecutor
from kopt_kb.packs.memory_form.memory_edit import mask
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.decision import unmet
from kopt_kb.tuning.machine import State
from kopt_kb.tuning.options import Budget, CampaignOptions, Settings
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.proposals import Proposal, Proposer, ProposerView, Tried
from kopt_kb.tuning.proposers import KnobsProposer, PackagedProposer, VariantsProposer
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.campaign_events import Stopped
from kopt_kb.workspace.journal.round_events import Decided, HypothesisStated, RoundStarted, SnapshotTaken
from kopt_kb.workspace.views.render import render_workspace
from kopt_kb.workspace.workspace import Workspace

LAZY = b"\n\ndef launch(x, weight, *, config=None, out=None):\n    return reference(x, weight)\n"


class Listed:
    """Says one source after another, each a hypothesis of its own."""

    name = "listed"

    def __init__(self, sources: Sequence[bytes]) -> None:
        self.sources, self.views = tuple(sources), list[ProposerView]()

    def propose(self, view: ProposerView) -> Proposal | None:
        self.views.append(view)
        at = len(view.tried)
        if at >= len(self.sources):
            return None
        return Proposal("implementation", f"try {at}", "a correct kernel", self.name, self.sources[at])


class Judging(SimulatorExecutor):
    """Passes a check unless the source says `WRONG`; leaves the errors out where it says `SILENT`."""

    def __init__(self) -> None:
        self.timed = list[Job]()

    def run(self, job: Job, started: Started) -> Outcome:
        self.timed += [job] if job.kind == "timing" else []
        found = super().run(job, started)
        if job.kind == "check" and found.result is not None:
            answer = found.result.to_json()
            if b"WRONG" in job.candidate:
                answer |= {"passed": False, "problem": "relative error 0.5", "rel_l2_err_by_shape": {"1024x512": 0.5}}
            if b"SILENT" in job.candidate:
                answer.pop("rel_l2_err_by_shape")
            return Outcome("ok", 0, None, 0.0, "", read_answer(job.kind, answer))
        return found


def campaign_of(workspace: Workspace, proposers: Sequence[Proposer], policy: str = "gpu-wiki") -> Campaign:
    """A campaign without noise."""
    settings = Settings(samples=5, evaluations=4)
    return Campaign(workspace, policy_named(policy, max_rounds=3), proposers, Judging(), settings=settings)


def decided(workspace: Workspace) -> list[tuple[int, str, str]]:
    """Round, decision and rule of every decided event."""
    return [(e.data.round, e.data.decision, e.data.rule) for e in workspace.events() if isinstance(e.data, Decided)]


@pytest.fixture
def kernel(naive: Path) -> bytes:
    """A Triton kernel of the operation."""
    return naive.read_bytes()


def test_the_package_implements_the_operation(pytorch: Workspace, logic: Path, make_campaign) -> None:
    """Round 0 states a hypothesis, starts from the PyTorch logic, and its kernel becomes kernel.py and v0."""
    assert pytorch.layout.kernel.read_bytes() == logic.read_bytes()
    with make_campaign(pytorch, rounds=1) as campaign:
        while campaign.step() is not State.ACCEPT:
            assert pytorch.layout.kernel.read_bytes() == logic.read_bytes()
    events = pytorch.events()
    started = next(e.data for e in events if isinstance(e.data, RoundStarted))
    said = next(e.data for e in events if isinstance(e.data, HypothesisStated))
    taken = next(e.data for e in events if isinstance(e.data, SnapshotTaken))
    assert ObjectStore(pytorch.layout.objects).get(started.incumbent) == logic.read_bytes()
    assert said.claim == "implement rms_norm in Triton: the package's kernel as it starts"
    assert (said.proposer, taken.version) == ("package", 0)
    assert b"@triton.jit" in pytorch.layout.kernel.read_bytes()
    assert decided(pytorch) == [(0, "accept", "baseline")]
    noise = [e.data for e in events if e.kind == "noise_measured"]
    assert {one.shape for one in noise} == {"8192x4096", "1024x512"}


def test_a_baseline_has_its_report_and_memory_before_the_next_round(pytorch: Workspace, make_campaign) -> None:
    """Both are there when Stage 1 ends; removed by a kill before they were rendered, they come back first."""
    with make_campaign(pytorch, rounds=1) as campaign:
        while campaign.step() is not State.ACCEPT:
            pass
        root = pytorch.layout.root
        text = (root / "baseline_report.md").read_text()
        assert "- implemented by: implement rms_norm in Triton" in text
        assert "| 1024x512 | 0 |" in text.partition("## Correctness")[2].partition("##")[0]
        memory = json.loads((root / "memory" / "v0.json").read_text())
        assert memory["status"] == "baseline"
        assert memory["correctness"]["rel_err_by_shape"] == {"8192x4096": 0.0, "1024x512": 0.0}
        (root / "baseline_report.md").unlink()
        campaign.step()
        assert (root / "baseline_report.md").is_file()


def test_failed_attempts_use_numbers_and_stay_in_baseline(
    pytorch: Workspace, logic: Path, kernel: bytes, wiki_root: Path
) -> None:
    """No kernel, a wrong one, one whose errors are not recorded, then a right one: v3 is the baseline."""
    sources = [logic.read_bytes() + LAZY, kernel + b"# WRONG\n", kernel + b"# SILENT\n", kernel, kernel + b"# later\n"]
    seen = []
    with campaign_of(pytorch, (Listed(sources),)) as campaign:
        while (state := campaign.step()) is not State.REPORT:
            seen.append((state, len(campaign.state().rounds)))
        report = campaign.report()
    assert decided(pytorch)[:4] == [
        (0, "rollback", "gate lint"),
        (1, "rollback", "gate correctness"),
        (2, "unverified", "Stage 1: no rel_l2_err of 8192x4096 is recorded"),
        (3, "accept", "baseline"),
    ]
    assert {state for state, rounds in seen if 0 < rounds < 4} == {State.BASELINE}
    assert (report.baseline, report.route) == ("v3", "pytorch")
    starts = [e.data.incumbent for e in pytorch.events() if isinstance(e.data, RoundStarted)]
    assert starts[:4] == [pytorch.state().created.kernel] * 4
    noise = {e.data.shape: e.data.run for e in pytorch.events() if e.kind == "noise_measured"}
    assert set(noise.values()) == {"sim-v3.timing.1"}  # not that of v2, whose times were recorded too
    found = audit(pytorch.layout.root, Registry.open(wiki_root))
    assert found.clean, found.findings


def test_a_first_kernel_is_timed_against_itself(pytorch: Workspace, kernel: bytes) -> None:
    """PyTorch logic has no launch: the baseline's two sides are the candidate, the next round's are not."""
    executor, sources = Judging(), [kernel, kernel + b"# later\n"]
    policy, settings = policy_named("gpu-wiki", max_rounds=1), Settings(samples=5)
    with Campaign(pytorch, policy, (Listed(sources),), executor, settings=settings) as campaign:
        campaign.run()
    assert [(one.incumbent, one.candidate) for one in executor.timed] == [(kernel, kernel), (kernel, sources[1])]


def test_views_speak_of_the_baseline_that_was_accepted(pytorch: Workspace, logic: Path, kernel: bytes) -> None:
    """v0 is a rollback in its memory; the report, the trend and the protection are those of v1."""
    sources = [logic.read_bytes() + LAZY, kernel, kernel + b"# later\n"]
    with campaign_of(pytorch, (Listed(sources),)) as campaign:
        campaign.run()
    root = pytorch.layout.root
    status = [json.loads((root / "memory" / f"v{n}.json").read_text())["status"] for n in (0, 1)]
    assert status == ["rollback", "baseline"]
    report = (root / "baseline_report.md").read_text()
    assert "memory/v1.json, status baseline" in report
    assert "- attempts before it: v0 (rollback)" in report
    trend = (root / "logs" / "performance_trend.md").read_text()
    assert "throughput against v1" in trend
    assert "| v1 | BASELINE |" in trend
    history = pytorch.state()
    assert history.unmaskable() >= {1} and 0 not in history.unmaskable()
    with pytest.raises(BadInput, match="v1 is the baseline"):
        mask(pytorch, [1], "no")
    assert mask(pytorch, [0], "try it again") == (0,)
    assert not render_workspace(pytorch).kept


def test_before_there_is_a_baseline_nothing_claims_one(pytorch: Workspace, logic: Path) -> None:
    """After a failed attempt: no baseline report, no current best, and what was tried can be masked."""
    with campaign_of(pytorch, (Listed([logic.read_bytes() + LAZY]),)) as campaign:
        report = campaign.run()
    assert report.stop and report.stop.reason == "exhausted"
    assert (report.baseline, report.gain_pct, report.best) == ("", None, "")
    root = pytorch.layout.root
    assert not (root / "baseline_report.md").exists()
    assert "No kernel is accepted yet." in (root / "logs" / "optimize.md").read_text()
    assert "there is none yet" in (root / "logs" / "performance_trend.md").read_text()
    assert mask(pytorch, [0], "try it again") == (0,)


def test_an_existing_kernel_that_fails_still_aborts(workspace: Workspace) -> None:
    """No second attempt: it is the user's kernel."""
    broken = workspace.layout.kernel
    broken.write_bytes(broken.read_bytes() + b"# WRONG\n")
    with campaign_of(workspace, (Listed([]),)) as campaign:
        report = campaign.run()
    assert report.stop is not None and report.stop.reason == "aborted"
    assert decided(workspace) == [(0, "rollback", "gate correctness")]


@pytest.mark.parametrize(("policy", "limit"), [("gpu-wiki", 15), ("primus", 4)])
def test_stage_one_is_given_up_after_the_policys_escalation(
    pytorch: Workspace, kernel: bytes, policy: str, limit: int
) -> None:
    """As many failed attempts abort the campaign, with all of them as evidence; no round limit ends it before."""
    sources = [kernel + f"# WRONG {at}\n".encode() for at in range(limit + 5)]
    with campaign_of(pytorch, (Listed(sources),), policy) as campaign:
        report = campaign.run()
        assert report.stop is not None
        assert (report.stop.reason, len(report.stop.evidence), len(report.rounds)) == ("aborted", limit, limit)
        campaign.restart()
        assert len(campaign.run(Budget(rounds=1)).rounds) == limit + 1


def test_without_a_proposer_it_says_what_to_give(pytorch: Workspace) -> None:
    """Exhausted before any attempt; a new start with a proposer goes on at number 0."""
    said: list[str] = []
    policy, settings = policy_named("gpu-wiki"), Settings(samples=5)
    with Campaign(
        pytorch, policy, (), Judging(), settings=settings, options=CampaignOptions(say=said.append)
    ) as campaign:
        report = campaign.run()
    assert (report.stop, report.rounds) == (Stopped("exhausted", ()), ())
    assert any("--proposer" in one for one in said)
    with campaign_of(pytorch, (PackagedProposer(),)) as campaign:
        campaign.restart()
        assert campaign.run(Budget(rounds=0)).baseline == "v0"


def test_a_budget_counts_failed_attempts(pytorch: Workspace, kernel: bytes) -> None:
    """Two of them are two rounds; the campaign may end there, since the baseline is not done."""
    sources = [kernel + f"# WRONG {at}\n".encode() for at in range(5)]
    with campaign_of(pytorch, (Listed(sources),)) as campaign:
        report = campaign.run(Budget(rounds=2))
    assert report.stop and report.stop.reason == "budget"
    assert len(report.rounds) == 2


def test_cut_after_any_event_it_ends_the_same(tmp_path: Path, pytorch: Workspace, logic: Path, kernel: bytes) -> None:
    """For each prefix of the journal a new campaign comes to the same decisions."""
    sources = [logic.read_bytes() + LAZY, kernel, kernel + b"# later\n"]
    root = pytorch.layout.root
    shutil.copy(root / "README.md", tmp_path / "README.md")
    with campaign_of(pytorch, (Listed(sources),)) as campaign:
        campaign.run()
    wanted = decided(pytorch)
    lines = pytorch.layout.journal.read_bytes().splitlines(keepends=True)
    first = next(at for at, e in enumerate(pytorch.events()) if e.kind == "campaign_confirmed")
    for cut in range(first, len(lines)):
        copy = tmp_path / f"copy{cut}"
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".git", "v*.json", "*.md"))
        shutil.copy(tmp_path / "README.md", copy / "README.md")
        (copy / "journal.jsonl").write_bytes(b"".join(lines[:cut]))
        if not any(b'"snapshot_taken"' in line for line in lines[:cut]):
            shutil.copy(logic, copy / "kernel.py")
        with campaign_of(Workspace.open(copy), (Listed(sources),)) as campaign:
            campaign.run()
        assert decided(Workspace.open(copy)) == wanted, f"cut after event {cut}"


def test_proposers_see_the_stage_and_the_logic(pytorch: Workspace, logic: Path, kernel: bytes) -> None:
    """First `implement` with the PyTorch logic, then `optimize` with the kernel, both with the framework."""
    listed = Listed([kernel, kernel + b"# later\n"])
    with campaign_of(pytorch, (listed,)) as campaign:
        campaign.run()
    first, second = listed.views[:2]
    assert (first.stage, first.incumbent, first.round) == ("implement", logic.read_bytes(), 0)
    assert (second.stage, second.incumbent, second.round) == ("optimize", kernel, 1)
    assert first.document.framework == "Triton"
    assert first.document.to_json()["stage"] == "implement"


def view(framework: str, stage: str, source: bytes = b"x = 1\n") -> ProposerView:
    """What a proposer sees before anything was tried."""
    return ProposerView(
        "rms_norm", ("64x128",), "bf16", "sm_90", "memory", "", 0, source, (), frozenset(), framework, stage
    )  # type: ignore[arg-type]


def test_the_package_offers_its_kernel_of_the_framework_in_stage_one_only() -> None:
    """Nothing for a framework that it has no kernel in, or once there is a kernel; said once."""
    offer = PackagedProposer()
    found = offer.propose(view("triton", "implement"))
    assert found is not None and b'OP = "rms_norm"' in found.source
    other = offer.propose(view("CuTe DSL", "implement"))
    assert other is not None and b'language = "cute"' in other.source
    third = offer.propose(view("cuTile", "implement"))
    assert third is not None and b"@ct.kernel" in third.source
    assert offer.propose(view("Gluon", "implement")) is None
    assert offer.propose(view("Triton", "optimize")) is None
    tried = (Tried(0, found.category, found.claim, "rollback", "r"),)
    again = ProposerView("rms_norm", ("64x128",), "bf16", "", "", "", 1, b"", tried, frozenset(), "Triton", "implement")
    assert offer.propose(again) is None


def test_no_search_of_what_is_no_kernel_and_no_kernel_of_another_language(kernel: bytes) -> None:
    """Knobs wait for a kernel; variants of the package are of the kernel's language."""
    assert KnobsProposer().propose(view("Triton", "implement", kernel)) is None
    assert VariantsProposer().propose(view("Gluon", "implement", kernel)) is None
    assert VariantsProposer().propose(view("Gluon", "optimize", kernel)) is None
    ours = VariantsProposer().propose(view("CuteDSL", "implement", b"x = 1\n"))
    assert ours is not None and b'language = "cute"' in ours.source
    assert VariantsProposer().propose(view("Triton", "implement", b"x = 1\n")) is not None


@pytest.mark.parametrize(
    ("errors", "times", "found"),
    [
        ({"a": 0.0, "b": 1e-3}, {"a": [1.0] * 3, "b": [1.0] * 3}, 0),
        ({"a": 0.0}, {"a": [1.0] * 3, "b": [1.0] * 3}, 1),
        ({"a": 0.0}, {"a": [1.0] * 3, "b": [1.0] * 2}, 2),
        ({"a": float("nan"), "b": 0.0}, {"a": [1.0] * 3, "b": [1.0] * 3}, 1),
        (None, {}, 4),
    ],
)
def test_what_ends_stage_one(errors: dict[str, float] | None, times: dict[str, list[float]], found: int) -> None:
    """An error and three times of every shape; a record that does not say errors by shape lacks them all."""
    assert len(unmet(["a", "b"], 3, errors or {}, times)) == found

"""Choices, reviews and opportunities."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.analysis.gap.causes import CauseName
from kopt_kb.analysis.rules.categories import CATEGORIES
from kopt_kb.launch.candidate.simulator import SimulatorExecutor
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.insights import _of_cause, choice_of, open_entries, opportunities, review_due, review_of, taken_up
from kopt_kb.tuning.options import Budget
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.proposals import Proposal, ProposerView
from kopt_kb.tuning.proposers import VariantsProposer
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.workspace import Workspace
from tests.kopt_kb.tuning.measuring import Measuring
from tests.kopt_kb.tuning.test_accounting import SETTINGS, campaign
from tests.kopt_kb.tuning.test_known import VERDICT, profiled


def test_a_choice_names_limiter_row_and_what_it_rests_on(workspace: Workspace, wiki_root: Path) -> None:
    """With a row of the table, and against it."""
    with campaign(workspace, wiki_root, Measuring(profiles=False)) as tuned:
        tuned.run(Budget(rounds=0))
        seq = profiled(tuned, VERDICT)
        state = tuned.state()
    asked = choice_of(state, 1, "caching")
    assert (asked.limiter, asked.category) == ("dram", "caching")
    assert asked.row.startswith("advice/dram.md:")
    assert asked.reason.startswith(f"dram limits (memory-bound: dram, event {seq}); dram asks for caching: Reuse")
    other = choice_of(state, 1, "compute")
    assert (other.limiter, other.row) == ("", "")
    assert "the proposer chose compute, the table says memory_traffic first" in other.reason


def test_opportunities_come_from_the_verdict_and_the_gaps(workspace: Workspace, wiki_root: Path) -> None:
    """Each limiter with its worth, each part of a gap with its share; what no kernel moves is infeasible."""
    with campaign(workspace, wiki_root, Measuring()) as tuned:
        tuned.run(Budget(rounds=0))
        profiled(tuned, VERDICT)
        tuned._proposing().listed(tuned.state())
        again = tuned.state()
    listed = tuple(again.opportunities.values())
    found = {one.id: one for one in listed}
    assert found["v0:verdict:dram"].share_pct == 15.0
    assert found["v0:verdict:tail"].state == "untried"
    assert "v0:gap:8192x4096:extra-bytes:dram" in found
    assert found["v0:gap:8192x4096:extra-bytes:dram"].categories[0] == "memory_traffic"
    assert found["v0:gap:1024x512:unexplained"].state == "unexplained"
    assert opportunities(again) == ()
    assert len(open_entries(again)) == len(found) - sum(one.state == "infeasible" for one in listed)
    taken = {one.id: one for one in taken_up(again, 1, "scheduling", 99)}
    assert set(taken) == {"v0:verdict:tail"}
    assert (taken["v0:verdict:tail"].state, taken["v0:verdict:tail"].round) == ("hypothesis", 1)


def test_bytes_that_the_problem_has_are_nobodys_opportunity(workspace: Workspace, wiki_root: Path) -> None:
    """Device memory limits, and counters found no more bytes than have to be moved: fewer is not to be had."""
    with campaign(workspace, wiki_root, Measuring(moved=0.9)) as tuned:
        tuned.run(Budget(rounds=0))
        seq = profiled(tuned, VERDICT)
        tuned._proposing().listed(tuned.state())
        state = tuned.state()
    account = next(at for at, one in state.gaps.items() if one.profiles)
    (entry,) = (one for one in state.opportunities.values() if one.id == "v0:verdict:dram")
    assert (entry.state, entry.categories, entry.evidence) == ("infeasible", (), (seq, account))
    assert entry.reason == "counters found no more bytes of device memory than the problem has"
    assert "v0:verdict:dram" not in {one.opportunity.id for one in open_entries(state)}


class Worse:
    """Goes back to a naive kernel, each time with another remark."""

    name = "worse"

    def propose(self, view: ProposerView) -> Proposal | None:
        """Return the naive kernel once a version was accepted over it."""
        if not any(one.decision == "accept" for one in view.tried):
            return None
        naive = Path("kernels/naive/rms_norm.py").read_bytes()
        claim = f"remark {view.round}"
        return Proposal(claim, claim, "less time", self.name, naive + f"# {claim}\n".encode())


def test_two_rollbacks_hold_a_review(workspace: Workspace, repo_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions, profile, three directions and references, once; the next needs two more rollbacks."""
    monkeypatch.chdir(repo_root)
    policy = policy_named("gpu-wiki")
    policy = replace(policy, max_rounds=5, least_trust="unstated", stop_reasons=("iterations",))
    with Campaign(workspace, policy, (Worse(), VariantsProposer()), Measuring(), settings=SETTINGS) as tuned:
        tuned.run()
        state = tuned.state()
    assert [one.accepted for one in state.rounds] == [True, True, False, False, False, False]
    assert [one.versions for one in state.reviews.values()] == [(2, 3)]  # after round 5 the limit of rounds ends it
    for review in state.reviews.values():
        assert len(review.versions) >= 2
        assert all(not state.attempts[number].accepted for number in review.versions)
        assert len(review.directions) == 3
        assert review.round == max(review.versions) + 1
    platform = Registry.open().platform("H200_SXM")
    again = review_of(state, policy, platform)
    assert any(one.startswith("ops/norm.md") for one in again.references)
    own = f"{repo_root / 'kernels'}/"
    with_files = replace(state, task=replace(state.task, reference_project=str(repo_root / "kernels")))
    assert any(one.startswith(own) for one in review_of(with_files, policy, platform).references[:3])

    assert [one.number for one in review_due(state, policy)] == [4, 5]


def test_a_direction_is_what_a_kernel_can_change(workspace: Workspace, wiki_root: Path) -> None:
    """Clock and reach are none, however large, nor what nobody explains; the others are named with their row."""
    with campaign(workspace, wiki_root, Measuring()) as tuned:
        tuned.run(Budget(rounds=0))
        state = tuned.state()
    parts = [part for gap in state.gaps_of(state.best).values() for part in gap.parts]
    asked = next(part for part in parts if part.cause == "extra-bytes")
    found = _of_cause(asked, frozenset())
    assert found is not None
    assert (found.category, found.text) == ("memory_traffic", str(asked))
    assert found.source.startswith("gap_accounted, advice/dram.md")
    other = _of_cause(asked, {"memory_traffic"})
    assert other is not None and other.category == "caching"
    assert _of_cause(asked, CATEGORIES) is None
    infeasible: tuple[CauseName, ...] = ("clock", "reach", "unexplained")
    assert [_of_cause(replace(asked, cause=one), frozenset()) for one in infeasible] == [None] * 3


def test_a_review_has_three_directions_where_a_roofline_alone_speaks(
    workspace: Workspace, repo_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No profile, no account: what device memory asks for comes first, then what no round has tried."""
    monkeypatch.chdir(repo_root)
    policy = replace(policy_named("gpu-wiki"), max_rounds=4, least_trust="unstated", stop_reasons=("iterations",))
    with Campaign(workspace, policy, (Worse(), VariantsProposer()), SimulatorExecutor(), settings=SETTINGS) as tuned:
        tuned.run()
        state = tuned.state()
    (review,) = state.reviews.values()
    assert len({one.category for one in review.directions}) == 3
    assert review.directions[0].source.startswith("advice/dram.md")
    assert all(one.category and one.text for one in review.directions)

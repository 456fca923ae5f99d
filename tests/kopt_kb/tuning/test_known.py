"""What proposers are shown besides the kernel."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.known import known_of, limiters_of
from kopt_kb.tuning.options import Budget, CampaignOptions
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.proposals import Proposal, ProposerView
from kopt_kb.tuning.proposers import VariantsProposer
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.journal.setup_events import ProfileRead
from kopt_kb.workspace.workspace import Workspace
from tests.kopt_kb.tuning.measuring import Measuring
from tests.kopt_kb.tuning.test_accounting import SETTINGS, campaign

VERDICT = {
    "class": "memory-bound", "limiter": "dram", "evidence": [], "others": [{"limiter": "tail"}],
    "worth": {"dram": {"time_pct": 15.0, "basis": "b"}},
}  # fmt: skip


def profiled(tuned: Campaign, verdict: dict[str, object], kernel: str = "") -> int:
    """Append a profile of the best version, or of another kernel; return its event."""
    best = tuned.state().best
    assert best is not None
    assert best.snapshot is not None
    code = f"{verdict['class']}: {verdict['limiter']}"
    evidence = ({"kernel": "k", "shape": "8192x4096", "verdict": verdict},)
    return tuned._open().append(ProfileRead("1" * 64, "ncu", kernel or best.snapshot.blob, code, evidence, "v0.csv"))


def test_the_verdict_in_force_is_of_the_best_version(workspace: Workspace, wiki_root: Path) -> None:
    """Its limiters rank the categories; what was taken of a rolled-back kernel is not shown."""
    with campaign(workspace, wiki_root, Measuring(profiles=False)) as tuned:
        tuned.run(Budget(rounds=0))
        before = known_of(tuned.state())
        assert (before.profile, before.limiters) == (None, ("dram",))
        assert "its roofline is memory" in before.limiter_basis
        seq = profiled(tuned, VERDICT)
        profiled(tuned, {**VERDICT, "limiter": "barrier"}, kernel="2" * 64)
        known = known_of(tuned.state(), Registry.open(wiki_root).platform("T10"))
    assert known.profile is not None
    assert (known.profile.event, known.profile.name, known.profile.code) == (seq, "v0.csv", "memory-bound: dram")
    assert known.limiters == ("dram", "tail")
    assert known.limiter_basis == f"memory-bound: dram, event {seq}"
    assert [one.category for one in known.categories][:2] == ["memory_traffic", "caching"]
    assert known.order(("compute", "caching", "scheduling")) == ("caching", "scheduling", "compute")


def test_counts_roofs_times_limits_and_gaps_are_in_it(workspace: Workspace, wiki_root: Path) -> None:
    """Each shape with its work, roofs and what the best time achieves; sourced limits with their citations."""
    with campaign(workspace, wiki_root, Measuring()) as tuned:
        tuned.run(Budget(rounds=0))
        known = known_of(tuned.state(), Registry.open(wiki_root).platform("T10"))
    document = known.to_json()
    shapes = document["under_roofs"]
    assert isinstance(shapes, list)
    first = shapes[0]
    assert isinstance(first, dict)
    assert first["shape"] == "8192x4096"
    assert first["median_s"] and first["uses"]
    assert {"work", "ceilings", "target", "citations"} <= set(first["roofline"])  # type: ignore[arg-type]
    assert "sm_count" in {row.key for row in known.limits}
    assert all(row.citation.line for row in known.limits)
    assert [gap.name for gap in known.gaps] == ["8192x4096", "1024x512"]


def test_a_limiter_outside_the_table_or_an_old_code_is_none(workspace: Workspace, wiki_root: Path) -> None:
    """Journals of earlier releases keep ncu's class alone: then the roofline says what limits."""
    with campaign(workspace, wiki_root, Measuring(profiles=False)) as tuned:
        tuned.run(Budget(rounds=0))
        state = tuned.state()
        best = state.best
        assert best is not None
        assert best.snapshot is not None
        old = ProfileRead("1" * 64, "ncu", best.snapshot.blob, "latency", ({"kernel": "k", "shape": "s"},))
        assert limiters_of(replace(state, profiles={90: old}))[0] == ("dram",)
        strange = replace(old, evidence=({"verdict": {"limiter": "weather", "others": "none"}},))
        assert limiters_of(replace(state, profiles={90: strange}))[0] == ("dram",)


class Watching:
    """Proposes what the file declares, and keeps what it was shown."""

    name = "variants"

    def __init__(self) -> None:
        self.shown: list[dict[str, object]] = []

    def propose(self, view: ProposerView) -> Proposal | None:
        """Answer as the package's own does."""
        self.shown.append(json.loads(json.dumps(view.document.to_json())))
        return VariantsProposer().propose(view)


def test_every_state_of_a_measured_campaign_is_what_its_schema_says(
    workspace: Workspace, wiki_root: Path, fits: Callable[[str, object], bool]
) -> None:
    """From the first round to one after a review: with profile, gaps, times under roofs, what is reachable, ledger."""
    watching = Watching()
    policy = replace(policy_named("gpu-wiki", max_rounds=5), least_trust="unstated", stop_reasons=("iterations",))
    options = CampaignOptions(platform=Registry.open(wiki_root).platform("T10"))
    with Campaign(workspace, policy, (watching,), Measuring(), settings=SETTINGS, options=options) as tuned:
        tuned.run()
    assert [fits("proposer_state", one) for one in watching.shown] == [True] * len(watching.shown)
    assert {bool(one["review"]) for one in watching.shown} == {True, False}
    for name in ("profile", "gaps", "ledger", "categories", "limits"):
        assert all(one[name] for one in watching.shown), name
    first = watching.shown[0]["under_roofs"]
    assert isinstance(first, list) and first[0]["reachable"]["probe"] == "copy of the same bytes"

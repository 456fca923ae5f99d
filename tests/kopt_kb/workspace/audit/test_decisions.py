"""A decision that claims more than its runs gave is found at its own line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.wire import plain
from kopt_kb.launch.candidate.answers import AnswerBasis, Contest, Sample, Timing
from kopt_kb.workspace.audit.decisions import decision_findings
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.round_events import Decided, GateJudged, Measured, RunFinished, RunStarted


@dataclass(frozen=True)
class Told:
    """An event as the audit sees it."""

    seq: int
    data: Any


class Story:
    """A round that is timed once or twice and decided."""

    def __init__(self, store: ObjectStore) -> None:
        self.store = store
        self.events: list[Any] = []

    def timed(self, candidate: str, verdict: Any = None, level: Any = "replayed", problem: str = "") -> None:
        """Add a run with a contest that says this, on a basis."""
        sample = Sample(9, 1e-6)
        contest = Contest(verdict, 1.0) if verdict else None
        basis = AnswerBasis(level) if level else None
        answer = Timing({} if problem else {"4": {"candidate": (sample,)}}, problem, contest=contest, basis=basis)
        output = self.store.put(json.dumps({"printed": "", "result": plain(answer)}).encode())
        run = f"{candidate}.timing.1"
        self.events.append(RunStarted(run, candidate, "timing", 1, ("x",), {}, 1, None))
        self.events.append(RunFinished(run, "ok", 0, None, 0.1, output))

    def measured(self, run: str = "v1.timing.1", level: Any = "replayed", name: str = "m1") -> None:
        """Add a record of a run."""
        self.events.append(Measured(name, "v1", "4", 9, 1e-6, {}, run, 1, level))

    def findings(self, decision: Any = "accept", level: Any = "replayed") -> list[str]:
        """Return what is found once the round is decided."""
        names = tuple(one.id for one in self.events if isinstance(one, Measured))
        decided = Decided(1, decision, "p", "rule", names, (), level)
        events: Any = tuple(Told(at, one) for at, one in enumerate([*self.events, decided], 1))
        return [one.message for one in decision_findings(events, self.store)]


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """Nothing has happened yet."""
    (tmp_path / "objects").mkdir()
    return Story(ObjectStore(tmp_path / "objects"))


def test_a_decision_that_holds(story: Story) -> None:
    """Of a contest that says faster, of a rollback, and of a gain that was timed again."""
    story.timed("v1", "undecided")
    story.measured()
    assert story.findings("rollback") == []
    story.timed("v1.again", "faster")
    assert story.findings() == []
    assert story.findings(level="reported") == []


@pytest.mark.parametrize("verdict", ["not_faster", "undecided", "unavailable"])
def test_accepted_against_its_contest(story: Story, verdict: str) -> None:
    """The last one that gave times counts."""
    story.timed("v1", "faster")
    story.timed("v1.again", verdict)
    story.timed("v2", "faster")
    assert story.findings() == [f"round 1 is accepted, and its contest says {verdict}"]
    assert story.findings("rollback") == []


def test_accepted_against_a_gate(story: Story) -> None:
    """Of its own candidate, before the decision."""
    story.events.append(GateJudged("v2", "build", "fail", "", ()))
    assert story.findings() == []
    story.events.append(GateJudged("v1", "correctness", "fail", "", ()))
    assert story.findings("accept_with_note") == ["round 1 is accepted, and the gate correctness failed"]
    assert story.findings("rollback") == []


def test_more_trust_than_there_is(story: Story) -> None:
    """Of a record, and of a decision; a run that states no basis was reported by whoever ran it."""
    story.timed("v1", level="reported")
    story.measured(level="replayed")
    assert story.findings() == ["record m1 is said to be replayed, its run v1.timing.1 is reported"]
    story.events.pop()
    story.measured(level="reported")
    assert story.findings() == ["round 1 is said to rest on replayed times, and one of them is reported"]
    assert story.findings(level="reported") == []


def test_a_run_without_a_basis(story: Story) -> None:
    """As in earlier journals, which state no trust either."""
    story.timed("v1", level=None)
    story.measured(level="unstated")
    assert story.findings(level="unstated") == []
    story.measured(level="isolated", name="m2")
    assert any("m2 is said to be isolated" in one for one in story.findings(level="unstated"))

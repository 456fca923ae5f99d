"""Jobs run once and are remembered; abandoned ones are tried again, up to a limit."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.candidate.answers import Check, read_answer
from kopt_kb.launch.candidate.job import Job, Outcome, Started
from kopt_kb.tuning.session import Session
from kopt_kb.workspace.fold import Fold
from kopt_kb.workspace.journal.round_events import RoundStarted, RunStarted
from kopt_kb.workspace.workspace import Workspace


class Counting:
    """Counts its runs and answers all alike."""

    name, simulated, trust = "counting", False, "replayed"
    close = staticmethod(lambda: None)

    def __init__(self, result: dict[str, object]) -> None:
        self.count, self.result = 0, result

    def run(self, job: Job, started: Started) -> Outcome:
        started(("x",), 1, None)
        self.count += bool(job.kind)
        return Outcome("ok", 0, None, 0.1, "text", read_answer(job.kind, self.result))


def opened(workspace: Workspace, executor: Counting) -> Session:
    """A session with an open baseline round."""
    session = Session.open(workspace.layout, executor)
    if not session.state().rounds:
        session.append(RoundStarted(0, workspace.state().created.kernel))
    return session


def test_a_finished_run_is_never_repeated(workspace: Workspace) -> None:
    """The second request reads the blob of the first."""
    executor = Counting({"passed": True})
    session = opened(workspace, executor)
    first = session.run_once(session.state().rounds[0], "v0", Job("check"))
    second = session.run_once(session.state().rounds[0], "v0", Job("check"))
    session.close()
    assert (executor.count, first.result, second.result, second.printed) == (
        1,
        Check(passed=True),
        Check(passed=True),
        "text",
    )


def test_abandoned_runs_are_named_and_tried_again(workspace: Workspace) -> None:
    """Attempt + 1 after each; after three nobody tries any more and the run is lost."""
    executor = Counting({})
    for attempt in (1, 2, 3):
        session = opened(workspace, executor)
        session.append(RunStarted(f"v0.check.{attempt}", "v0", "check", attempt, ("x",), {}, 1, None))
        session.close()
    session = opened(workspace, executor)
    lost = session.run_once(session.state().rounds[0], "v0", Job("check"))
    session.close()
    assert (lost.outcome, executor.count) == ("lost", 0)
    assert [e.data.abandoned_runs for e in workspace.events() if e.kind == "resumed"] == [
        ("v0.check.1",), ("v0.check.2",), ("v0.check.3",)
    ]  # fmt: skip


def test_a_missing_tool_is_an_error_with_a_remedy(workspace: Workspace) -> None:
    """No GPU is not the candidate's fault."""
    session = opened(workspace, Counting({"missing": "no GPU is visible"}))
    with pytest.raises(MissingTool, match="no GPU"):
        session.run_once(session.state().rounds[0], "v0", Job("timing"))
    session.close()


def test_a_run_that_found_no_gpu_is_tried_again(workspace: Workspace) -> None:
    """Its answer is about the machine: no later start decides the candidate from it, and it uses up no attempt."""
    executor = Counting({"missing": "no GPU is visible"})
    for _ in range(4):
        session = opened(workspace, executor)
        with pytest.raises(MissingTool, match="no GPU"):
            session.run_once(session.state().rounds[0], "v0", Job("check"))
        session.close()
    executor.result = {"passed": True}
    session = opened(workspace, executor)
    found = session.run_once(session.state().rounds[0], "v0", Job("check"))
    session.close()
    assert (found.outcome, found.result, found.run) == ("ok", Check(passed=True), "v0.check.5")


def test_each_event_is_read_once(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step looks at the events since the last one only, however long the journal is."""
    taken: dict[Fold, int] = {}
    take = Fold.take

    def counting(self: Fold, events) -> None:
        kept = tuple(events)
        taken[self] = taken.get(self, 0) + len(kept)
        take(self, kept)

    monkeypatch.setattr(Fold, "take", counting)
    session = opened(workspace, Counting({"passed": True}))
    assert taken[session.fold] == 3  # the baseline round came after the state was asked for
    for _ in range(3):
        session.run_once(session.state().rounds[0], "v0", Job("check"))
    session.close()
    assert taken[session.fold] == len(workspace.events())

"""A launcher that is said to be seen was seen by a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.wire import plain
from kopt_kb.launch.candidate.launcher_run import LauncherRun
from kopt_kb.workspace.audit.launchers import launcher_findings, launchers_said
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.events import Event, EventData
from kopt_kb.workspace.journal.round_events import Decided, LauncherConfirmed, RunFinished, RunStarted

SEEN = LauncherRun("confirmed", device="H100")
EVENT = LauncherConfirmed(1, "confirmed", "v1.launcher.1", "H100", (), {}, {})
Journal = Callable[..., tuple[Event, ...]]


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    """Blobs of a journal."""
    return ObjectStore(tmp_path)


def events(
    store: ObjectStore, *said: EventData, answer: LauncherRun = SEEN, candidate: str = "v1"
) -> tuple[Event, ...]:
    """Return a journal with one run of a launcher, then what is said of it."""
    output = store.put(json.dumps({"printed": "", "result": plain(answer)}).encode())
    ran = (
        RunStarted("v1.launcher.1", candidate, "launcher", 1, ("kb",), {}, 1, None),
        RunFinished("v1.launcher.1", "ok", 0, None, 1.0, output),
    )
    return tuple(Event(2, seq, "t", one.kind, one, "") for seq, one in enumerate((*ran, *said), start=1))


def decided(word: Any, number: int = 1) -> Decided:
    """Return a decision that says so of its launcher."""
    return Decided(number, "accept", "p", "r", (), launcher=word)


def test_what_a_run_saw_is_consistent(store: ObjectStore) -> None:
    """The event holds the answer, the decision the event."""
    assert list(launcher_findings(events(store, EVENT, decided("confirmed")), store)) == []
    assert list(launcher_findings(events(store, decided("no"), decided("", 2)), store)) == []


@pytest.mark.parametrize(
    ("said", "more"),
    [
        (EVENT, {"answer": replace(SEEN, outcome="simulated")}),
        (EVENT, {"answer": replace(SEEN, problem="it is wrong")}),
        (replace(EVENT, device="H200"), {}),
        (replace(EVENT, launches={"4x4": 1}), {}),
        (EVENT, {"candidate": "v2"}),
        (decided("confirmed"), {}),
        (decided("simulated"), {}),
    ],
)
def test_what_no_run_saw_is_a_finding(store: ObjectStore, said: EventData, more: dict[str, Any]) -> None:
    """A word more than the run's answer, or a decision's without an event."""
    (found,) = launcher_findings(events(store, said, **more), store)
    assert (found.code, found.line) == ("record", 3)


def test_every_accepted_version_is_listed(store: ObjectStore) -> None:
    """Also those of campaigns that were recorded before anybody asked."""
    said = launchers_said(
        events(store, decided("", 0), decided("confirmed"), replace(decided("no", 2), decision="rollback"))
    )
    assert said == {
        "v0": "launcher: no, recorded before",
        "v1": "launcher: confirmed: it did once, caged, what its record does",
    }

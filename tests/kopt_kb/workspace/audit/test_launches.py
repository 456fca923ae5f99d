"""Kept launch records are whole and of the sources they are said to be of; each forgery is found at its run."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.wire import canonical, plain
from kopt_kb.launch.candidate.answers import AnswerBasis, Check
from kopt_kb.workspace.audit.launches import launch_findings
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.round_events import CandidateSubmitted, RunFinished, RunStarted
from tests.kopt_kb.launch.small_record import CODE, small_record

SOURCE = hashlib.sha256(b"source").hexdigest()


@dataclass(frozen=True)
class Told:
    """An event as the audit sees it."""

    seq: int
    data: Any


class Run:
    """The events of one check on a candidate, and the blobs they name."""

    def __init__(self, store: ObjectStore, **changes: Any) -> None:
        self.store = store
        store.put(CODE)
        record = small_record(**{"sources": {"kernel.py": SOURCE}, **changes})
        self.record = store.put(canonical(record.to_json()))

    def findings(
        self,
        records: tuple[str, ...] | None = None,
        candidate: str = "v1",
        basis: dict[str, str] | None = None,
        unkept: dict[str, str] | None = None,
    ) -> list[tuple[int, str]]:
        """Return (line, text) of what is found where the answer rests on the record."""
        rests = AnswerBasis("replayed", records=basis or {"candidate 4": self.record}, unkept=unkept or {})
        kept = {"printed": "", "result": plain(Check(passed=True, basis=rests))}
        output = self.store.put(json.dumps(kept).encode())
        names = (self.record,) if records is None else records
        events: Any = (
            Told(1, CandidateSubmitted(1, "v1", SOURCE, {}, "x")),
            Told(2, RunStarted("r", candidate, "check", 1, ("x",), {}, 1, None)),
            Told(3, RunFinished("r", "ok", 0, None, 0.1, output, names)),
        )
        return [(one.line, one.message) for one in launch_findings(events, self.store)]


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    """An empty store."""
    (tmp_path / "objects").mkdir()
    return ObjectStore(tmp_path / "objects")


def test_a_record_that_holds(store: ObjectStore) -> None:
    """Also of a run in which a gain was timed again, and where the machine's noise was measured."""
    run = Run(store)
    for candidate in ("v1", "v1.again", "noise-5"):
        assert run.findings(candidate=candidate) == []


def test_runs_that_keep_none(store: ObjectStore) -> None:
    """Of earlier releases; and one record that was too large, as the answer says."""
    run = Run(store)
    assert run.findings(records=()) == []
    both = {"candidate 4": run.record, "candidate 8": "ef" * 32}
    assert run.findings(basis=both, unkept={"candidate 8": "too large"}) == []


@pytest.mark.parametrize("lost", ["record", "code"])
def test_a_lost_blob(store: ObjectStore, lost: str) -> None:
    """Is found at the run that names the record, code objects too."""
    run = Run(store)
    sha = run.record if lost == "record" else hashlib.sha256(CODE).hexdigest()
    store.path(sha).unlink()
    ((line, text),) = run.findings()
    assert line == 3 and sha in text and "missing" in text


def test_what_no_judge_would_replay(store: ObjectStore) -> None:
    """A blob that is no record, one out of bounds, and code for another target."""
    run = Run(store)
    ((_, text),) = run.findings(records=(store.put(b"{}"), run.record))
    assert "run_finished.records" in text
    ((_, text),) = Run(store, v=99).findings()
    assert "version" in text
    ((_, text),) = Run(store, target="sm_80").findings()
    assert "sm_90" in text


def test_a_run_that_rests_on_something_else(store: ObjectStore) -> None:
    """On a record that is not kept, or one that was made of another source."""
    run = Run(store)
    ((line, text),) = run.findings(records=(store.put(canonical(small_record(label="other").to_json())),))
    assert line == 3 and f"rests on record {run.record}" in text and "does not keep" in text
    ((_, text),) = Run(store, sources={"kernel.py": "ab" * 32}).findings()
    assert "was not made of v1" in text

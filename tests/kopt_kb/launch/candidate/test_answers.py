"""Answers are typed, travel as JSON, and those of earlier releases are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.base.wire import WireError, plain
from kopt_kb.launch.candidate.answers import Check, Sample, Search, ShapeSearch, Timing, Unable, kept_run, read_answer

FOUND = ShapeSearch({"a": 1}, 1e-6, 4, "exhaustive", 3, 1, 4, {"spills": 1}, 0, "on")


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("check", Check("", True, "", 1e-7, {"2x4": 1e-7}, 2)),
        ("timing", Timing({"2x4": {"candidate": (Sample(1, 1e-6, step_pct=0.5),)}}, header=("label",))),
        ("timing", Timing(problem="the output is wrong")),
        ("search", Search({"2x4": FOUND})),
        ("limits", Unable(unavailable="no such job")),
        ("timing", Unable(missing="no GPU")),
    ],
)
def test_what_is_written_is_read(kind: str, answer: object) -> None:
    """Nothing is lost on the way."""
    assert read_answer(kind, json.loads(json.dumps(plain(answer)))) == answer


def test_answers_of_earlier_releases_are_read() -> None:
    """The norm was called a maximum, and simulated answers were marked."""
    old = {"build_error": "", "checks": 4, "max_rel_err": 2e-7, "max_rel_errs": [2e-7], "passed": True, "problem": ""}
    assert read_answer("check", {**old, "simulated": True}) == Check(passed=True, rel_l2_err=2e-7, checks=4)


@pytest.mark.parametrize(
    ("kind", "document"),
    [("check", {"passed": 1}), ("check", {"more": 1}), ("timing", []), ("search", {}), ("limits", {"passed": True})],
)
def test_anything_else_is_refused(kind: str, document: object) -> None:
    """Wrong, surplus and lacking members."""
    with pytest.raises(WireError):
        read_answer(kind, document)


def test_every_recorded_answer_is_read(repo_root: Path) -> None:
    """The five campaigns of the H200: each run's blob is an answer of its kind."""
    count = 0
    for journal in sorted((repo_root / "benchmarks" / "campaigns").glob("*/*/journal.jsonl")):
        events = [json.loads(line) for line in journal.read_text().splitlines()]
        kinds = {one["data"]["run"]: one["data"]["gate"] for one in events if one["kind"] == "run_started"}
        for one in events:
            if one["kind"] == "run_finished" and one["data"]["output"]:
                data = (journal.parent / "objects" / one["data"]["output"]).read_bytes()
                count += kept_run(kinds[one["data"]["run"]], data).answer is not None
    assert count > 60


def test_what_a_run_printed_and_answered() -> None:
    """A run that died answered nothing; what is no such blob is refused."""
    kept = kept_run("check", b'{"printed": "hi", "result": {"passed": true}}')
    assert (kept.printed, kept.answer) == ("hi", Check(passed=True))
    assert kept_run("check", b'{"printed": "", "result": null}').answer is None
    for data in (b"", b"[]", b'{"passed": true}', b'{"result": {"passed": NaN}}', b'{"result": {"shapes": {}}}'):
        with pytest.raises(WireError):
            kept_run("check", data)

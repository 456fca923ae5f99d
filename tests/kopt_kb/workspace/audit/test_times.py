"""Claims about times of a journal: what can't both be is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kopt_kb.workspace.audit.forging import codes, of_kind, rewritten


def _late(event: dict[str, Any]) -> None:
    """Every run ends in the moment in which it starts."""
    event["t"] = "2026-11-22T10:00:54.590345Z"


def _profiled(one: dict[str, Any]) -> None:
    for kernel in one["evidence"]:
        kernel["metrics"]["duration_s"] *= 5


@pytest.mark.parametrize(
    "change",
    [
        of_kind("measured", lambda one: one.update(n=4000)),
        of_kind("measured", lambda one: one.update(spread={})),
        of_kind("run_finished", lambda one: one.update(wall_s=3600.0)),
        of_kind("run_finished", lambda one: one.update(wall_s=1e-6)),
        of_kind("profile_read", _profiled),
        _late,
    ],
    ids=["samples", "spread", "longer than its events", "shorter than its parts", "profile", "stamps"],
)
def test_events_that_contradict_each_other(change: Callable[[dict[str, Any]], None], rms_norm: Path) -> None:
    """One thing each, in a journal whose chain is sealed again."""
    assert "times" in codes(rewritten(rms_norm, change))


def _contest(**changes: float) -> Callable[[Any], Any]:
    def change(document: Any) -> Any:
        contest = (document.get("result") or {}).get("contest") if isinstance(document, dict) else None
        if contest:
            contest.update(changes)
        return document

    return change


def _unordered(document: Any) -> Any:
    result = document.get("result") or {} if isinstance(document, dict) else {}
    for sides in result.get("shapes", {}).values():
        for sample in (one for side in sides.values() for one in side):
            sample["p80_s"] = sample["median_s"] / 2
    return document


@pytest.mark.parametrize(
    "blob",
    [
        _contest(gain_pct=1000.0, least_pct=995.0, most_pct=1005.0),
        _contest(threshold_pct=400.0),
        _contest(least_pct=500.0, most_pct=510.0),
        _unordered,
    ],
    ids=["other than its medians", "below its threshold", "outside of its interval", "outside of its spread"],
)
def test_answers_that_contradict_themselves(blob: Callable[[Any], Any], rms_norm: Path) -> None:
    """Contests and samples."""
    assert "times" in codes(rewritten(rms_norm, lambda _: None, blob))

"""Claims about what agrees with itself: it is called consistent, its origin unproven, and no more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from tests.kopt_kb.workspace.audit.forging import codes, of_kind, rewritten, slower


def test_a_journal_with_times_that_could_be_is_consistent_and_no_more(rms_norm: Path) -> None:
    """Nothing in it contradicts anything, and nothing shows where it comes from."""
    report = audit(slower(rms_norm, 0.8), Registry.open())
    assert (report.findings, report.verdict) == ((), "consistent, origin unproven")


def test_the_same_journal_written_again_is_consistent(rms_norm: Path) -> None:
    """What the tests beside this one change is all that they find."""
    assert codes(rewritten(rms_norm, lambda _: None, renders=True)) == set()


@pytest.mark.parametrize(
    "change",
    [
        of_kind("measured", lambda one: one.update(run="v7.timing.1")),
        of_kind("measured", lambda one: one.update(trust="unstated")),
        of_kind("run_finished", lambda one: one.update(output=None)),
        of_kind("gate_judged", lambda one: one.update(gate="lint")),
        of_kind("decided", lambda one: one.update(measured=["v9"])),
    ],
    ids=["no such run", "less trust than the decision", "a run without an answer", "gates left out", "no such record"],
)
def test_records_and_decisions_without_ground(change: Callable[[dict[str, Any]], None], rms_norm: Path) -> None:
    """Each in a journal whose chain is sealed again."""
    assert "record" in codes(rewritten(rms_norm, change))

"""The ledger: what became of opportunities, by their events and by the rounds that took them up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt_kb.workspace.journal.direction_events import Opportunity
from kopt_kb.workspace.journal.round_events import Decided
from kopt_kb.workspace.ledger import ledger_of
from kopt_kb.workspace.rounds import Round

ONE = Opportunity("v1:verdict:dram", 1, "dram limits", ("caching",), 20.0, "untried", None, "", (7,))
TWO = replace(ONE, id="v1:gap:8x4:tail", text="8x4: tail wave", share_pct=30.0)
OTHER = replace(ONE, id="v0:verdict:dram", version=0)


def _round(number: int, decision: str | None) -> Round:
    decided = None if decision is None else Decided(number, decision, "p", "R3 improved", ())  # type: ignore[arg-type]
    return Round(number, "t", 1, decided=decided, decided_seq=40)


def test_the_last_event_of_each_counts_and_the_largest_stands_first() -> None:
    """Opportunities of other versions are not in it."""
    dismissed = replace(ONE, state="dismissed", reason="measured: no")
    entries = ledger_of({1: OTHER, 2: ONE, 3: TWO, 4: dismissed}, {}, 1)
    assert [(one.opportunity.id, one.state, one.is_open) for one in entries] == [
        ("v1:gap:8x4:tail", "untried", True), ("v1:verdict:dram", "dismissed", False),
    ]  # fmt: skip
    assert str(entries[0]) == "untried: 8x4: tail wave, at most 30 % of the time"


@pytest.mark.parametrize(
    ("decision", "state", "is_open"),
    [(None, "hypothesis", True), ("accept", "closed", False), ("rollback", "dismissed", False),
     ("unverified", "untried", True)],
)  # fmt: skip
def test_the_decision_of_the_round_is_what_became_of_it(decision: str | None, state: str, is_open: bool) -> None:
    """An accepted round closes it, one that is not faster dismisses it, one that says nothing leaves it open."""
    taken = replace(ONE, state="hypothesis", round=2, evidence=(7, 30))
    (entry,) = ledger_of({1: ONE, 5: taken}, {2: _round(2, decision)}, 1)
    assert (entry.state, entry.is_open) == (state, is_open)
    if decision is not None:
        assert entry.opportunity.evidence == (7, 30, 40)
        assert "R3 improved" in entry.reason
        assert entry.to_json()["evidence"] == [7, 30, 40]


@pytest.mark.parametrize(("rule", "state"), [("gate build", "untried"), ("gate lint (quick)", "untried"),
                                             ("gate timing", "dismissed"), ("unchanged", "dismissed")])  # fmt: skip
def test_a_candidate_that_nobody_could_time_dismisses_nothing(rule: str, state: str) -> None:
    """It did not build, or was refused before: that says nothing of what its change could gain."""
    made = _round(2, "rollback")
    assert made.decided is not None
    made = replace(made, decided=replace(made.decided, rule=rule, measured=()))
    (entry,) = ledger_of({5: replace(ONE, state="hypothesis", round=2)}, {2: made}, 1)
    assert (entry.state, entry.reason) == (state, f"rollback: {rule}")

"""The level of a round follows from what its quick runs answered."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kopt_kb.runners.candidate.answers import Check, Sample, Timing
from kopt_kb.tuning.gates import Ran
from kopt_kb.tuning.policies import policy_named
from kopt_kb.tuning.quick import quick_level
from kopt_kb.workspace.journal.campaign_events import ProposalMade
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.workspace import Workspace

PASSED = Check(passed=True)
BLOB = "0" * 64


def proposed(number: int, *confirms: int) -> ProposalMade:
    """What was proposed for a round."""
    return ProposalMade(number, "c", "d", "e", "p", BLOB, {}, confirms=confirms)


def sides(old: float, new: float) -> Timing:
    """Three repeats of one shape."""
    records = {"incumbent": old, "candidate": new}
    return Timing({"512x512x512": {side: (Sample(1, at),) * 3 for side, at in records.items()}})


@pytest.mark.parametrize(
    ("check", "timing", "level", "words"),
    [
        (Ran("ok", Check(), "r"), None, "quick", "a gate failed"),
        (Ran("hang", None, "r"), None, "quick", "a gate failed"),
        (Ran("ok", PASSED, "r"), Ran("ok", Timing(problem="x"), "r"), "quick", "a gate failed"),
        (Ran("ok", PASSED, "r"), Ran("ok", sides(1.2, 1.0), "r"), "quick", "+20.000 %"),
        (Ran("ok", PASSED, "r"), Ran("ok", sides(1.03, 1.0), "r"), "full", "under 5 %"),
        (Ran("ok", PASSED, "r"), Ran("ok", sides(1.0, 1.2), "r"), "quick", "R3 not improved"),
        (Ran("ok", PASSED, "r"), Ran("ok", sides(1.2e-5, 8e-6), "r"), "full", "Stop Conditions hold"),
    ],
)
def test_levels(make_project: Callable[..., Workspace], check: Ran, timing: Ran | None, level: str, words: str) -> None:
    """The timing runs only when the check passed."""
    state = make_project().state()
    found = Round(1, "", 5, BLOB, proposal=proposed(1))
    state.attempts = {0: Round(0, "", 1, BLOB), 1: found}
    asked: list[str] = []

    def run(kind: str) -> Ran:
        asked.append(kind)
        one = {"check": check, "timing": timing}[kind]
        assert one is not None
        return one

    got = quick_level(policy_named("gpu-wiki"), state, found, run)
    assert got.level == level and words in got.reason, got
    assert asked == (["check"] if timing is None else ["check", "timing"])


def test_a_confirmation_is_full_without_a_quick_run(make_project: Callable[..., Workspace]) -> None:
    """Its point is the other shapes."""
    found = Round(2, "", 1, proposal=proposed(2, 1))
    got = quick_level(policy_named("gpu-wiki"), make_project().state(), found, lambda _: 1 / 0)
    assert got.level == "full"

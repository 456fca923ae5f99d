"""Which shapes represent the others, when they are not enough, and what a round's quick runs say of it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from kopt_kb.launch.candidate.answers import Check, Sample, Timing
from kopt_kb.problem.problem import Problem
from kopt_kb.tuning.decision import Decision
from kopt_kb.tuning.jobs import Ran
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.validation_scope import choose_scope, met_on, quick_validation, representative_shapes
from kopt_kb.workspace.journal.campaign_events import ProposalMade
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.targets.conditions import Condition, StopConditions
from kopt_kb.workspace.workspace import Workspace


def problem(*sizes: int) -> Problem:
    """Cubes of these sizes."""
    return Problem.of("gemm", [(one, one, one) for one in sizes], "fp16")


def cubes(*sizes: int) -> tuple[str, ...]:
    """Their names."""
    return tuple(f"{one}x{one}x{one}" for one in sizes)


def test_small_median_and_large_in_the_order_of_the_problem() -> None:
    """Three of up to seven, five of more, all of three; the order of the shapes decides nothing."""
    assert representative_shapes(problem(64, 8, 16, 32)) == cubes(64, 8, 32)
    assert representative_shapes(problem(8, 16, 32, 64, 128)) == cubes(8, 32, 128)
    sizes = [2**at for at in range(3, 12)]
    assert representative_shapes(problem(*sizes)) == cubes(*sizes[::2])
    assert set(representative_shapes(problem(*reversed(sizes)))) == set(cubes(*sizes[::2]))
    assert representative_shapes(problem(64, 8, 16)) == cubes(64, 8, 16)


def test_listed_ones_are_taken() -> None:
    """In the problem's order."""
    assert representative_shapes(problem(8, 16, 32), cubes(32, 8)) == cubes(8, 32)


ACCEPT = Decision("accept", "R3 improved", "", 12.0, {})


@pytest.mark.parametrize(
    ("decision", "more", "level", "words"),
    [
        (None, {}, "quick", "a gate failed"),
        (Decision("rollback", "noise", "+0.1 %", 0.1, {}), {"risk": "high"}, "quick", "noise on the representative"),
        (ACCEPT, {}, "quick", "+12.000 % on the representative"),
        (ACCEPT, {"risk": "high"}, "full", "risk is high"),
        (ACCEPT, {"risk": "low"}, "quick", "+12.000 %"),
        (ACCEPT, {"met": True}, "full", "Stop Conditions hold"),
        (ACCEPT, {"last": "it is the last round allowed"}, "full", "direction is done: it is the last"),
        (Decision("accept", "R3 improved", "", 4.999, {}), {}, "full", "under 5 %"),
        (Decision("accept", "R3 improved", "", 5.0, {}), {}, "quick", "+5.000 %"),
    ],
)
def test_when_a_round_goes_to_full(decision: Decision | None, more: dict[str, object], level: str, words: str) -> None:
    """A small gain, a high risk, or a direction that is done."""
    found = choose_scope(decision, **{"risk": "", "met": False, "last": "", **more})
    assert found.scope == level and words in found.reason


def test_conditions_of_the_representative_shapes() -> None:
    """Judged on those alone: by their geomean, or each; a time above a roof is left to the gate on all shapes."""
    made = [
        Condition(one, "compute", "fp32 vector", "", 100, Fraction(10), Fraction(40), "TFLOPS")
        for one in ("a", "b", "c")
    ]
    conditions = StopConditions(tuple(made))
    times = {"a": 5.0, "b": 12.0}
    assert met_on(conditions, times, every_shape=False) and not met_on(conditions, times, every_shape=True)
    assert not met_on(conditions, {"a": 11.0, "b": 12.0}, every_shape=False)
    assert met_on(conditions, {"a": 1.0}, every_shape=False)


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

    got = quick_validation(policy_named("gpu-wiki"), state, found, run)
    assert got.scope == level and words in got.reason, got
    assert asked == (["check"] if timing is None else ["check", "timing"])


def test_a_confirmation_is_full_without_a_quick_run(make_project: Callable[..., Workspace]) -> None:
    """Its point is the other shapes."""
    found = Round(2, "", 1, proposal=proposed(2, 1))
    got = quick_validation(policy_named("gpu-wiki"), make_project().state(), found, lambda _: 1 / 0)
    assert got.scope == "full"

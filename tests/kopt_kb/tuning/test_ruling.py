"""What a round's gates and records come to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kopt_kb.launch.candidate.answers import AnswerBasis, Timing, Trust
from kopt_kb.launch.record.source import CodeSource
from kopt_kb.tuning.decision import GateResult
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.ruling import Ruling, timed_name
from kopt_kb.workspace.journal.round_events import Measured, RunFinished, RunStarted
from kopt_kb.workspace.rounds import ChildRun, Round

T = "2026-01-01T00:00:00.000000Z"


def ruling(trust: Trust = "isolated") -> Ruling:
    """One whose session runs nothing; its executor's own level is `trust`."""
    session = SimpleNamespace(executor=SimpleNamespace(trust=trust), recall=None)
    return Ruling(cast("Any", session), policy_named("gpu-wiki"))


def record(at: int, trust: Trust) -> Measured:
    """One measurement."""
    return Measured(f"r{at}", "v1", "8x8", 10, 1e-6, {}, "run", 1, trust)


def test_a_quick_round_runs_under_a_name_of_its_own() -> None:
    """What it answers on few shapes is another thing."""
    assert timed_name(Round(1, T)) == "v1"
    assert timed_name(Round(1, T, level="quick")) == "v1.quick"


@pytest.mark.parametrize(
    ("levels", "lowest"),
    [(["replayed", "isolated"], "isolated"), (["replayed", "reported", "replayed"], "reported"), ([], "isolated")],
)
def test_a_round_is_trusted_as_its_least_trusted_record(levels: list[Trust], lowest: str) -> None:
    """Without a record and without a check that says more it is the executor's level."""
    measured = {f"r{at}": record(at, level) for at, level in enumerate(levels)}
    assert ruling().trust_of(Round(1, T, measured=measured)) == lowest


def test_a_failed_gate_decides_before_any_time_is_looked_at() -> None:
    """Rolled back by its name; a gate that could not judge leaves the round unverified."""
    state: Any = SimpleNamespace(environment_seq=0, simulated=True, noise_of=lambda _: {}, baseline=None)
    for result, decision in (("fail", "rollback"), ("unavailable", "unverified")):
        gates = [GateResult("build", cast("Any", result), "why")]
        decided = ruling().decide(state, Round(1, T), gates)
        assert decided.decision == decision
    assert ruling().decide(state, Round(1, T), [GateResult("build", "fail", "why")]).rule == "gate build"


def test_a_probe_that_runs_within_a_round_says_nothing_of_its_source() -> None:
    """What a library launches is bound to no file; the candidate's own answers are."""
    bound, unbound = CodeSource("bound", None), CodeSource("unbound", "outside", "a library")
    answers = {"v1": bound, "v1.quick": bound, "reach-5-library": unbound, "asked-v1-8x8": unbound, "v10": unbound}
    runs = {
        f"{name}.timing.1": ChildRun(
            RunStarted(f"{name}.timing.1", name, "timing", 1, (), {}, 1, None),
            RunFinished(f"{name}.timing.1", "ok", 0, None, 0.1, None),
        )
        for name in answers
    }
    session = SimpleNamespace(
        recall=lambda run: SimpleNamespace(
            result=Timing({}, basis=AnswerBasis("replayed", bound={"candidate": answers[run.started.candidate]}))
        )
    )
    held = Ruling(cast("Any", session), policy_named("gpu-wiki"))
    assert held.source_of(Round(1, T, runs=runs)) == bound
    answers["v1.quick"] = unbound
    assert held.source_of(Round(1, T, runs=runs)) == unbound

"""Noise is what repeats of one kernel show, and no less than one printed step."""

from __future__ import annotations

import pytest

from kopt_kb.runners.candidate.answers import Sample
from kopt_kb.tuning.decision import GateResult, decide
from kopt_kb.tuning.noise import noise_floor_pct, noise_of
from kopt_kb.tuning.policies import policy_named


def test_the_largest_deviation_from_the_median() -> None:
    """In percent of it."""
    found = noise_of("8x8", [Sample(9, one) for one in (1.0, 1.02, 0.99)], "run")
    assert (found.n, found.median_s, found.run) == (3, 1.0, "run")
    assert found.floor_pct == pytest.approx(2.0) and found.mad_s == pytest.approx(0.01)


def test_equal_printed_times_are_as_noisy_as_their_last_digit() -> None:
    """Of noise and step the larger one holds; records without a step are as before."""
    assert noise_of("8x8", [Sample(9, 1.0, step_pct=0.5)] * 3, "run").floor_pct == 0.5
    noise = {"8x8": noise_of("8x8", [Sample(9, one) for one in (1.0, 1.02, 1.0)], "run")}
    assert noise_floor_pct(noise, [0.5]) == pytest.approx(2.0)
    assert noise_floor_pct(noise, [3.0, 1.0]) == pytest.approx(3.0)
    assert noise_floor_pct({}, [None]) == 0.0


@pytest.mark.parametrize("old", range(100, 400, 7))
def test_one_step_is_no_gain_and_two_are(old: int) -> None:
    """Whatever rate is printed without decimals."""
    policy, words = policy_named("gpu-wiki"), []
    gates = [GateResult(gate, "pass") for gate in policy.required_gates]
    for more in (1, 2):
        times = ({"8x8": [1 / old] * policy.repeats}, {"8x8": [1 / (old + more)] * policy.repeats})
        floor = noise_floor_pct({}, [100 / old, 100 / (old + more)])
        words.append(decide(policy, *times, gates, noise_pct=floor).rule)
    assert words[0] == "noise floor" and words[1] != "noise floor"

"""What of a headline a training step keeps."""

from __future__ import annotations

import pytest

from kopt_kb.packs.training_step.attribution import CheckedRound, attribution, decision_word, real_gain_pct


def _round(number: int, bucket: str, gain: float, bound: float | None = None) -> CheckedRound:
    real = real_gain_pct(bucket, gain, bound, forbidden=False)  # type: ignore[arg-type]
    return CheckedRound(number, bucket, gain, real, decision_word(bucket, forbidden=False))  # type: ignore[arg-type]


def test_honest_rounds_multiply() -> None:
    """Ten of 3 % are 34.4 %: a sum of 30 % would call them inflated."""
    found = attribution(34.39163793, [_round(number, "K1", 3.0) for number in range(10)])
    assert found.verdict == "clean"
    assert found.s_real_pct == pytest.approx(34.39163793)
    assert abs(found.inflation_pct) < 1e-6


def test_a_weight_cache_counts_up_to_its_bound() -> None:
    """5 % with a bound of 1.5 % leaves 3.4 % of residue: more than 1 %."""
    found = attribution(5.0, [_round(1, "W1", 5.0, 1.5)])
    assert found.w_real_pct == pytest.approx(1.5)
    assert found.verdict == "inflated: roll back"
    assert found.inflation_pct == pytest.approx(3.448, abs=1e-3)
    assert attribution(2.0, [_round(1, "W1", 2.0, 1.8)]).verdict == "clean"
    assert attribution(2.0, [_round(1, "W1", 2.0, None)]).w_real_pct == 0


def test_what_may_not_be_goes_first() -> None:
    """An accepted W2 is rolled back before anything is attributed."""
    found = attribution(20.0, [_round(1, "K3", 10.0), _round(2, "W2", 9.0)])
    assert found.verdict == "roll back first"
    assert found.r_real_pct == pytest.approx(9.0)
    assert decision_word("K1", forbidden=True) == "REJECT-as-overfit"

"""Hit rates of caches in a training loop."""

from __future__ import annotations

import pytest

from kopt_kb.packs.training_step.caches import cache_uses
from kopt_kb.packs.training_step.trace import TransferTrace, paper_trace, verdict_of_run
from tests.packs.training_step.test_caches import W1, W2


def test_a_weight_is_found_once_a_step() -> None:
    """Four of eight lookups: exactly half is enough, since the comparison is strict."""
    (use,) = cache_uses(W1.encode())
    assert paper_trace(use) == TransferTrace(4, 8, 4)
    assert paper_trace(use).enough
    assert not TransferTrace(4, 9, 4).enough


def test_an_activation_is_never_found() -> None:
    """Nor is a gradient; without the version a weight is found when it should not be."""
    (use,) = cache_uses(W2.encode())
    assert paper_trace(use) == TransferTrace(4, 4, 0)
    (old,) = cache_uses(W1.replace("weight._version, ", "").encode())
    assert paper_trace(old).hits == 7


@pytest.mark.parametrize(
    ("lookups", "hits", "stale", "said"),
    [
        ([2] * 8, [1] * 8, False, ""),
        ([2] * 8, [1] * 8, True, "found as it was"),
        ([1] * 8, [0] * 8, False, "step 1, 2"),
        ([3] * 8, [1] * 8, False, "33 %"),
        ([0] * 8, [0] * 8, False, "never ask"),
    ],
)
def test_eight_counted_steps(lookups: list[int], hits: list[int], stale: bool, said: str) -> None:
    """A weight's cache has to be found in every step."""
    found = verdict_of_run(lookups, hits, stale=stale)
    assert bool(found) == bool(said)
    assert said in found
    assert TransferTrace(1, 0, 0).hit_pct == 0

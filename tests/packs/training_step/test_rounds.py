"""Rule 11 on rounds, by stand-ins; whole campaigns are in tests/packs/training_step/test_gate.py."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.packs.training_step import rounds as transfer


def _state(op: str, options: dict[str, object] | None = None, **policy: object) -> Any:
    problem = SimpleNamespace(op=op, options=tuple((options or {}).items()))
    task = SimpleNamespace(project=None)
    return SimpleNamespace(problem=problem, task=task, campaign=SimpleNamespace(policy=policy), rounds=())


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (_state("gemm"), ""),
        (_state("grouped_gemm"), "holds under skew: every shape"),
        (_state("grouped_gemm", {"groups": (8, 8)}), "uniform-only"),
        (_state("grouped_gemm", {"groups": (14, 1, 1, 0)}), "holds under skew"),
        (_state("grouped_gemm", skewed_shapes=["4x4x4"]), "a gain on 4x4x4"),
    ],
)
def test_how_far_uneven_experts_are_measured(state: Any, said: str) -> None:
    """Only of grouped products; without groups the shapes have one expert with half of the rows."""
    assert said in transfer.skew_words(state)
    assert bool(transfer.skew_words(state)) == bool(said)


def test_a_campaign_without_accepted_rounds() -> None:
    """Has nothing to check and no gain to attribute."""
    assert transfer.unchecked(_state("gemm"), bytes) == ()  # type: ignore[arg-type]
    assert transfer.attributed(_state("gemm"), bytes, lambda _: None, 3.0) is None  # type: ignore[arg-type]

"""The order in which recommendations are tried."""

from __future__ import annotations

import pytest

from kopt_kb.packs.coordination.routing.analysis import Analysis, Impact, RoutedAdvice, read_analysis
from kopt_kb.packs.coordination.routing.plan import plan_of, planned, recommendation_of
from tests.packs.coordination.routing.test_analysis import BLOCK


def _order(*items: tuple[Impact, str]) -> list[str]:
    said = tuple(RoutedAdvice(at, impact, text) for at, (impact, text) in enumerate(items, 1))
    return [one.id for one in plan_of(Analysis("x", "", said)).steps]


def test_impact_then_risk() -> None:
    """High before low; of equal impact what is easily taken back comes first."""
    assert _order(("Low", "a"), ("High", "rewrite the algorithm"), ("High", "larger tile"), ("Medium", "b")) == [
        "R3", "R2", "R4", "R1"
    ]  # fmt: skip


def test_what_others_need_comes_first() -> None:
    """A graph fixes addresses and shapes, and is captured last although its impact is the highest."""
    assert _order(("High", "Capture a CUDA graph"), ("Low", "pad to static shapes"), ("Medium", "memory pool")) == [
        "R3", "R2", "R1"
    ]  # fmt: skip
    assert _order(("High", "tune tiles"), ("Low", "use FP8 precision")) == ["R2", "R1"]


def test_interactions_and_who_does_it() -> None:
    """Of the playbook's block: attention and pooling meet; the words name who does each."""
    plan = plan_of(read_analysis(BLOCK, "x"), commands=())
    first = planned(plan, "R1")
    assert first is not None
    assert any("needs no buffers" in one for one in first.interacts)
    assert first.specialist == "perf-profiling-specialist"
    other = RoutedAdvice(1, "High", "shard by FSDP")
    lone = plan_of(Analysis("x", "", (other,)))
    assert (lone.steps[0].availability, lone.open_order) == ("not_available", ())


@pytest.mark.parametrize(("claim", "step"), [("R2 [High] x: y", "R2"), ("R12: y", "R12"), ("ROI", ""), ("a R2", "")])
def test_the_step_of_a_claim(claim: str, step: str) -> None:
    """It stands in front."""
    assert recommendation_of(claim) == step

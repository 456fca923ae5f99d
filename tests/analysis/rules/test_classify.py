"""The verdict is total, and says what it did not see."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.profile import METRICS, KernelProfile
from kopt_kb.analysis.rules.classify import classify
from kopt_kb.analysis.rules.table import CLASSES
from tests.analysis.rules.conftest import profile_of

_VALUES = st.one_of(st.just(0.0), st.floats(0, 1e12), st.floats(0, 110))


def test_nothing_collected_is_insufficient() -> None:
    """No counters: the class says so, names what to collect, and is not a guess."""
    verdict = classify(profile_of())
    assert (verdict.bottleneck, verdict.code, verdict.root_cause) == ("insufficient-data", "BN-DATA", "unknown")
    assert {"sm_sol_pct", "stall.barrier"} <= set(verdict.absent)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(METRICS)), _VALUES, max_size=25))
def test_every_profile_gets_a_verdict(metrics: dict[str, float]) -> None:
    """Any metrics, also zeros and absurd ones: one class of the table with a limiter of that class."""
    verdict = classify(profile_of(**metrics))
    assert verdict.limiter in CLASSES[verdict.bottleneck]
    assert all(one.limiter != verdict.limiter for one in verdict.others)
    assert verdict.text().startswith(f"Primary bottleneck: {verdict.bottleneck}\n")


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_losing_a_counter_never_invents_a_limiter_of_absence(
    zoo: dict[str, KernelProfile], data: st.DataObject
) -> None:
    """Without its matrix metrics a kernel is not called FP32-bound for lack of them, and what is gone is listed."""
    name = data.draw(st.sampled_from(["tensor_fp16", "tensor_int8", "tensor_fp64"]))
    metrics = {one: value for one, value in zoo[name].metrics.items() if "tensor" not in one and "matrix" not in one}
    verdict = classify(profile_of(**metrics))
    assert verdict.limiter != "fp32"


def test_others_are_ranked_behind(zoo: dict[str, KernelProfile]) -> None:
    """A strided read that saturates DRAM: the waste first, DRAM second."""
    verdict = classify(zoo["uncoalesced_stride32"])
    assert [verdict.limiter, *(one.limiter for one in verdict.others)][:2] == ["uncoalesced", "dram"]


def test_shares_above_the_whole_are_told() -> None:
    """A little over: two passes differ; far over: no counter says that."""
    verdict = classify(profile_of(l2_hit_pct=100.03, dram_sol_pct=240.0, l1_hit_pct=100.0))
    reasons = [one.partition(": ")[2] for one in verdict.doubts]
    assert reasons == ["counters of different passes", "impossible, a counter is wrong"]
    assert "Doubt: dram_sol_pct is 240 %" in verdict.text()

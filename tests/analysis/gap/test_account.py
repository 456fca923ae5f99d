"""The account: known answers of small examples, sums that always hold, and real reports."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.gap.account import GapCase, account
from kopt_kb.analysis.gap.document import Gap
from kopt_kb.analysis.gap.roofs import Reached, roofs_of
from kopt_kb.problem.work import Work, work
from kopt_kb.wiki.registry import Registry
from tests.analysis.rules.conftest import profile_of

H200 = Registry.open().platform("H200_SXM")
MIB64 = Work.given(0, 2**26, "fp32", "vector")


def _least_s(asked: Work) -> float:
    return max(one.least_s for one in roofs_of(asked, H200, (), clock_hz=None))


def _share(gap: Gap, cause: str) -> float:
    return sum(one.share_pct for one in gap.parts if one.cause == cause)


def _case(time_s: float, asked: Work, **metrics: float) -> GapCase:
    """A run whose best rate is the documented one, so that nothing is charged to `reach`."""
    roof = max(roofs_of(asked, H200, (), clock_hz=None), key=lambda one: one.least_s)
    rates = tuple(Reached(one.name, 1e30, "none") for one in roofs_of(asked, H200, (), clock_hz=None))
    assert roof.least_s < time_s
    run = (profile_of(duration_s=time_s, **metrics),) if metrics else ()
    return GapCase("k", time_s, run, H200, asked, None, rates)


def test_a_grid_of_one_tenth_more_than_a_wave_pays_for_two() -> None:
    """Time = 2 waves where 1.1 were needed: 45 % of it is tail, here 90 % of the gap of a kernel at half its roof."""
    gap = account(_case(2 * _least_s(MIB64), MIB64, waves_per_sm=1.1))
    assert _share(gap, "tail") == pytest.approx(90.0)
    assert gap.unexplained_pct == pytest.approx(10.0)


def test_tiles_of_128_on_4097_execute_six_percent_more() -> None:
    """33 tiles of 128 where 4097 rows and columns were asked for, K in steps of 64: (4224^2 x 4160) / 4097^3."""
    asked = work("gemm", "4097x4097x4097", "bf16")
    executed = 2.0 * (33 * 128) ** 2 * (math.ceil(4097 / 64) * 64)
    ratio = executed / asked.amount_under("bf16 matrix")
    assert ratio == pytest.approx(1.0793, abs=1e-4)
    time_s = 1.5 * _least_s(asked)
    gap = account(_case(time_s, asked, flops__matrix__bf16=executed))
    assert _share(gap, "tile") == pytest.approx(100 * (ratio - 1) / 0.5)


def test_bytes_moved_twice_are_the_whole_gap() -> None:
    """Twice the compulsory bytes at the documented rate take twice the time: nothing is left."""
    gap = account(_case(2 * _least_s(MIB64), MIB64, dram_bytes=2.0 * 2**26))
    assert [(one.cause, one.level) for one in gap.parts] == [("extra-bytes", "dram"), ("unexplained", "")]
    assert _share(gap, "extra-bytes") == pytest.approx(100.0)


def test_a_level_costs_only_what_it_takes_longer_than_the_levels_before() -> None:
    """At half the roof, L2 busy for 70 % and L1 for 80 % of the time: 20 and 10 % of it."""
    gap = account(_case(2 * _least_s(MIB64), MIB64, l2_sol_pct=70.0, l1_sol_pct=80.0, sm_active_pct=100.0))
    assert [(one.level, round(one.time_pct, 6)) for one in gap.parts if one.cause == "extra-bytes"] == [
        ("l2", 20.0), ("l1", 10.0),
    ]  # fmt: skip


def test_instructions_cost_what_they_take_longer_than_every_roof() -> None:
    """Issue slots used 90 % of the time of a kernel at half its roof: 40 % of the time."""
    gap = account(_case(2 * _least_s(MIB64), MIB64, issue_active=0.9))
    assert _share(gap, "instructions") == pytest.approx(80.0)


def test_a_low_clock_is_charged_before_anything_else() -> None:
    """At 3/4 of the boost clock a product at half its roof loses a third of the gap to the clock."""
    asked = work("gemm", "8192x8192x8192", "bf16")
    boost = next(one for one in H200.rows("sm_clock", **{"class": "boost", "ops": "matrix"}))
    clock_hz = 0.75 * float(H200.quantity(boost).si)  # type: ignore[union-attr]
    rates = (Reached("bf16 matrix", 1e30, "none"), Reached("dram", 1e30, "none"))
    gap = account(GapCase("k", 2 * _least_s(asked), (), H200, asked, clock_hz, rates))
    assert _share(gap, "clock") == pytest.approx(100 / 3)


def test_waits_take_their_share_of_what_is_left() -> None:
    """Half the time is the roof; nobody issues in 80 % of it, always for waits: 80 % of the rest."""
    waits = {"issue_active": 0.2, "stall__long_scoreboard": 4.0}
    gap = account(_case(2 * _least_s(MIB64), MIB64, **waits))
    assert _share(gap, "latency") == pytest.approx(80.0)
    assert gap.unexplained_pct == pytest.approx(20.0)
    assert gap.record == ()
    high = account(_case(2 * _least_s(MIB64), MIB64, dram_sol_pct=85.0, **waits))
    assert _share(high, "latency") == 0.0


def test_a_probe_explains_what_the_machine_can_not_reach() -> None:
    """A copy gets 80 % of the documented bandwidth; the kernel is at 75 %: most of its gap is out of reach."""
    least_s = _least_s(MIB64)
    probe = Reached("dram", 0.8 * 2**26 / least_s, "copy")
    gap = account(GapCase("k", least_s / 0.75, (), H200, MIB64, None, (probe,)))
    assert _share(gap, "reach") == pytest.approx(100 * (1 / 0.8 - 1) / (1 / 0.75 - 1))


def test_an_empty_launch_and_a_grid_explain_without_a_profile() -> None:
    """Launch facts and the clock's own empty launch are enough for two parts."""
    time_s = 4 * _least_s(MIB64)
    rates = (Reached("dram", 1e30, "none"),)
    gap = account(GapCase("k", time_s, (), H200, MIB64, None, rates, waves_loss_pct=25.0, empty_launch_s=time_s / 4))
    assert _share(gap, "launch") == pytest.approx(100 / 3)
    assert _share(gap, "tail") == pytest.approx(100 / 3)


def test_several_launches_take_several_empty_ones_and_a_probe_holds_one_of_them() -> None:
    """Three launches of a tenth each; a copy that takes half of the time was itself launched once."""
    time_s = 4 * _least_s(MIB64)
    facts = {"launches": 3, "empty_launch_s": time_s / 10}
    alone = account(GapCase("k", time_s, (), H200, MIB64, None, (Reached("dram", 1e30, "none"),), **facts))  # type: ignore[arg-type]
    assert _share(alone, "launch") == pytest.approx(100 * 0.3 / 0.75)
    probe = Reached("dram", 2**26 / (0.5 * time_s), "copy")
    gap = account(GapCase("k", time_s, (), H200, MIB64, None, (probe,), **facts))  # type: ignore[arg-type]
    assert _share(gap, "reach") == pytest.approx(100 * 0.25 / 0.75)
    assert _share(gap, "launch") == pytest.approx(100 * 0.2 / 0.75)


def test_whole_tiles_explain_where_no_counter_does() -> None:
    """33 tiles of 128 for 4097 by its record; a counter that says otherwise is believed."""
    asked = work("gemm", "4097x4097x4097", "bf16")
    whole = (33 * 128) ** 2 * 4160 / 4097**3
    told = {"padding": whole, "sources": {"padding": "33 x 33 tiles of 128x128x64"}}
    time_s = 1.5 * _least_s(asked)
    rates = tuple(Reached(one.name, 1e30, "none") for one in roofs_of(asked, H200, (), clock_hz=None))
    gap = account(GapCase("k", time_s, (), H200, asked, None, rates, **told))  # type: ignore[arg-type]
    (tile,) = (one for one in gap.parts if one.cause == "tile")
    assert tile.share_pct == pytest.approx(100 * (whole - 1) / 0.5)
    assert tile.evidence[0].note == "33 x 33 tiles of 128x128x64"
    run = (profile_of(duration_s=time_s, flops__matrix__bf16=1.2 * asked.amount_under("bf16 matrix")),)
    counted = account(GapCase("k", time_s, run, H200, asked, None, rates, **told))  # type: ignore[arg-type]
    assert _share(counted, "tile") == pytest.approx(100 * 0.2 / 0.5)


def test_a_busy_l1_is_shared_memory_where_most_passes_are() -> None:
    """And what a less busy level took is said to be hidden under it."""
    busy = {"l2_sol_pct": 70.0, "l1_sol_pct": 80.0, "sm_active_pct": 100.0}
    plain = account(_case(2 * _least_s(MIB64), MIB64, **busy))
    shared = account(_case(2 * _least_s(MIB64), MIB64, shared_wavefronts=2e6, global_load_sectors=4e6, **busy))
    assert [one.level for one in plain.parts if one.level] == ["l2", "l1"]
    (part,) = (one for one in shared.parts if one.level == "shared")
    assert part.evidence[0].note == "use of L1, 66.7 % of its passes for shared memory"
    assert shared.notes[-1] == (
        "extra bytes (shared) takes longest; extra bytes (l2) is hidden under it and counts once that takes less"
    )


def test_evidence_that_says_more_than_the_time_is_cut_and_said() -> None:
    """Three times the bytes in twice the time can't be: the part ends at the time, and a note says so."""
    gap = account(_case(2 * _least_s(MIB64), MIB64, dram_bytes=3.0 * 2**26))
    assert _share(gap, "extra-bytes") == pytest.approx(100.0)
    assert any("cut" in one for one in gap.notes)


def test_a_time_below_its_roof_is_a_fault_and_no_gap() -> None:
    """Nothing is charged, and a note names what must be wrong."""
    gap = account(GapCase("k", _least_s(MIB64) / 2, (), H200, MIB64))
    assert gap.parts == ()
    assert "below the roof" in gap.notes[-1]
    assert gap.gap_s is not None
    assert gap.gap_s < 0


def test_without_time_product_or_counters_there_is_no_account() -> None:
    """Each lacking thing is named, with what to record."""
    assert account(GapCase("k", 0.0)).notes == ("no time was recorded",)
    bare = account(GapCase("k", 1e-6, (profile_of(duration_s=1e-6),), H200))
    assert bare.roof_s is None
    assert any("ncu --set full" in one for one in bare.record)
    assert any("--op" in one for one in bare.record)
    unknown = account(GapCase("k", 1e-6, (profile_of(duration_s=1e-6, dram_sol_pct=50.0),)))
    assert (unknown.basis, unknown.roof, unknown.of_roof_pct) == ("counters", "dram", pytest.approx(50.0))


def test_more_than_a_fifth_unexplained_says_what_to_record() -> None:
    """A time alone explains nothing: profile it, and measure what the machine reaches."""
    gap = account(GapCase("k", 2 * _least_s(MIB64), (), H200, MIB64, None, (Reached("dram", 1e30, "none"),)))
    assert gap.unexplained_pct == pytest.approx(100.0)
    assert gap.record[0].startswith("ncu --set full")
    assert any("kb bench ceilings" in one for one in gap.record)


def test_an_amd_part_is_recorded_with_amds_profiler() -> None:
    """Without a report: passes of rocprofv3 with counters of its target; never the other vendor's tool."""
    part = Registry.open().platform("MI300X")
    gap = account(GapCase("k", 1.0, (), part, MIB64))
    assert gap.record[0].startswith("rocprofv3 --pmc ")
    assert "TCC_" in " ".join(gap.record)
    assert not any("ncu" in one for one in gap.record)


_SHARES = st.floats(0, 100)
_METRICS = st.dictionaries(
    st.sampled_from(
        ["dram_sol_pct", "l2_sol_pct", "l1_sol_pct", "sm_active_pct", "pipe_elapsed__tensor_pct",
         "pipe_elapsed__fma_pct", "waiting_pct"]
    ), _SHARES,
)  # fmt: skip
_AMOUNTS = st.dictionaries(
    st.sampled_from(
        ["dram_bytes", "elapsed_cycles", "sm_active_cycles", "sm_active_cycles_max", "waves_per_sm", "grid_blocks",
         "sm_count", "stall__wait", "stall__barrier", "flops__vector__fp32"]
    ), st.floats(0, 1e12),
)  # fmt: skip


_KNOWN = st.fixed_dictionaries(
    {},
    optional={
        "launches": st.integers(1, 9), "waves_loss_pct": _SHARES, "empty_launch_s": st.floats(0, 1),
        "padding": st.floats(1, 9), "rate": st.floats(1e6, 1e15),
    },
)  # fmt: skip
"""What is known without a profile; with launches there is none."""


@settings(max_examples=150, deadline=None)
@example({"dram_sol_pct": 54.0}, {"dram_bytes": 5e-324}, 264910.0, 1.0, 1e8, {})
@given(_METRICS, _AMOUNTS, st.floats(1.0001, 1e6), st.floats(0.01, 1), st.floats(1e8, 3e9), _KNOWN)
def test_parts_sum_to_the_whole_whatever_counters_say(
    shares: dict[str, float], amounts: dict[str, float], slower: float, issue: float, clock_hz: float,
    known: dict[str, float],
) -> None:  # fmt: skip
    """100 % of the gap in parts, none negative, the unexplained one always there and last."""
    time_s = slower * _least_s(MIB64)
    run = profile_of(duration_s=time_s, issue_active=issue, **shares, **amounts)
    runs = () if "launches" in known else (run,)
    probe = (Reached("dram", known["rate"], "copy"),) if "rate" in known else ()
    told = {name: value for name, value in known.items() if name != "rate"}
    gap = account(GapCase("k", time_s, runs, H200, MIB64, clock_hz, probe, **told))  # type: ignore[arg-type]
    assert math.isclose(sum(one.share_pct for one in gap.parts), 100.0, rel_tol=1e-9)
    assert math.isclose(sum(one.seconds for one in gap.parts), gap.gap_s or 0.0, rel_tol=1e-6)
    assert all(one.seconds >= 0 for one in gap.parts)
    assert gap.parts[-1].cause == "unexplained"

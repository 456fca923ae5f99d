"""Where the time of a launch went by its counters, from numbers made by hand."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.gap.spent import Fact, spent_of, wave_loss_pct
from tests.analysis.rules.conftest import profile_of


@pytest.mark.parametrize(
    ("blocks", "sms", "waves", "loss"),
    [
        (None, None, 1.1, 45.0),  # two waves for 1.1 of them
        (132.0, 132.0, 1.0, 0.0),
        (132.0, 132.0, 0.5, 0.0),  # one block an SM, although two would fit
        (66.0, 132.0, 0.25, 50.0),
        (264.0, 132.0, 2.0, 0.0),
        (None, None, None, None),
        (None, None, 0.5, None),
    ],
)
def test_what_a_grid_leaves_empty(
    blocks: float | None, sms: float | None, waves: float | None, loss: float | None
) -> None:
    """Whole waves lose nothing, a tenth of a wave more costs nearly one, few blocks leave SMs empty."""
    found = wave_loss_pct(blocks, sms, waves)
    assert found == (None if loss is None else pytest.approx(loss))


def test_a_prediction_stands_where_no_cycles_were_counted() -> None:
    """1.1 waves of 10 us: at most 4.5 us of SM time are empty."""
    spent = spent_of(profile_of(duration_s=10e-6, waves_per_sm=1.1))
    assert spent.tail.seconds == pytest.approx(4.5e-6)
    assert spent.tail.certainty == "at most"
    assert spent.imbalance == Fact()


def test_measured_idle_time_is_tail_as_far_as_the_grid_predicts_it() -> None:
    """Of 1000 cycles the busiest SM works 900, the mean SM 450: 10 % launch; of the rest 45 % tail, 5 % imbalance."""
    spent = spent_of(
        profile_of(duration_s=10e-6, waves_per_sm=1.1, elapsed_cycles=1000.0, sm_active_cycles=450.0,
                   sm_active_cycles_max=900.0)
    )  # fmt: skip
    assert spent.launch.seconds == pytest.approx(1e-6)
    assert spent.tail.seconds == pytest.approx(9e-6 * 0.45)
    assert spent.imbalance.seconds == pytest.approx(9e-6 * 0.05)
    assert spent.tail.certainty == "measured"


def test_waits_count_where_nobody_issues() -> None:
    """A slot is empty 60 % of the time, waits are 3 of 4 reasons (one waits for a pipe): 45 % of the time."""
    spent = spent_of(
        profile_of(duration_s=1e-6, issue_active=0.4, stall__long_scoreboard=2.0, stall__wait=1.0,
                   stall__math_pipe_throttle=1.0, stall__not_selected=9.0)
    )  # fmt: skip
    assert spent.latency.seconds == pytest.approx(0.45e-6)
    assert [one.metric for one in spent.latency.evidence] == [
        "no_issue_pct", "stall.long_scoreboard_share_pct", "stall.wait_share_pct",
    ]  # fmt: skip


def test_units_take_their_share_of_the_time_and_say_when_they_are_high() -> None:
    """A memory that is busy 85 % of 10 us takes 8.5 us, and waiting for it is no latency."""
    spent = spent_of(profile_of(duration_s=10e-6, dram_sol_pct=85.0, pipe_elapsed__fma_pct=20.0))
    assert spent.units["dram"].seconds == pytest.approx(8.5e-6)
    assert spent.units["issue"].seconds == pytest.approx(2e-6)
    assert spent.high
    assert not spent_of(profile_of(duration_s=10e-6, dram_sol_pct=70.0)).high


def test_launches_one_after_the_other_add_up() -> None:
    """Seconds add, a unit that one of them lacks counts nothing there, one quiet launch makes waiting latency again."""
    busy = spent_of(profile_of(duration_s=10e-6, dram_sol_pct=90.0))
    quiet = spent_of(profile_of(duration_s=5e-6, l2_sol_pct=20.0, waves_per_sm=1.1))
    both = busy + quiet
    assert both.time_s == pytest.approx(15e-6)
    assert both.units["dram"].seconds == pytest.approx(9e-6)
    assert both.units["l2"].seconds == pytest.approx(1e-6)
    assert both.tail.certainty == "at most"
    assert not both.high
    assert both.scaled(2.0).tail.seconds == pytest.approx(2 * both.tail.seconds)
    assert both.scaled(2.0).time_s == pytest.approx(30e-6)


def test_what_was_not_collected_is_named() -> None:
    """Missing is not zero: a bare time has no facts and a list of what would tell more."""
    spent = spent_of(profile_of(duration_s=1e-6))
    assert (spent.launch, spent.tail, spent.latency, spent.units) == (Fact(), Fact(), Fact(), {})
    assert {"elapsed_cycles", "dram_bytes", "issue_active"} <= set(spent.missing)

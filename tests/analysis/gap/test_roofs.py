"""Roofs by what is known of a run, on sourced products."""

from __future__ import annotations

import pytest

from kopt_kb.analysis.gap.roofs import Reached, counted_work, roofs_of
from kopt_kb.problem.work import Work, work
from kopt_kb.wiki.registry import Registry
from tests.analysis.rules.conftest import profile_of

H200 = Registry.open().platform("H200_SXM")


def _hz(**conditions: str) -> float:
    row = next(one for one in H200.rows("sm_clock", **conditions))
    return float(H200.quantity(row).si)  # type: ignore[union-attr]


def test_a_lower_clock_stretches_an_engine_and_not_memory() -> None:
    """At two thirds of the matrix boost clock operations take half again as long; bytes take what they took."""
    clock_hz = _hz(**{"class": "boost", "ops": "matrix"}) * 2 / 3
    asked = work("gemm", "4096x4096x4096", "bf16")
    engine, memory = roofs_of(asked, H200, (), clock_hz=clock_hz)
    assert engine.clocked_s == pytest.approx(1.5 * engine.least_s)
    assert engine.evidence["clock"][0].value == clock_hz
    assert memory.clocked_s == memory.least_s
    assert memory.is_memory
    assert not engine.is_memory


def test_a_probe_of_this_machine_is_preferred_to_the_rows_of_the_wiki() -> None:
    """A copy at half the documented bandwidth doubles the time that can be reached."""
    asked = work("rms_norm", "8192x4096", "bf16")
    documented = roofs_of(asked, H200, (), clock_hz=None)[-1]
    rate = asked.compulsory_bytes("dram") / documented.least_s
    probed = roofs_of(asked, H200, (), clock_hz=None, reached=(Reached("dram", rate / 2, "copy 1"),))[-1]
    assert probed.reached_s == pytest.approx(2 * documented.least_s)
    assert probed.evidence["reach"][0].note == "copy 1"


def test_executed_operations_come_from_counters_then_from_code_then_from_the_pipe() -> None:
    """Twice the operations take twice the time; a pipe busy for 80 % of 1 ms takes 0.8 ms whatever was counted."""
    asked = work("gemm", "4096x4096x4096", "bf16")
    useful = asked.amount_under("bf16 matrix")
    counted = roofs_of(asked, H200, (profile_of(duration_s=1e-3, flops__matrix__bf16=2.0 * useful),), clock_hz=None)[0]
    assert counted.used_s == pytest.approx(2 * counted.reached_s)
    busy = roofs_of(asked, H200, (profile_of(duration_s=1e-3, pipe_elapsed__tensor_pct=80.0),), clock_hz=None)[0]
    assert busy.used_s == pytest.approx(0.8e-3 * busy.reached_s / busy.clocked_s)


def test_bytes_beyond_the_compulsory_ones_stretch_memory() -> None:
    """A quarter more bytes take a quarter longer."""
    asked = work("rms_norm", "8192x4096", "bf16")
    moved = asked.compulsory_bytes("dram")
    memory = roofs_of(asked, H200, (profile_of(duration_s=1e-3, dram_bytes=1.25 * moved),), clock_hz=None)[-1]
    assert memory.used_s == pytest.approx(1.25 * memory.reached_s)


def test_memory_that_is_busy_all_the_time_says_what_it_can_reach() -> None:
    """1 GB in 1 ms at 50 % busy: no more than 2 TB/s."""
    asked = Work.given(0, 1_000_000_000, "fp32", "vector")
    run = profile_of(duration_s=1e-3, dram_bytes=1e9, dram_sol_pct=50.0)
    memory = roofs_of(asked, H200, (run,), clock_hz=None)[-1]
    assert memory.reached_s == pytest.approx(0.5e-3)


def test_counters_stand_in_for_a_work_that_nobody_named() -> None:
    """Operations by type and bytes by direction, as upper bounds; nothing counted is no work."""
    found = counted_work([profile_of(duration_s=1.0, flops__vector__fp32=100.0, dram_read_bytes=30.0,
                                     dram_write_bytes=10.0)])  # fmt: skip
    assert found is not None
    assert (found.amount_under("fp32 vector"), found.compulsory_bytes("dram")) == (100, 40)
    assert found.exactness() == "upper"
    assert counted_work([profile_of(duration_s=1.0)]) is None
    assert counted_work([profile_of(duration_s=1.0, dram_bytes=0.0)]) is None


def test_a_type_that_the_part_lacks_has_no_roof() -> None:
    """fp4 on Hopper: only memory is left."""
    asked = Work.given(10, 10, "fp4", "matrix")
    assert [one.name for one in roofs_of(asked, H200, (), clock_hz=None)] == ["dram"]

"""Claims about values that are alike but for a shift: the same numbers as lane by lane, and what tells programs apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.analysis.ir.triton import TensorArg, count_ir
from kopt_kb.analysis.ir.triton import count as counting
from kopt_kb.analysis.ir.triton.budget import CountLimits
from kopt_kb.analysis.ir.triton.shifted import ApartError, Shifted, TooDenseError, agreed, merged, parts

TEXT = """module {{
  tt.func public @touch(%x: !tt.ptr<f32>, %n: i32) {{
    %c = arith.constant {step} : i32
    %d = arith.constant dense<{divisor}> : tensor<{block}xi32>
    %p = tt.get_program_id x : i32
    %b = arith.muli %p, %c : i32
    %r = tt.make_range {{end = {block} : i32, start = 0 : i32}} : tensor<{block}xi32>
    %bs = tt.splat %b : i32 -> tensor<{block}xi32>
    %o = arith.addi %bs, %r : tensor<{block}xi32>
    %ns = tt.splat %n : i32 -> tensor<{block}xi32>
    %f = arith.{op} %o, %d : tensor<{block}xi32>
    %m = arith.cmpi {predicate}, %f, %ns : tensor<{block}xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<{block}x!tt.ptr<f32>>
    %a = tt.addptr %xs, %f : tensor<{block}x!tt.ptr<f32>>, tensor<{block}xi32>
    %v = tt.load %a, %m : tensor<{block}x!tt.ptr<f32>>
    %w = arith.addf %v, %v : tensor<{block}xf32>
    tt.store %a, %w, %m : tensor<{block}x!tt.ptr<f32>>
    tt.return
  }}
}}
"""


@settings(max_examples=60, deadline=None)
@given(
    step=st.integers(-40, 70),
    divisor=st.integers(1, 90),
    block=st.sampled_from([4, 16, 64]),
    op=st.sampled_from(["addi", "subi", "muli", "divsi", "remsi", "minsi", "maxsi", "shrsi", "andi", "xori"]),
    predicate=st.sampled_from(["slt", "sle", "sgt", "sge", "eq", "ne", "ult"]),
    programs=st.integers(1, 150),
    n=st.integers(-10, 4000),
)
def test_any_address_counts_as_it_does_lane_by_lane(
    step: int, divisor: int, block: int, op: str, predicate: str, programs: int, n: int
) -> None:
    """Quotients, rests, clamps and masks of every sign: amounts, their exactness, sectors and notes."""
    divisor = min(divisor, 20) if op == "shrsi" else divisor
    text = TEXT.format(step=step, divisor=divisor, block=block, op=op, predicate=predicate)
    args: dict[int | str, Any] = {"n": n, "x": TensorArg((4000,), "fp32")}
    assert count_ir(text, programs, args, mode="exact") == count_ir(text, programs, args, mode="every_lane")


def test_a_launch_of_any_size_costs_what_its_lanes_cost_once(ir_text: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A billion elements: two kinds of programs, the last one and all others, within a million lanes."""
    n = 10**9 + 7
    monkeypatch.setattr(counting, "_BATCH_LANES", 0)
    found = count_ir(ir_text("vadd"), -(-n // 1024), {"n": n}, mode="exact", limits=CountLimits(40_000_000)).kernels[0]
    assert found.requested_bytes.value == found.compulsory_bytes.value == 12 * n
    assert found.useful_flops.value == n


def test_what_lies_beyond_all_lanes_is_alike() -> None:
    """A mask that is full or empty in every program is one mask."""
    assert agreed(np.array([70, 80, 99]), -1, 64) == 64
    with pytest.raises(ApartError) as apart:
        agreed(np.array([70, 80, 12, 99]), -1, 64)
    assert apart.value.labels.tolist() == [1, 1, 0, 1]
    with pytest.raises(TooDenseError):
        agreed(np.arange(100), -1, 101)


def test_values_merge_where_their_lanes_differ_by_a_shift() -> None:
    """Else the programs of the two sides are told apart."""
    choose, lanes = np.array([True, False, True]), np.arange(4).reshape(1, 4)
    one, two = Shifted(np.array([0, 10, 20]), lanes), Shifted(np.array([100, 110, 120]), lanes + 5)
    assert merged(choose, one, two).dense()[:, 0].tolist() == [0, 115, 20]
    with pytest.raises(ApartError):
        merged(choose, one, Shifted(np.zeros(1, np.int64), 2 * lanes))


def test_only_what_has_parts_is_split() -> None:
    """Bools, and arrays that differ both ways, are not."""
    assert parts(np.ones((3, 4), np.int32)) is None
    assert parts(np.ones((3, 1), np.bool_)) is None
    alone = parts(np.arange(3, dtype=np.int32).reshape(3, 1))
    assert alone is not None and alone.base.tolist() == [0, 1, 2] and alone.bounds() == (0, 2)

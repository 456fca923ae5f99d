"""Work is exact, carries its definitions, and refuses what it can't count."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import read
from kopt_kb.problem.counts import Count
from kopt_kb.problem.work import Work, work


def test_the_demo_problem_by_hand():
    """8192 rows of 4096: 4*4096+1 FLOPs and one rsqrt a row; x, y and one weight in 2 bytes."""
    found = work("rms_norm", "8192x4096", "bf16")
    assert found.flops_by_engine() == {("fp32", "vector"): 8192 * 16385}
    assert found.special_functions() == {"rsqrt": 8192}
    assert found.compulsory_bytes("dram", "read") == 8192 * 4096 * 2 + 4096 * 2
    assert found.compulsory_bytes("dram", "write") == 67_108_864
    assert found.exactness() == "exact"


def test_an_alias_and_its_id_are_the_same_work():
    """rmsnorm is rms_norm, matmul is gemm."""
    assert work("rmsnorm", (2, 3), "bf16") == work("rms_norm", (2, 3), "bfloat16")
    assert work("matmul", (2, 3, 4), "bf16").op == "gemm"


def test_every_count_has_its_definition():
    """A reader sees what counts as a FLOP and which bytes."""
    texts = dict(work("softmax", (2, 3), "bf16").definitions)
    assert set(texts) == {"operation", "flops", "bytes", "special"}
    assert "4N-2" in texts["flops"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("rms_nrom", "2x3", "bf16"), "did you mean rms_norm"),
        (("rms_norm", "2x3x4", "bf16"), "MxN has 2"),
        (("rms_norm", "2x0", "bf16"), r"dimension 1 \(N\)"),
        (("rms_norm", "2x3", "bf17"), "unknown dtype"),
        (("rms_norm", "2x3", "int8"), "not defined for int8"),
        (("gemm", "2x3x33", "mxfp8"), "multiple of 32"),
    ],
)
def test_bad_input_is_one_line_with_a_remedy(arguments, complaint):
    """What, and what to do."""
    with pytest.raises(BadInput, match=complaint) as caught:
        work(*arguments)
    assert "\n" not in str(caught.value)
    assert caught.value.fix


def test_an_unknown_option_suggests_a_near_one():
    """No option is silently ignored."""
    with pytest.raises(BadInput, match="did you mean causal"):
        work("attention", (1, 1, 4, 8), "bf16", casual=True)


def test_given_work_has_no_default_engine():
    """The user says where the FLOPs run."""
    found = Work.given(10**12, 10**9, "bf16", "matrix")
    assert found.flops_by_engine() == {("bf16", "matrix"): 10**12}
    assert found.compulsory_bytes() == 10**9
    with pytest.raises(BadInput, match="matrix or vector"):
        Work.given(1, 1, "bf16", "")
    with pytest.raises(BadInput, match="at least 0"):
        Work.given(-1, 1, "bf16", "matrix")


def test_bytes_of_a_level_nobody_counted_are_not_zero():
    """A closed form knows nothing of L2."""
    with pytest.raises(BadInput, match="no byte count for l2"):
        work("softmax", (2, 3), "bf16").compulsory("l2")


def test_a_sum_adds_engines_levels_and_functions():
    """A product and a softmax keep their engines apart."""
    gemm, softmax = work("gemm", (2, 3, 4), "bf16"), work("softmax", (2, 3), "bf16")
    both = Work.total([gemm, softmax, softmax])
    assert both.flops_by_engine() == {("bf16", "matrix"): 48, ("fp32", "vector"): 2 * 20}
    assert both.special_functions() == {"exp": 12}
    assert both.compulsory_bytes() == gemm.compulsory_bytes() + 2 * softmax.compulsory_bytes()
    assert Work.total([gemm]).flops == gemm.flops
    with pytest.raises(BadInput):
        Work.total([])


def test_a_lower_bound_stays_visible():
    """Given as a lower bound, the work says so."""
    found = Work.given(10, 10, "fp16", "vector", exactness="lower")
    assert found.exactness() == "lower"
    assert found.compulsory() == Count(10, "lower")


def test_bounds_in_both_directions_are_mixed():
    """At least so many FLOPs and at most so many bytes: neither word fits the whole."""
    flops, moved = Work.given(1, 1, "fp16", "vector", "lower"), Work.given(1, 1, "fp16", "vector", "upper")
    assert dataclasses.replace(flops, bytes=moved.bytes).exactness() == "mixed"


@pytest.mark.parametrize("op", ["attention", "gemm", "rms_norm"])
def test_work_reads_back_from_json_as_written(op):
    """Integers beyond 2^53 included."""
    shape = {"attention": (64, 128, 1 << 16, 128), "gemm": (1 << 20,) * 3, "rms_norm": (1 << 30, 1 << 20)}[op]
    found = work(op, shape, "bf16")
    assert read(Work, json.loads(json.dumps(found.to_json()))) == found


def test_what_counts_under_a_roof_is_one_number():
    """Attention's exponentials' adds are vector work and count under no matrix roof; a roof it lacks counts nothing."""
    found = work("attention", (4, 32, 4096, 128), "bf16")
    matrix, vector = (found.amount_under(roof) for roof in ("bf16 matrix", "fp32 vector"))
    assert matrix == 4 * 4 * 32 * 4096 * 4096 * 128
    assert vector > 0
    assert matrix + vector == sum(flop.useful.value for flop in found.flops)
    assert found.amount_under("dram") == found.compulsory_bytes("dram")
    assert (found.amount_under("fp8 matrix"), found.amount_under("l2")) == (0, 0)


def test_counting_loads_nothing_heavy():
    """Neither numpy nor pydantic nor torch, in a fresh process."""
    code = (
        "import sys; from kopt_kb.problem.work import work; work('gemm', '8x8x8', 'bf16');"
        "print([m for m in ('numpy', 'pydantic', 'torch', 'triton') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

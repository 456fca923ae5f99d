"""The closed form of attention, by hand and by counting pairs."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.work import work


@pytest.mark.parametrize("length", [1, 2, 3, 17, 100])
def test_a_causal_mask_counts_exactly_the_pairs_it_lets_through(length):
    """Counted one by one."""
    pairs = sum(1 for query in range(length) for key in range(length) if key <= query)
    found = work("attention", (2, 3, length, 8), "bf16", causal=True)
    assert found.flops_of("bf16", "matrix").value == 6 * pairs * 4 * 8
    assert found.special_functions() == {"exp": 6 * pairs}


def test_full_attention_by_hand():
    """1x1x4x2: 16 pairs; 128 matrix FLOPs; 4*16 - 2*4 + 4*2 = 64 vector FLOPs; 4 tensors of 16 bytes."""
    found = work("attention", (1, 1, 4, 2), "bf16")
    assert found.flops_by_engine() == {("bf16", "matrix"): 128, ("fp32", "vector"): 64}
    assert found.compulsory_bytes() == 64


def test_fewer_key_heads_move_fewer_bytes_for_the_same_flops():
    """Eight query heads over two key heads."""
    full = work("attention", (1, 8, 16, 4), "bf16")
    grouped = work("attention", (1, 8, 16, 4), "bf16", kv_heads=2)
    assert grouped.flops == full.flops
    assert full.compulsory_bytes() - grouped.compulsory_bytes() == 2 * 6 * 16 * 4 * 2


def test_one_query_over_many_keys():
    """Decoding: 80 keys, each read once."""
    found = work("attention", (1, 1, 1, 64), "fp16", kv_length=80)
    assert found.flops_of("fp16", "matrix").value == 4 * 80 * 64
    assert found.compulsory_bytes("dram", "read") == (64 + 2 * 80 * 64) * 2


def test_plain_fp32_is_all_vector_work():
    """The two counts add up under one ceiling."""
    found = work("attention", (1, 1, 4, 2), "fp32")
    assert found.flops_by_engine() == {("fp32", "vector"): 192}


@pytest.mark.parametrize("options", [{"kv_heads": 3}, {"causal": True, "kv_length": 9}])
def test_what_has_no_single_meaning_is_refused(options):
    """Heads that do not divide, and a causal mask between unequal lengths."""
    with pytest.raises(BadInput):
        work("attention", (1, 8, 16, 4), "bf16", **options)

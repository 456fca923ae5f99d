from __future__ import annotations

from kopt_kb.packs.step_ranking.attention import ATTENTION
from kopt_kb.packs.step_ranking.operands import Shaped
from kopt_kb.packs.step_ranking.recorded import OpCall
from kopt_kb.problem.work import work
from tests.packs.step_ranking.traces import BF16


def _work(name, *dims, concrete=()):
    types = tuple(BF16 if len(one) > 1 else "int" if one else "" for one in dims)
    return ATTENTION[name](Shaped(OpCall(name, dims, types, (), concrete), ("flash_fwd",)))


def test_dense_attention_is_the_closed_form() -> None:
    sizes = ((2, 512, 16, 64), (2, 512, 4, 64), (2, 512, 4, 64))
    found = _work("aten::_flash_attention_forward", *sizes, (), (), concrete=("",) * 8 + ("True",))
    assert found == work("attention", (2, 16, 512, 64), "bf16", kv_heads=4, kv_length=512, causal=True)
    heads_first = tuple((one[0], one[2], one[1], one[3]) for one in sizes)
    found = _work("aten::_scaled_dot_product_flash_attention", *heads_first, concrete=("",) * 4 + ("False",))
    assert found == work("attention", (2, 16, 512, 64), "bf16", kv_heads=4, kv_length=512)


def test_a_mask_over_more_keys_than_queries_counts_what_each_query_sees() -> None:
    query, keys = (1, 16, 8, 64), (1, 512, 8, 64)
    found = _work("aten::_flash_attention_forward", query, keys, keys, concrete=("",) * 8 + ("True",))
    assert found.flops[0].useful.value == 4 * 64 * 8 * (16 * 496 + 16 * 17 // 2)


def test_backward_has_five_products() -> None:
    one = (2, 512, 16, 64)
    found = _work("flash_attn::_flash_attn_backward", one, one, one, one, concrete=("",) * 11 + ("False",))
    assert found.flops[0].useful.value == 10 * 64 * 2 * 16 * 512 * 512


def test_packed_sequences_of_unknown_lengths_have_a_lower_bound() -> None:
    found = _work("aten::_flash_attention_forward", (1000, 8, 64), (1000, 8, 64), (1000, 8, 64), (11,))
    assert found.flops[0].useful.value == 4 * 64 * 8 * 100_000 // 2
    assert found.exactness() == "lower"
    assert _work("aten::_flash_attention_forward", (1000, 8, 64), (1000, 8, 64), (1000, 8, 64), ()) is None


def test_what_is_no_attention_says_nothing() -> None:
    assert _work("aiter::mha_fwd", (2, 512, 16, 64), (2, 512, 3, 64), (2, 512, 3, 64)) is None
    assert _work("aiter::mha_fwd", (512, 64), (512, 64), (512, 64)) is None
    assert _work("aiter::mha_fwd", (2, 512, 16, 64), (2, 512, 16, 64), ()) is None

"""FLOPs of single torch operations, by hand."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.packs.problem_sets.torch_formulas import attention_flops, formula_of  # noqa: E402
from kopt_kb.packs.problem_sets.torch_op import storage_name  # noqa: E402

pytestmark = pytest.mark.torch
X = torch.empty(2, 5, device="meta")


@pytest.mark.parametrize(
    ("packet", "args", "out", "flops", "special"),
    [
        (torch.ops.aten.add, (X, X), X, 10, {}),
        (torch.ops.aten.neg, (X,), X, 0, {}),
        (torch.ops.aten.exp, (X,), X, 0, {"exp": 10}),
        (torch.ops.aten.sigmoid, (X,), X, 20, {"exp": 10}),
        (torch.ops.aten.pow, (X, 2), X, 10, {}),
        (torch.ops.aten.pow, (X, 3), X, 20, {}),
        (torch.ops.aten.pow, (X, 0.5), X, 0, {"pow": 10}),
        (torch.ops.aten.sum, (X,), X[0, 0], 9, {}),
        (torch.ops.aten.max, (X, X), X, 10, {}),
        (torch.ops.aten.max, (X, 1), (X[:, 0], X[:, 0]), 8, {}),
        (torch.ops.aten._softmax, (X, 1, False), X, 2 * (4 + 5 + 4 + 5), {"exp": 10}),
    ],
)
def test_one_operation(packet, args, out, flops, special):
    """A 2x5 tensor of fp32."""
    found = formula_of(packet)(args, out)
    assert sum(value for _, _, value in found.flops) == flops
    assert {name: value for name, _, value in found.special} == special


def test_an_lstm_is_its_products_and_its_cells():
    """4 steps of 5 rows, 2 features to 3: 12 gates of 2 + 3 products, 3 additions each; 10 more and 5 functions a cell."""
    layer = torch.nn.LSTM(2, 3, device="meta")
    empty = [torch.empty(shape, device="meta") for shape in ((4, 5, 2), (5, 3), (5, 3))]
    weights = [layer.weight_ih_l0, layer.weight_hh_l0, layer.bias_ih_l0, layer.bias_hh_l0]
    args = (empty[0], *weights, *empty[1:], False, [], 2, 3, 1, True, False, False, False)
    found = formula_of(torch.ops.aten.mkldnn_rnn_layer)(args, (torch.empty(4, 5, 3, device="meta"),))
    assert [count for _, _, count in found.flops] == [20 * 12 * 5 * 2, 20 * (12 * 3 + 10 * 3)]
    assert {name: count for name, _, count in found.special} == {"exp": 20 * 9, "tanh": 20 * 6}
    split = formula_of(torch.ops.aten.unsafe_split)((X, 1), (X[:, :1], X[:, 1:]))
    assert not split.flops


def test_torchs_own_registry_serves_what_we_do_not_count():
    """A 1x1 convolution of 4 places, 3 channels in and 2 out: 2*4*3*2."""
    image, weight = torch.empty(1, 3, 2, 2, device="meta"), torch.empty(2, 3, 1, 1, device="meta")
    args = (image, weight, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    out = torch.empty(1, 2, 2, 2, device="meta")
    assert formula_of(torch.ops.aten.convolution)(args, out).flops == (("fp32", "vector", 48),)


def test_an_operation_nobody_defined_has_no_formula():
    """A Bessel function is nobody's business here."""
    assert formula_of(torch.ops.aten.special_i0e) is None


def test_a_causal_mask_over_longer_keys_starts_at_the_first():
    """Queries 0 and 1 see 1 and 2 of 5 keys, as torch aligns it."""
    q, kv = torch.empty(1, 1, 2, 8, device="meta"), torch.empty(1, 1, 5, 8, device="meta")
    assert attention_flops(q, kv, kv, causal=True).flops[0] == ("fp32", "vector", 4 * 3 * 8)
    on_cpu = formula_of(torch.ops.aten._scaled_dot_product_flash_attention_for_cpu)
    assert on_cpu((q, kv, kv, 0.0, True), None) == attention_flops(q, kv, kv, causal=True)
    assert on_cpu((q, kv, kv), None).flops[0] == ("fp32", "vector", 4 * 10 * 8)


@pytest.mark.parametrize(
    ("dtype", "name"), [(torch.bfloat16, "bf16"), (torch.float8_e5m2, "fp8"), (torch.int64, "int32")]
)
def test_torch_types_have_names(dtype, name):
    """Wide integers compute as int32 here."""
    assert storage_name(dtype) == name

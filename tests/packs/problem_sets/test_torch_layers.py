"""FLOPs of layers and losses, by hand."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional  # noqa: E402

from kopt_kb.packs.problem_sets.torch_count import count_torch  # noqa: E402

pytestmark = pytest.mark.torch
IMAGE = ((2, 4, 6, 6), "fp32")
ELEMENTS = 2 * 4 * 36


@pytest.mark.parametrize(
    ("function", "flops", "special"),
    [
        (functional.leaky_relu, 2 * ELEMENTS, {}),
        (functional.gelu, 4 * ELEMENTS, {"erf": ELEMENTS}),
        (functional.softplus, ELEMENTS, {"exp": ELEMENTS, "log": ELEMENTS}),
        (lambda x: functional.max_pool2d(x, 2), 2 * 4 * 9 * 3, {}),
        (lambda x: functional.avg_pool2d(x, (3, 2)), 2 * 4 * 6 * 6, {}),
        (lambda x: functional.adaptive_avg_pool2d(x, 1), ELEMENTS, {}),
        (lambda x: x.var(dim=1), 4 * ELEMENTS + ELEMENTS // 4, {}),
        (lambda x: x.cumsum(-1), ELEMENTS - 48, {}),
        (lambda x: torch.logsumexp(x, -1), 3 * ELEMENTS - 2 * 48 + 48, {"exp": ELEMENTS, "log": 48}),
        (lambda x: torch.linalg.vector_norm(x, dim=-1), 2 * ELEMENTS - 48, {"sqrt": 48}),
        (lambda x: torch.linalg.vector_norm(x, ord=1, dim=-1), ELEMENTS - 48, {}),
        (lambda x: functional.group_norm(x, 2), 6 * ELEMENTS + 4, {"rsqrt": 4}),
        (lambda x: functional.mse_loss(x, x), 3 * ELEMENTS, {}),
        (lambda x: functional.hardswish(x), 5 * ELEMENTS, {}),  # noqa: PLW0108 - a case beside others
    ],
)
def test_one_layer(function, flops, special):
    """An image of 2x4x6x6."""
    found = count_torch(function, IMAGE)
    assert not found.uncounted
    assert sum(one.useful.value for one in found.flops) == flops
    assert {one.function: one.count.value for one in found.special} == special


def test_batch_norm_counts_statistics_in_training_only():
    """Six operations an element with them, two without; a root a channel."""
    mean = ((4,), "fp32")
    for training, each, more in ((True, 6, 4), (False, 2, 0)):
        found = count_torch(lambda x, m, v, t=training: functional.batch_norm(x, m, v, training=t), IMAGE, mean, mean)
        assert sum(one.useful.value for one in found.flops) == each * ELEMENTS + more

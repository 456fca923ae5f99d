"""What results need of inputs, operation by operation, at full extents."""

from __future__ import annotations

from types import ModuleType

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.packs.problem_sets.bounds.masks import needed_elements  # noqa: E402
from kopt_kb.packs.problem_sets.bounds.needed import needs_of  # noqa: E402
from kopt_kb.packs.problem_sets.bounds.products import products_of  # noqa: E402
from kopt_kb.packs.problem_sets.bounds.traced import traced  # noqa: E402

pytestmark = pytest.mark.torch
F = torch.nn.functional


def problem(function, *shapes):
    """A file's module whose model is a function."""

    class Model(torch.nn.Module):
        def forward(self, *tensors):
            return function(*tensors)

    module = ModuleType("problem")
    module.Model, module.get_init_inputs = Model, list
    module.get_inputs = lambda: [torch.rand(*one) for one in shapes]
    return module


def _needed(function, *shapes):
    found = traced(problem(function, *shapes))
    needs, unknown = needs_of(found)
    return [needed_elements(needs.get(one.node)) for one in found.given], unknown


@pytest.mark.parametrize(
    ("function", "shapes", "needed"),
    [
        (lambda x: x.sum(1)[:3], [(8, 6)], [18]),
        (lambda x: x.amax((0, 2)), [(4, 5, 6)], [120]),
        (lambda x: x.softmax(-1)[:, :2], [(8, 6)], [48]),
        (lambda x: x.cumsum(1)[:2], [(8, 6)], [12]),
        (lambda x: F.layer_norm(x, (6,))[:3, :1], [(8, 6)], [18]),
        (lambda x: F.group_norm(x, 2)[:1, :, :1], [(3, 4, 5)], [20]),
        (lambda a, b: (a @ b)[:2, :3], [(8, 6), (6, 7)], [12, 18]),
        (lambda a, b: torch.bmm(a, b)[1:], [(3, 4, 5), (3, 5, 6)], [40, 60]),
        (lambda x, w: F.conv2d(x, w, stride=2), [(1, 2, 6, 6), (4, 2, 1, 1)], [18, 8]),
        (lambda x, w: F.conv_transpose1d(x, w, stride=2, padding=1), [(1, 2, 4), (2, 3, 1)], [4, 6]),
        (lambda x: F.avg_pool2d(x, 2), [(1, 1, 5, 5)], [16]),
        (lambda x: F.max_pool2d(x, 2, 3), [(1, 1, 6, 6)], [16]),
        (lambda x: F.pad(x, (0, -2)), [(3, 6)], [12]),
        (lambda x: torch.cat([x[:, :2], x[:, 4:]], 1), [(3, 6)], [12]),
        (lambda x: torch.stack(x.unbind(1)[:2]), [(3, 6)], [6]),
        (lambda x: x.chunk(3, 1)[1] * 2, [(3, 6)], [6]),
        (lambda x: x.permute(1, 0)[:2].reshape(-1), [(3, 6)], [6]),
        (lambda x, y: x[:, None] + y, [(3,), (3, 6)], [3, 18]),
        (lambda x: x.expand(5, 3)[:1], [(1, 3)], [3]),
        (lambda x: torch.unsafe_split(x, 2, 1)[1] * 2, [(3, 6)], [6]),
        (torch.tril, [(4, 4)], [0]),
        (lambda x: x[torch.tensor([0, 0])], [(3,)], [0]),
    ],
)  # fmt: skip
def test_each_operation_needs_what_its_results_need(function, shapes, needed):
    assert _needed(function, *shapes) == (needed, ())


def test_an_operation_of_which_nothing_is_known_needs_nothing_and_is_named():
    assert _needed(torch.linalg.inv, (4, 4))[0] == [0]
    assert _needed(torch.linalg.inv, (4, 4))[1]


def test_a_product_with_another_on_both_sides_of_a_sum_is_left_out():
    found = traced(problem(lambda a, b, c: torch.relu(a @ b + a @ c), (4, 4), (4, 4), (4, 4)))
    (one,) = products_of(found, frozenset({"input0", "input1", "input2"}))
    assert (one.times, one.left_out) == (2, "add joins it with another product")

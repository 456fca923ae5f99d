"""What results were seen to depend on."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from kopt_kb.packs.problem_sets.bounds.witness import witness_of

pytestmark = pytest.mark.torch

_FILE = """import torch
import torch.nn as nn
size = 64


class Model(nn.Module):
    def forward(self, x, y):
        return {forward}


def get_inputs():
    return [torch.rand(size, size), {other}]


def get_init_inputs():
    return []
"""


def _seen(forward, other="torch.rand(size)"):
    return witness_of(_FILE.format(forward=forward, other=other), "p.py", 5.0)


@pytest.mark.parametrize(
    ("forward", "read"),
    [
        ("torch.relu(x) + y", {"input0", "input1"}),
        ("x.amax(1) + y * 0", {"input0"}),
        ("x.argmax(1)", {"input0"}),
        ("(x - x) + y", {"input1"}),
        ("x.cumprod(1) * y", {"input0", "input1"}),
    ],
)
def test_an_input_matters_where_a_result_changes_with_it(forward, read):
    assert _seen(forward).read == read


def test_a_mask_and_a_place_are_exchanged():
    assert _seen("x * y", "torch.randint(0, 2, (size, size)).bool()").read == {"input0", "input1"}
    assert "input1" in _seen("torch.nn.functional.cross_entropy(x, y)", "torch.randint(0, size, (size,))").read


def test_results_that_vary_and_results_that_do_not():
    assert [one.varying for one in _seen("(x + 1, y * 0)").results] == [1.0, 0.0]
    assert _seen("y.sum() + 0 * x").results[0].repeated == {0, 1}


def test_what_does_not_run_smaller_was_not_seen():
    assert witness_of("size = 100\nassert size == 100\n", "p.py", 1.0) is None

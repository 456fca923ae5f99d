"""What results were seen to depend on."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from kopt_kb.packs.problem_sets.bounds import witness
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
    return witness_of(_FILE.format(forward=forward, other=other), "p.py")


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


def test_an_exchange_is_evidence_of_its_own_axis_alone():
    """Of whole numbers whose first column decides, a row that was exchanged shows nothing of the other columns."""
    numbers = "torch.randint(0, size, (size, size))"
    assert _seen("x * y[:, :1]", numbers).read == {"input0", "input1"}  # the column that is needed
    assert _seen("x * (y[:, :1] + 0 * y)", numbers).read == {"input0"}


def test_another_reduction_shows_what_extents_in_one_relation_hide():
    """A triangle of 2 rows and 8 columns hides 6 of them, one of 8 and 8 none."""
    text = _FILE.replace("size = 64", "size = 64\nbatch_size = 64").replace(
        "rand(size, size)", "rand(batch_size, size)"
    )
    found = witness_of(text.format(forward="torch.tril(x + 1) + 0 * y", other="torch.rand(size)"), "p.py")
    assert "input0" in found.read and "batch 2" in found.how


def test_results_that_vary_and_results_that_do_not():
    assert [one.varying for one in _seen("(x + 1, y * 0)").results] == [1.0, 0.0]
    assert _seen("y.sum() + 0 * x").results[0].repeated == {0, 1}


def test_what_does_not_run_smaller_was_not_seen():
    assert witness_of("size = 100\nassert size == 100\n", "p.py") is None


_NORM = _FILE.replace(
    "class Model(nn.Module):\n",
    """class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(size)

""",
)


def test_a_model_that_writes_in_place_has_derivatives_too():
    """What a derivative needs is written over: nothing that a model without training has to mind."""
    assert _seen("torch.relu(x).add_(y)").read == {"input0", "input1"}


def test_draws_end_as_soon_as_all_that_can_be_shown_is():
    """Running statistics and a counter of calls have no derivative: nobody waits for one."""
    found = witness_of(_NORM.format(forward="self.norm(x) + y", other="torch.rand(size)"), "p.py")
    assert found.draws == 2 and {"input0", "input1", "norm.weight", "norm.bias"} <= found.read


def test_draws_end_after_a_turn_that_shows_nothing_new():
    assert _seen("torch.relu(x - 1e9) + y").draws == witness._CYCLE + 2


def test_draws_end_by_work_and_not_by_time(monkeypatch):
    """A machine that stands still between calls shows the same; one draw after another has to be compared."""
    monkeypatch.setattr(witness, "_MOST_WORK", 1)
    assert _seen("torch.relu(x - 1e9) + y").draws == 2
    assert "time" not in vars(witness)

"""A GRU as one node: the same shapes, work and needs as its steps."""

from __future__ import annotations

from contextlib import nullcontext
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.packs.problem_sets.bounds import traced as tracing  # noqa: E402
from kopt_kb.packs.problem_sets.bounds.needed import needs_of  # noqa: E402
from kopt_kb.packs.problem_sets.bounds.traced import traced  # noqa: E402
from kopt_kb.packs.problem_sets.torch_formulas import formula_of  # noqa: E402

pytestmark = pytest.mark.torch


class _Gru(torch.nn.Module):
    def __init__(self, *, both=False, batch_first=False, dropout=0.0):
        super().__init__()
        self.gru = torch.nn.GRU(5, 3, 2, batch_first=batch_first, bidirectional=both, dropout=dropout)

    def forward(self, x):
        return self.gru(x)


class _Steps(torch.nn.Module):
    def __init__(self, kind, step):
        super().__init__()
        self.layers, self.step = getattr(torch.nn, kind)(5, 3, 2, batch_first=True), step

    def forward(self, x):
        return self.layers(x)[0][:, self.step]


def _file(**how):
    module = ModuleType("problem")
    module.Model, module.get_init_inputs = _Gru, lambda: how
    module.get_inputs = lambda: [torch.rand(7, 4, 5)]
    return module


def _names(found):
    return [one.target.overloadpacket.__name__ for one in found.graph.nodes if hasattr(one.target, "overloadpacket")]


def _flops(found):
    total = 0
    for node in found.graph.nodes:
        formula = formula_of(node.target.overloadpacket) if hasattr(node.target, "overloadpacket") else None
        if formula is not None:
            values = torch.fx.node.map_arg(node.args, lambda one: one.meta["val"])
            total += sum(amount for _, _, amount in formula(values, node.meta["val"]).flops)
    return total


@pytest.mark.parametrize("how", [{}, {"both": True}, {"batch_first": True}], ids=["one way", "both", "batch first"])
def test_one_node_has_the_shapes_and_the_work_of_its_steps(how, monkeypatch):
    whole = traced(_file(**how))
    assert _names(whole).count("gru") == 1
    monkeypatch.setattr(tracing, "whole_layers", nullcontext)
    steps = traced(_file(**how))
    assert "gru" not in _names(steps) and len(steps.graph.nodes) > 100
    shapes = [[tuple(node.meta["val"].shape) for node in one.results] for one in (whole, steps)]
    assert shapes[0] == shapes[1]
    assert _flops(whole) == _flops(steps)


def test_the_last_state_rests_on_every_step_of_the_input():
    found = traced(_file())
    needs, unknown = needs_of(found)
    assert not unknown and all(mask.all() for mask in needs[found.given[0].node])


@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
@pytest.mark.parametrize(("step", "whole"), [(-1, True), (0, False)], ids=["last step", "first step"])
def test_the_last_step_rests_on_all_and_of_another_nothing_is_said(kind, step, whole):
    module = ModuleType("problem")
    module.Model, module.get_init_inputs = _Steps, lambda: (kind, step)
    module.get_inputs = lambda: [torch.rand(4, 7, 5)]
    found = traced(module)
    masks = needs_of(found)[0].get(found.given[0].node)
    assert (masks is not None and all(mask.all() for mask in masks)) == whole


def test_layers_that_draw_numbers_stay_as_they_are_and_torch_is_left_as_it_was():
    before = torch._VF.gru
    assert "gru" not in _names(traced(_file(dropout=0.5)))
    assert torch._VF.gru is before

"""Graphs of models, also of those whose own code reads values or keeps tensors."""

from __future__ import annotations

from types import ModuleType

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.packs.problem_sets.bounds.traced import built, given_to, traced  # noqa: E402

pytestmark = pytest.mark.torch


class _Reads(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = float(torch.linspace(0, 1, width)[-1].item())
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * self.weight * self.scale


class _Keeps(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = torch.zeros(4)

    def forward(self, x):
        self.kept.add_(x)
        return self.kept + x


def _file(model, init=()):
    module = ModuleType("problem")
    module.Model, module.get_init_inputs = model, lambda: init
    module.get_inputs = lambda: [torch.rand(4)]
    return module


def test_a_model_that_reads_values_while_it_is_built():
    found = traced(_file(_Reads, {"width": 4}))
    assert [(one.name, one.kind) for one in found.given] == [("input0", "input"), ("weight", "weight")]
    assert len(found.results) == 1


def test_a_model_that_keeps_a_tensor_of_its_own():
    assert traced(_file(_Keeps)).given[0].name == "input0"


def test_parameters_stand_before_buffers():
    model = built(_file(lambda: torch.nn.BatchNorm1d(3)))
    assert [kind for kind, _ in given_to(model).values()] == ["weight"] * 2 + ["buffer"] * 3

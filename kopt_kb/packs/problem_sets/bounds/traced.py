"""A problem's forward pass as a graph of functional operations, on tensors without memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.func import functional_call, functionalize
from torch.fx.experimental.proxy_tensor import make_fx

from kopt_kb.launch.problems.adapted import tensors_of
from kopt_kb.packs.problem_sets.bounds.drawn import FreeShare, drawn_shares
from kopt_kb.packs.problem_sets.bounds.facts import TensorKind
from kopt_kb.packs.problem_sets.bounds.recurrent import whole_layers

__all__ = ["StartTensor", "Traced", "built", "given_to", "tensors_of_node", "traced"]


@dataclass(frozen=True, slots=True)
class StartTensor:
    """A tensor that the graph starts from: its name, what it is, and how much of it was drawn freely."""

    name: str
    kind: TensorKind
    tensor: Any
    drawn: FreeShare | None = None
    node: Any = None


@dataclass(frozen=True, slots=True)
class Traced:
    """A graph with what it starts from; `results` are the nodes of the tensors that are returned."""

    graph: Any
    given: tuple[StartTensor, ...]
    results: tuple[Any, ...]


def built(file: ModuleType) -> Any:
    """Return the file's model, as the file's own arguments make it."""
    wanted = file.get_init_inputs()
    return file.Model(**wanted) if isinstance(wanted, Mapping) else file.Model(*wanted)


def given_to(model: Any) -> dict[str, tuple[TensorKind, Any]]:
    """Return name → (kind, tensor) of a model's parameters and buffers."""
    found: dict[str, tuple[TensorKind, Any]] = {}
    found |= {name: ("weight", one.detach()) for name, one in model.named_parameters()}
    return found | {name: ("buffer", one) for name, one in model.named_buffers()}


def traced(file: ModuleType) -> Traced:
    """Return the graph of one call of the file's model on the file's own inputs; nothing is computed.

    A model whose own code reads values while it is built is built with values; one that keeps a tensor between calls
    without declaring it is traced with operations in place as they stand.
    """
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    try:
        with mode, torch.no_grad():
            model = built(file)
    except RuntimeError:
        with torch.no_grad():
            model = built(file)
    with mode, torch.no_grad(), whole_layers():
        arguments, shares = drawn_shares(file.get_inputs)
        state = {name: (kind, _fake(mode, one)) for name, (kind, one) in given_to(model).items()}
        places = [at for at, one in enumerate(arguments) if isinstance(one, torch.Tensor)]
        given = [StartTensor(f"input{at}", "input", arguments[at], shares.get(id(arguments[at]))) for at in places]
        given += [StartTensor(name, kind, one) for name, (kind, one) in state.items()]

        def call(tensors: list[Any]) -> tuple[Any, ...]:
            filled = list(arguments)
            for at, one in zip(places, tensors, strict=False):
                filled[at] = one
            weights = dict(zip(state, tensors[len(places) :], strict=True))
            return tensors_of(functional_call(model, weights, tuple(filled)))

        graph = _graph(call, [one.tensor for one in given])
    starts = [node for node in graph.nodes if node.op == "placeholder"]
    (ending,) = (node for node in graph.nodes if node.op == "output")
    known = tuple(replace(one, node=node) for one, node in zip(given, starts, strict=True))
    return Traced(graph, known, tuple(one for one in ending.args[0] if hasattr(one, "meta")))


def _graph(call: Callable[[list[Any]], tuple[Any, ...]], tensors: list[Any]) -> Any:
    try:
        return make_fx(functionalize(call), tracing_mode="real")(tensors).graph
    except RuntimeError as error:
        if "non-functional tensor" not in str(error):
            raise
        return make_fx(call, tracing_mode="real")(tensors).graph


def _fake(mode: FakeTensorMode, tensor: Any) -> Any:
    return tensor if isinstance(tensor, FakeTensor) else mode.from_tensor(tensor)


def tensors_of_node(node: Any) -> list[Any]:
    """Return the tensors that a node gives: its value's, several of an operation with several results."""
    value = node.meta.get("val")
    found = value if isinstance(value, tuple | list) else [value]
    return [one for one in found if isinstance(one, torch.Tensor)]

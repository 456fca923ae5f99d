"""A torch module as a problem: `Model` is the reference, its parameters are inputs, `ModelNew` is the candidate.

Whoever publishes such files gives candidate and reference equal weights by building both after the same seed. Here the
weights are inputs of the problem, drawn anew for each seed, and a candidate is given them: by name, else in the order
in which it makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import torch
from torch.func import functional_call

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.problems.adapted import Adapted, Places, refuse_shape, seeded, stored_in, takes, torch_dtype
from kopt_kb.launch.problems.one_float import with_floats
from kopt_kb.problem.shapes import Shape

__all__ = ["TorchModel"]


class TorchModel(Adapted):
    """A problem of `Model`, `get_inputs` and `get_init_inputs`.

    Args:
        file: Names of the file.
        name: Name of the problem.
    """

    def __init__(self, file: Mapping[str, object], name: str) -> None:
        self.op = name
        self._class: Any = file["Model"]
        self._get: Any = file["get_inputs"]
        self._get_init: Any = file["get_init_inputs"]
        self._model: Any = None
        self._places = Places((), ())
        self._state: tuple[str, ...] = ()

    def make_inputs(self, shape: Shape, dtype: str, device: str = "cuda", seed: int = 0) -> tuple[Any, ...]:
        """Return the tensors of `get_inputs`, then the model's parameters and buffers, floats in the storage type."""
        with torch.device(device), torch.no_grad():
            seeded(seed)
            self._model = self._built(self._class)
            given = list(self._get())
        tensors = {name: one for name, one in zip(self._arguments(len(given)), given, strict=False) if _is_tensor(one)}
        state = _state_of(self._model)
        self._state, self.names = tuple(state), (*tensors, *(f"model.{name}" for name in state))
        self.stored = stored_in(tensors.values())
        own = _shape_of(tensors.values())
        if tuple(shape) != own:
            raise refuse_shape(self.op, shape, [own])
        self._places = Places(given, own)
        return with_floats((*tensors.values(), *state.values()), torch_dtype(dtype))

    def own_shape(self) -> Shape:
        """Return the one shape of the problem: extents of its first tensor that has any."""
        with torch.no_grad():
            return _shape_of([one for one in self._get() if _is_tensor(one)])

    def result(self, inputs: Sequence[Any]) -> object:
        """Return what the model gives, with the weights among the inputs."""
        return self.called(self._model, inputs)

    def called(self, function: Callable[..., Any], inputs: Sequence[Any]) -> object:
        """Return what a model gives for these tensors and weights."""
        count = self._places.tensors
        # Buffers that a model keeps up to date are its own: what it is given stays as it is.
        own = {name for name, _ in self._model.named_buffers()}
        state = {
            name: one.clone() if name in own else one for name, one in zip(self._state, inputs[count:], strict=True)
        }
        return functional_call(function, self._named(function, state), self._places.filled(inputs[:count]))

    def target(self, module: ModuleType) -> Callable[..., Any]:
        """Return a call of the file's `ModelNew`, built as the reference is; raises `BadInput` where there is none."""
        made = getattr(module, "ModelNew", None)
        if not isinstance(made, type):
            fix = "the answer to a class Model is a class ModelNew with the same arguments"
            raise BadInput("the file has no class ModelNew", where=str(module.__file__), fix=fix, code="KB447")
        with torch.no_grad():
            model = self._built(made)
        return lambda *inputs: self.called(model, inputs)

    def _built(self, kind: Any) -> Any:
        given = self._get_init()
        return kind(**given) if isinstance(given, Mapping) else kind(*given)

    def _arguments(self, count: int) -> list[str]:
        names = [one.name for one in takes(self._class.forward)][1:]
        return [*names, *(f"input{number}" for number in range(len(names), count))]

    def _named(self, model: Any, state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return a candidate's own names for the weights; raises `BadInput` where it has others."""
        own = _state_of(model)
        if all(name in state and state[name].shape == one.shape for name, one in own.items()):
            return {name: state[name] for name in own}
        shapes = [tuple(one.shape) for one in state.values()]
        if [tuple(one.shape) for one in own.values()] == shapes:
            return dict(zip(own, state.values(), strict=True))
        raise BadInput(
            f"ModelNew keeps other weights than Model: {_listed(own)} in place of {_listed(state)}",
            where=self.op,
            fix="keep Model's parameters by their names, or by shape and order",
            code="KB447",
        )


def _is_tensor(value: object) -> bool:
    return isinstance(value, torch.Tensor)


def _state_of(model: Any) -> dict[str, torch.Tensor]:
    """Return parameters and floating buffers by name, parameters first."""
    found = {name: one.detach() for name, one in model.named_parameters()}
    return found | {name: one for name, one in model.named_buffers() if one.is_floating_point()}


def _shape_of(tensors: Any) -> Shape:
    return next((tuple(map(int, one.shape)) for one in tensors if one.ndim and 0 not in one.shape), (1,))


def _listed(state: Mapping[str, torch.Tensor]) -> str:
    return ", ".join(f"{name} {'x'.join(map(str, one.shape))}" for name, one in list(state.items())[:4]) or "none"

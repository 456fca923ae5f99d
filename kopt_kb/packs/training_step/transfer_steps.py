"""Run eight training steps of a file in a child process and count what its caches find; a CPU is enough.

The file offers `training_step(activation, weight, grad_out)`, which returns a tensor or a tuple of them. Activation and
gradient are new tensors in each step, and the weight is changed in place at the end of one, as an optimizer does.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Hashable
from types import ModuleType
from typing import Any

import torch

__all__ = ["Counting", "main", "run_steps"]

STEPS = 8
_SIDE = 16
"""Rows and columns of the stand-in tensors; hit rates do not depend on them."""


class Counting(dict[Hashable, Any]):
    """A dictionary that counts how often it is asked and finds something; a read after a question is one with it."""

    def __init__(self, old: dict[Hashable, Any]) -> None:
        super().__init__(old)
        self.lookups = self.hits = 0
        self.first_hit = False
        self._answered: Hashable = object()

    def begin(self) -> None:
        """Start a step."""
        self.lookups = self.hits = 0
        self.first_hit = False

    def _ask(self, key: Hashable) -> None:
        found = super().__contains__(key)
        self.first_hit = self.first_hit or (not self.lookups and found)
        self.lookups += 1
        self.hits += found
        self._answered = key

    def __contains__(self, key: object) -> bool:
        """Count a question."""
        self._ask(key)
        return super().__contains__(key)

    def get(self, key: Hashable, default: Any = None) -> Any:
        """Count a question."""
        self._ask(key)
        return super().get(key, default)

    def setdefault(self, key: Hashable, default: Any = None) -> Any:
        """Count a question."""
        self._ask(key)
        return super().setdefault(key, default)

    def __getitem__(self, key: Hashable) -> Any:
        """Count a question unless it was just answered."""
        if key != self._answered:
            self._ask(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Hashable, value: Any) -> None:
        """Keep a value; reading it back is no question."""
        self._answered = key
        super().__setitem__(key, value)


def _loaded(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("candidate", path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module
    spec.loader.exec_module(module)
    return module


def _counted(module: ModuleType) -> list[Counting]:
    found = []
    for name, value in list(vars(module).items()):
        if isinstance(value, dict) and not name.startswith("__"):
            counting = Counting(value)
            setattr(module, name, counting)
            found.append(counting)
    return found


def _same(one: Any, other: Any) -> bool:
    ones, others = ((each if isinstance(each, tuple) else (each,)) for each in (one, other))
    return all(torch.equal(a, b) for a, b in zip(ones, others, strict=True))


def run_steps(path: str) -> dict[str, object]:
    """Return lookups and hits of each step, and whether a changed weight was found as it was."""
    module = _loaded(path)
    caches = _counted(module)
    draw = torch.Generator().manual_seed(0)
    weight = torch.randn(_SIDE, _SIDE, generator=draw)
    lookups, hits, stale, kept = [], [], False, []
    for _ in range(STEPS):
        activation, grad = (torch.randn(_SIDE, _SIDE, generator=draw) for _ in range(2))
        kept += [activation, grad]  # a freed tensor's address would be given to the next one
        for one in caches:
            one.begin()
        module.training_step(activation, weight, grad)
        lookups.append(sum(one.lookups for one in caches))
        hits.append(sum(one.hits for one in caches))
        stale = stale or any(one.first_hit for one in caches)
        with torch.no_grad():
            weight.add_(1 / 8)
    clone = weight.clone()
    return {
        "lookups": lookups, "hits": hits, "stale": stale or _is_stale(module, caches, clone, in_place=True),
        "stale_after_data": _is_stale(module, caches, weight.clone(), in_place=False),
    }  # fmt: skip


def _is_stale(module: ModuleType, caches: list[Counting], weight: torch.Tensor, *, in_place: bool) -> bool:
    """Return whether the result of a step rests on a weight as it was before it was changed."""
    activation, grad = torch.ones(_SIDE, _SIDE), torch.ones(_SIDE, _SIDE)
    module.training_step(activation, weight, grad)
    with torch.no_grad():
        if in_place:
            weight.mul_(3.0)
        else:
            weight.data = weight.data * 3.0
    held = module.training_step(activation.clone(), weight, grad.clone())
    for one in caches:
        one.clear()
    return not _same(held, module.training_step(activation.clone(), weight, grad.clone()))


def main() -> None:
    """Print the counts of the file named by the first argument."""
    sys.stdout.write(json.dumps(run_steps(sys.argv[1])))


if __name__ == "__main__":
    main()

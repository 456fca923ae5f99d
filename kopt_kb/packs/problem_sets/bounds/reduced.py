"""A problem with smaller extents: its own file with the whole numbers at its top made smaller, equal ones alike."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType

__all__ = ["reductions"]

_LEAST = 24
"""Numbers up to this are strides, kernels, groups and layers, and stay."""
_KEPT = 8
_FACTORS = (64, 32, 16, 8, 4, 2)
_BATCH = 2


def reductions(text: str, where: str) -> Iterator[tuple[str, ModuleType]]:
    """Yield (how, module) from the smallest extents to the file's own; those that do not import are left out.

    A reduction may still fail when its model is built: extents that depend on each other no longer fit.
    """
    ways = [
        (f"numbers above {_LEAST} divided by {by}", _Divided(by, batch)) for by in _FACTORS for batch in (_BATCH, 0)
    ]
    for how, change in (*ways, ("batch alone", _Divided(1, _BATCH))):
        module = _module(text, where, change)
        if module is not None:
            yield f"{how}, batch {change.batch}" if change.batch else how, module


def _is_batch(name: str) -> bool:
    return "batch" in name.lower()


@dataclass(frozen=True, slots=True)
class _Divided:
    """How numbers change: divided, and a batch of its own unless 0."""

    factor: int
    batch: int

    def __call__(self, name: str, value: int) -> int:
        if self.batch and _is_batch(name):
            return min(value, self.batch)
        return value if value <= _LEAST else max(value // self.factor, _KEPT)


class _Numbers(ast.NodeTransformer):
    def __init__(self, name: str, change: Callable[[str, int], int]) -> None:
        self._name, self._change = name, change

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if type(node.value) is int and node.value > 0:
            return ast.copy_location(ast.Constant(self._change(self._name, node.value)), node)
        return node


def _module(text: str, where: str, change: Callable[[str, int], int]) -> ModuleType | None:
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            node.value = _Numbers(node.targets[0].id, change).visit(node.value)
    module = ModuleType("reduced")
    module.__file__ = where
    try:
        exec(compile(tree, where, "exec"), vars(module))  # noqa: S102 - in a process of its own, as any problem's code
    except Exception:  # noqa: BLE001 - a stranger's file with other numbers may do anything
        return None
    return module

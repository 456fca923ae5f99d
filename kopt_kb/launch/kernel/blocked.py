"""A float64 reference in pieces that fit memory, as the operation's declaration cuts it; whole where it fits."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import FindingError
from kopt_kb.problem.ops import OPS, definition
from kopt_kb.problem.trials import Cut, Split

__all__ = ["ReferenceMemoryError", "available_bytes", "preload", "reference_result", "result_shape"]

_SHARE = 0.4
"""Share of the free memory that a reference may plan with; the rest is for the result and for what is not counted."""

_MOST_PIECES = 1 << 16


class ReferenceMemoryError(FindingError):
    """A float64 reference does not fit the memory of its device, not even in pieces."""

    code = "KB456"


def preload(*, wake: bool = False) -> None:
    """Load torch with what its first operation on tensors without memory loads: a second or more of a reference.

    Args:
        wake: Whether the GPU is woken too, where there is one.
    """
    with suppress(ImportError, RuntimeError):  # whoever needs it is told when something is missing
        import torch

        torch.softmax(torch.empty(2, 2, device="meta").double(), -1)
        if wake and torch.cuda.is_available():
            one = torch.ones(16, 16, dtype=torch.float64, device="cuda")
            (one @ one).sum().item()


def available_bytes(device: Any) -> int:
    """Return how many bytes of a device's memory, or of the host's for "cpu", are free now."""
    import torch

    if device.type == "cuda":
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0]) + int(cached)
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return 4 << 30


def result_shape(module: Any, inputs: Sequence[Any]) -> tuple[int, ...] | None:
    """Return the shape of a reference's result, found on tensors without memory; None where it can't run on those."""
    try:
        return tuple(module.reference(*(one.to("meta") for one in inputs)).shape)
    except Exception:  # noqa: BLE001 - a user's reference may need values
        return None


def reference_result(module: Any, inputs: Sequence[Any], *, most_bytes: int | None = None) -> Any:
    """Return the float64 result of a module's `reference`, computed in pieces when the whole would not fit.

    Args:
        module: With `reference`, and `OP` when its operation says how it is cut.
        inputs: Tensors of one device.
        most_bytes: What it may plan with; None: a share of what is free now.

    Raises:
        ReferenceMemoryError: It ran out of memory, in as many pieces as there can be.
    """
    plan = _Plan(module, inputs, most_bytes)
    pieces = plan.pieces
    while True:
        try:
            return plan.run(pieces)
        except Exception as error:
            if not _out_of_memory(error):
                raise
            text = _shapes(inputs)
        # Outside the handler: its traceback holds the tensors of the failed attempt.
        _release(inputs)
        if pieces >= plan.most_pieces:
            whole = "as a whole: its operation declares no way to cut it" if plan.most_pieces == 1 else "in pieces"
            raise ReferenceMemoryError(
                f"the float64 reference runs out of memory on inputs of {text}, {whole}",
                where="reference",
                fix="verify a smaller shape, free the device, or give a --reference FILE that computes in parts",
            )
        pieces = min(pieces * 4, plan.most_pieces)


def _out_of_memory(error: Exception) -> bool:
    words = str(error)
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or "can't allocate memory" in words
        or "not enough memory" in words
    )


def _release(inputs: Sequence[Any]) -> None:
    import torch

    if any(one.is_cuda for one in inputs):
        torch.cuda.empty_cache()


def _shapes(inputs: Sequence[Any]) -> str:
    return ", ".join("x".join(map(str, one.shape)) or "one element" for one in inputs)


class _Plan:
    """The axes along which one reference can be cut, and how often it has to be."""

    def __init__(self, module: Any, inputs: Sequence[Any], most_bytes: int | None) -> None:
        self._module, self._inputs = module, inputs
        op = str(getattr(module, "OP", ""))
        split = definition(op).split if op in OPS else None
        # A tensor without elements, or of no rank where a cut needs one, is no input of this operation.
        self._shape = result_shape(module, inputs) if split is not None else None
        self._cuts = self._usable(split) if split is not None and self._shape is not None else ()
        self.pieces, self.most_pieces = 1, 1
        if split is None or not self._cuts:
            return
        needed = 8 * split.elements(tuple(tuple(one.shape) for one in inputs))
        room = most_bytes if most_bytes is not None else int(_SHARE * available_bytes(inputs[0].device))
        self.most_pieces = min(math.prod(extent for _, extent in self._cuts), _MOST_PIECES)
        self.pieces = min(max(1, math.ceil(needed / max(room, 1))), self.most_pieces)

    def _usable(self, split: Split) -> tuple[tuple[Cut, int], ...]:
        """Return the cuts that fit these inputs, each with the extent of its axis."""
        shape = self._shape or ()
        taken = _keywords(self._module.reference)
        found = []
        for cut in split.axes:
            extents = [
                self._inputs[number].shape[axis]
                for number, axis in enumerate(cut.inputs)
                if axis is not None and number < len(self._inputs) and _has(self._inputs[number].shape, axis)
            ]
            named = sum(axis is not None for axis in cut.inputs)
            fits = len(self._inputs) == len(cut.inputs) and len(extents) == named and _has(shape, cut.result)
            if not fits or (cut.first and cut.first not in taken):
                continue
            extent = shape[cut.result]
            # In proportion only: a piece of the result needs a whole number of the narrower input's indices.
            if extents[0] == extent and all(extent % one == 0 for one in extents if one):
                found.append((cut, math.gcd(*extents)))
        return tuple(found)

    def run(self, pieces: int) -> Any:
        """Return the result, computed in at least so many pieces if there can be as many."""
        if pieces == 1:
            return self._module.reference(*self._inputs)
        import torch

        out = torch.empty(self._shape or (), dtype=torch.float64, device=self._inputs[0].device)
        for cuts in self._ranges(pieces):
            given, options, target = list(self._inputs), {}, out
            for cut, extent, first, last in cuts:
                target = _narrow(target, cut.result, extent, first, last)
                for number, axis in enumerate(cut.inputs):
                    if axis is not None:
                        given[number] = _narrow(given[number], axis, extent, first, last)
                if cut.first:
                    options[cut.first] = first
            target.copy_(self._module.reference(*given, **options))
        return out

    def _ranges(self, pieces: int) -> Iterator[list[tuple[Cut, int, int, int]]]:
        """Yield (cut, units of its axis, first unit, behind the last) for each piece; outer axes are cut first."""
        counts, left = [], pieces
        for _, extent in self._cuts:
            counts.append(min(extent, left))
            left = math.ceil(left / counts[-1])
        for number in range(math.prod(counts)):
            found = []
            for (cut, extent), count in zip(reversed(self._cuts), reversed(counts), strict=True):
                number, at = divmod(number, count)  # noqa: PLW2901 - the digits of the piece's number
                found.append((cut, extent, at * extent // count, (at + 1) * extent // count))
            yield found


def _keywords(function: Any) -> set[str]:
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return set()


def _has(shape: Sequence[int], axis: int) -> bool:
    return -len(shape) <= axis < len(shape)


def _narrow(tensor: Any, axis: int, units: int, first: int, last: int) -> Any:
    """Return units `first` to `last` of an axis whose extent is a multiple of `units`."""
    step = tensor.shape[axis] // units
    return tensor.narrow(axis, first * step, (last - first) * step)

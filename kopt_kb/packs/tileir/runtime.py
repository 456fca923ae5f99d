"""What a rewritten file carries with it: its text from the mark on is copied there, since that file imports no kb."""

from __future__ import annotations

# --- copied from here on
import os as _os
from typing import Any

import triton as _triton


def tileir_active() -> bool:
    """Return whether this process compiles with the TileIR backend."""
    if _os.environ.get("ENABLE_TILE") != "1":
        return False
    try:
        return bool(_triton.runtime.driver.active.get_current_target().backend == "tileir")
    except (RuntimeError, AttributeError, ImportError):
        return False


def tileir_configs(configs: Any, hints: Any, pre_hook: Any = None) -> Any:
    """Return the configurations; with the TileIR backend one for each and each hint (occupancy, num_stages, num_ctas).

    Any other backend gets what it always got: `occupancy` is an error there. What differs in num_warps alone is one
    configuration for TileIR, which ignores it.
    """
    if not tileir_active():
        return configs
    distinct: dict[Any, Any] = {}
    for one in configs:
        distinct.setdefault((tuple(sorted(one.kwargs.items())), one.num_stages), one)
    return [
        _triton.Config(
            {**one.kwargs, "occupancy": occupancy},
            num_stages=stages or one.num_stages,
            num_ctas=ctas,
            pre_hook=one.pre_hook or pre_hook,
        )
        for one in distinct.values()
        for occupancy, stages, ctas in hints
    ]


class TileirTuned:
    """A kernel without configurations of its own: with the TileIR backend its hints are searched."""

    def __init__(self, kernel: Any, hints: Any, written: Any) -> None:
        """Keep the kernel; tensors among the parameters `written` are put back between trials."""
        self._kernel, self._hints, self._written = kernel, hints, written
        self._tuned: Any = None

    def __getitem__(self, grid: Any) -> Any:
        """Return what launches it on a grid."""
        if not tileir_active():
            return self._kernel[grid]
        searched = {"num_warps", "num_stages", "num_ctas"}

        def start(*args: Any, **named: Any) -> Any:
            kept = {name: value for name, value in named.items() if name not in searched}
            return self._search(args, kept)[grid](*args, **kept)

        return start

    def _search(self, args: Any, named: Any) -> Any:
        if self._tuned is None:
            given = {**dict(zip(self._kernel.arg_names, args, strict=False)), **named}
            key = [name for name, value in given.items() if isinstance(value, int)]
            restore = [name for name in self._written if hasattr(given.get(name), "clone")]
            configs = tileir_configs([_triton.Config({})], self._hints)
            self._tuned = _triton.autotune(configs=configs, key=key, restore_value=restore)(self._kernel)
        return self._tuned

    def __getattr__(self, name: str) -> Any:
        """Return anything else of the kernel as it was."""
        return getattr(self._kernel, name)


class TileirChoice:
    """A kernel and the same with tensor descriptors: the second is started only where a launch meets what it needs.

    `TILEIR_DESCRIPTORS=1` asks for descriptors with any backend, `0` for none; without it they are for TileIR alone.
    """

    def __init__(self, plain: Any, tiled: Any, names: Any, needs: Any, apart: Any) -> None:
        """Keep both; `needs` are (kind, pointer, factors, number), `apart` is what may be written to."""
        self._plain, self._tiled = plain, tiled
        self._names, self._needs, self._apart = names, needs, apart
        self.refused = "not launched yet"

    def __getitem__(self, grid: Any) -> Any:
        """Return what launches one of the two on a grid."""
        return lambda *args, **named: self._pick(args, named)[grid](*args, **named)

    def __getattr__(self, name: str) -> Any:
        """Return anything else of the plain kernel."""
        return getattr(self._plain, name)

    def _pick(self, args: Any, named: Any) -> Any:
        asked = _os.environ.get("TILEIR_DESCRIPTORS", "")
        if asked == "0" or (asked != "1" and not tileir_active()):
            self.refused = "the TileIR backend is not active"
            return self._plain
        given = {**dict(zip(self._names, args, strict=False)), **named}
        refusals = [self._refusal(values) for values in _every_config(self._tiled, given)]
        self.refused = next((one for one in refusals if one), "")
        if self.refused:
            return self._plain
        _ensure_allocator()
        return self._tiled

    def _refusal(self, values: Any) -> str:
        """Return the first thing that descriptors need and these arguments lack, or nothing."""
        pointers = {pointer for _, pointer, _, _ in self._needs if values.get(pointer) is not None}
        for pointer in sorted(pointers):
            tensor = values[pointer]
            if not hasattr(tensor, "data_ptr") or not hasattr(tensor, "element_size"):
                return f"{pointer} is no tensor"
            if tensor.data_ptr() % 16:
                return f"{pointer} does not begin at a multiple of 16 bytes"
            if str(tensor.dtype) == "torch.bool" or tensor.dtype.is_complex:
                return f"{pointer} holds {tensor.dtype}"
            for other in self._names if pointer in self._apart else self._apart:
                if other != pointer and _shares(tensor, values.get(other)):
                    return f"{pointer} and {other} share memory, and the kernel may write to it"
        for kind, pointer, factors, number in self._needs:
            if kind == "present" and pointer not in pointers:
                return f"{pointer} is not given"
            if pointer in pointers and not _holds(kind, values[pointer].element_size(), factors, number, values):
                return f"{kind}: {' * '.join([str(number), *factors])} of {pointer}"
        return ""


def _holds(kind: str, element_bytes: int, factors: Any, number: int, values: Any) -> bool:
    if kind == "present":
        return True
    known = [values[one] for one in factors if isinstance(values.get(one), int)]
    product = number
    for one in known:
        product *= one
    if kind == "aligned":  # a factor nobody knows may be 1
        return product * element_bytes % 16 == 0
    if len(known) != len(factors):
        return kind == "stride" and product != 0 and product * element_bytes % 16 == 0
    if kind == "unit":
        return product == 1
    if kind == "stride":
        return product != 0 and product * element_bytes % 16 == 0
    return product * element_bytes >= 16 if kind == "block" else 0 < product < 2**31


def _shares(one: Any, other: Any) -> bool:
    if not hasattr(other, "untyped_storage"):
        return False
    return bool(one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr())


def _every_config(kernel: Any, given: Any) -> Any:
    """Return the launch's arguments with each configuration's, and what heuristics make of them."""
    every = [dict(given)]
    while kernel is not None:
        configs = getattr(kernel, "configs", None)
        if configs:
            every = [{**values, **one.kwargs} for values in every for one in configs]
        for name, rule in (getattr(kernel, "values", None) or {}).items():
            for values in every:
                values[name] = rule(values)
        kernel = getattr(kernel, "fn", None)
    return every


def _ensure_allocator() -> None:
    """Give Triton memory for descriptors where nobody did."""
    from triton.runtime import _allocation as allocation

    current = allocation._allocator
    if isinstance(current.get() if hasattr(current, "get") else current, allocation.NullAllocator):
        import torch

        _triton.set_allocator(lambda size, _align, _stream: torch.empty(size, dtype=torch.int8, device="cuda"))

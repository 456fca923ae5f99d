"""Work of a torch function, counted under fake tensors: nothing is computed and no device is needed."""

# mypy: allow-subclassing-any
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.problem_sets.torch_formulas import attention_flops, formula_of
from kopt_kb.packs.problem_sets.torch_op import OpFlops
from kopt_kb.problem.counts import Count, Exactness, FlopCount, SpecialCount
from kopt_kb.problem.dtypes import FORMATS, Engine

__all__ = ["TORCH_DTYPES", "TorchCount", "count_made", "count_torch"]

TORCH_DTYPES: dict[str, torch.dtype] = {
    one.dtype: getattr(torch, one.torch) for one in reversed(FORMATS) if hasattr(torch, one.torch)
}
"""Our name of a storage type to torch's; `fp8` is the first format of that name."""

_FREE = frozenset({"_unsafe_view", "detach", "alias", "empty", "empty_like", "empty_strided", "new_empty"})
_GATHERS = frozenset({"index", "index_select", "gather", "embedding", "take"})


@dataclass(frozen=True, slots=True)
class TorchCount:
    """Work of one call of a torch function.

    Attributes:
        flops: FLOPs by (dtype, engine); a lower bound when something was not countable.
        special: Special functions by name.
        read_bytes: Distinct input bytes, each once; an upper bound when a gather may skip some.
        write_bytes: Distinct bytes of the results and of inputs written in place.
        unfused_bytes: Bytes of all operations one after the other, each reading and writing memory.
        uncounted: Operations without a FLOP formula, with how often they ran.
        ran: Operations that were counted or not, with how often they ran; views and allocations apart.
    """

    flops: tuple[FlopCount, ...]
    special: tuple[SpecialCount, ...]
    read_bytes: Count
    write_bytes: Count
    unfused_bytes: int
    uncounted: tuple[tuple[str, int], ...]
    ran: tuple[tuple[str, int], ...] = ()


@dataclass
class _Tally:
    """Running sums of one call."""

    flops: Counter[tuple[str, Engine]] = field(default_factory=Counter)
    special: Counter[tuple[str, str]] = field(default_factory=Counter)
    uncounted: Counter[str] = field(default_factory=Counter)
    ran: Counter[str] = field(default_factory=Counter)
    regions: dict[int, dict[tuple[Any, ...], int]] = field(default_factory=dict)
    storage_bytes: dict[int, int] = field(default_factory=dict)
    produced: set[int] = field(default_factory=set)
    written: dict[int, int] = field(default_factory=dict)
    alive: list[torch.Tensor] = field(default_factory=list)
    unfused_bytes: int = 0
    gathered: bool = False

    def add(self, counted: OpFlops) -> None:
        for dtype, engine, value in counted.flops:
            self.flops[(dtype, engine)] += value
        for function, dtype, value in counted.special:
            self.special[(function, dtype)] += value

    def read(self, tensor: torch.Tensor) -> None:
        self.unfused_bytes += _touched_bytes(tensor)
        key = _storage(tensor)
        if key in self.produced:
            return
        place = (tensor.storage_offset(), tuple(tensor.shape), tensor.stride())
        self.regions.setdefault(key, {})[place] = _touched_bytes(tensor)
        self.storage_bytes[key] = tensor.untyped_storage().nbytes()
        self.alive.append(tensor)

    def write(self, tensor: torch.Tensor, *, inputs: set[int]) -> None:
        key = _storage(tensor)
        self.unfused_bytes += _touched_bytes(tensor)
        self.alive.append(tensor)
        if key not in inputs:
            self.produced.add(key)
        elif key not in self.produced:
            self.written[key] = max(self.written.get(key, 0), _touched_bytes(tensor))

    def read_bytes(self) -> int:
        return sum(min(sum(places.values()), self.storage_bytes[key]) for key, places in self.regions.items())


class _Dispatch(TorchDispatchMode):
    """Counts every aten operation that reaches it, unless a caller counts a whole function at once."""

    def __init__(self, tally: _Tally) -> None:
        super().__init__()
        self.tally = tally
        self.paused = False

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Any = None,
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        if not self.paused and func.namespace == "aten":
            self._count(func, args, list(_tensors((args, kwargs or {}))), out)
        return out

    def _count(self, func: Any, args: tuple[Any, ...], inputs: list[torch.Tensor], out: Any) -> None:
        name = str(func.overloadpacket.__name__)
        keys = {_storage(one) for one in inputs}
        if func.is_view or name in _FREE:
            self.tally.produced.update(_storage(one) for one in _tensors(out) if _storage(one) not in keys)
            self.tally.alive.extend(_tensors(out))
            return
        if _is_counter_kept(name, inputs, self.tally.produced):
            return
        if _is_training_norm(name, args):
            self.tally.written |= {_storage(one): _touched_bytes(one) for one in args[3:5] if one is not None}
        self.tally.ran[name] += 1
        formula = formula_of(func.overloadpacket)
        if formula is None:
            self.tally.uncounted[name] += 1
        else:
            self.tally.add(formula(args, out))
        self.tally.gathered |= name in _GATHERS and _storage(inputs[0]) not in self.tally.produced
        self.tally_traffic(inputs, list(_tensors(out)))

    def tally_traffic(self, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]) -> None:
        """Add what one operation reads and writes."""
        keys = {_storage(one) for one in inputs}
        for one in inputs:
            self.tally.read(one)
        for one in outputs:
            self.tally.write(one, inputs=keys)


class _Functions(TorchFunctionMode):
    """Counts attention as one function, whatever a device would split it into."""

    def __init__(self, dispatch: _Dispatch) -> None:
        super().__init__()
        self.dispatch = dispatch

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Any = None,
    ) -> Any:
        if func is not torch.nn.functional.scaled_dot_product_attention:
            return func(*args, **(kwargs or {}))
        self.dispatch.paused = True
        try:
            out = func(*args, **(kwargs or {}))
        finally:
            self.dispatch.paused = False
        self._attention(out, *args, **(kwargs or {}))
        return out

    def _attention(
        self,
        out: torch.Tensor,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attn_mask: torch.Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        **_rest: object,
    ) -> None:
        if dropout_p:
            self.dispatch.tally.uncounted["dropout"] += 1
        self.dispatch.tally.add(attention_flops(query, key, value, causal=is_causal))
        mask = [] if attn_mask is None else [attn_mask]
        self.dispatch.tally_traffic([query, key, value, *mask], [out])


def count_torch(
    function: Callable[..., Any],
    *inputs: tuple[Sequence[int], str] | object,
    device: str = "cpu",
    **kwargs: object,
) -> TorchCount:
    """Return the work of `function(*inputs, **kwargs)` without running it.

    Args:
        function: Any function of tensors; its control flow may depend on shapes, not on values.
        inputs: A (shape, dtype) pair for each tensor; anything else is passed on as it is.
        device: Device of the fake tensors; "cuda" works without one.
        kwargs: Passed on as they are.

    Raises:
        BadInput: The function needs values, or an unknown dtype.
    """
    return count_made(
        lambda *arguments: function(*arguments, **kwargs),
        lambda: tuple(_fake(one, device) for one in inputs),
        fake=True,
    )


def count_made(function: Callable[..., Any], make: Callable[[], tuple[Any, ...]], *, fake: bool) -> TorchCount:
    """Return the work of a function on the arguments that `make` gives.

    Args:
        function: Any function of tensors.
        make: Makes its arguments; what it does is not counted.
        fake: Run on tensors without memory; else the function runs, for one whose control flow needs values.

    Raises:
        BadInput: The function fails, or needs values that fake tensors lack.
    """
    tally = _Tally()
    dispatch = _Dispatch(tally)
    with FakeTensorMode(allow_non_fake_inputs=True) if fake else nullcontext(), torch.no_grad():
        try:
            arguments = make()
            with dispatch, _Functions(dispatch):
                result = function(*arguments)
        except (RuntimeError, TypeError, NotImplementedError) as error:
            text = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise BadInput(
                f"the function can't be counted: {text}", fix="count a part without it", code="KB086"
            ) from error
        return _finish(tally, result)


def _fake(one: object, device: str) -> object:
    if not (isinstance(one, tuple) and len(one) == 2 and isinstance(one[1], str)):
        return one
    if one[1] not in TORCH_DTYPES:
        raise BadInput(f"unknown dtype {one[1]!r}", fix=f"give one of {', '.join(TORCH_DTYPES)}", code="KB061")
    return torch.empty(tuple(one[0]), dtype=TORCH_DTYPES[one[1]], device=device)


def _finish(tally: _Tally, result: object) -> TorchCount:
    results = {_storage(one): _touched_bytes(one) for one in _tensors(result) if _storage(one) in tally.produced}
    exactness: Exactness = "lower" if tally.uncounted else "exact"
    return TorchCount(
        flops=tuple(FlopCount(d, e, Count(value, exactness)) for (d, e), value in tally.flops.items()),
        special=tuple(SpecialCount(f, d, Count(value, exactness)) for (f, d), value in tally.special.items()),
        read_bytes=Count(tally.read_bytes(), "upper" if tally.gathered else "exact"),
        write_bytes=Count(sum(results.values()) + sum(tally.written.values())),
        unfused_bytes=tally.unfused_bytes,
        uncounted=tuple(tally.uncounted.items()),
        ran=tuple(tally.ran.items()),
    )


def _tensors(tree: object) -> Iterator[torch.Tensor]:
    return (leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor))


def _is_counter_kept(name: str, inputs: Sequence[torch.Tensor], produced: set[int]) -> bool:
    """Return whether an operation only adds to a number of calls, as batch normalisation keeps one."""
    if name != "add_" or len(inputs) != 1:
        return False
    (counter,) = inputs
    return counter.ndim == 0 and not counter.dtype.is_floating_point and _storage(counter) not in produced


def _is_training_norm(name: str, args: Sequence[Any]) -> bool:
    """Return whether an operation brings running statistics up to date, its arguments 3 and 4."""
    return "batch_norm" in name and len(args) > 5 and args[5] is True


def _storage(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def _touched_bytes(tensor: torch.Tensor) -> int:
    """Bytes of distinct elements: a dimension of stride 0 repeats the same ones."""
    elements = 1
    for extent, stride in zip(tensor.shape, tensor.stride(), strict=True):
        elements *= extent if stride or not extent else 1
    return elements * int(tensor.element_size())

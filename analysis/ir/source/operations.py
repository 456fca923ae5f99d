"""What the functions of Triton's language do with data, by name."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from kopt_kb.analysis.ir.source.source import language_name
from kopt_kb.analysis.ir.source.values import NOTHING, TileValue, expanded, joined

if TYPE_CHECKING:
    from kopt_kb.analysis.ir.source.flow import Flow

__all__ = ["BUILTINS", "DOTS", "METHODS", "REDUCTIONS", "SCANS", "apply"]

DOTS = frozenset({
    "dot", "dot_scaled", "warpgroup_mma", "mma_v2", "tcgen05_mma", "tcgen05_mma_scaled", "mfma", "mfma_scaled", "wmma",
})  # fmt: skip
REDUCTIONS = frozenset({"sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce", "reduce_or", "reduce_sum"})
SCANS = frozenset({"cumsum", "cumprod", "cummax", "associative_scan", "sort", "topk", "histogram"})
METHODS = frozenset({
    *REDUCTIONS, *SCANS, "to", "cast", "load", "store", "reshape", "trans", "permute", "view", "expand_dims",
    "broadcast_to", "split", "softmax", "gather", "scatter", "atomic_add",
})  # fmt: skip
BUILTINS = frozenset(dir(builtins))
_SAME = frozenset({
    "to", "cast", "trans", "permute", "max_contiguous", "multiple_of", "max_constancy", "assume", "abs", "flip",
    "convert_layout", "advance", "swizzle2d", "ravel",
})  # fmt: skip
_NO_DATA = frozenset({
    "program_id", "num_programs", "cdiv", "constexpr", "static_assert", "debug_barrier", "static_range", "range",
    "next_power_of_2", "device_print", "static_print", "pointer_type", "barrier",
})  # fmt: skip


def apply(flow: Flow, name: str, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    """Return what a call of the language gives, and note what it does."""
    every = [*values, *named.values()]
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(flow, node, values, named)
    if name in REDUCTIONS:
        return _reduce(flow, name, node, values, named)
    if name in SCANS:
        return _scan(flow, name, node, flow.combine_all(values[:1] or every))
    if name in _SAME and values:
        return values[0]
    if "load" in name and every:
        return _load(flow, node, values, named)
    if name.startswith("atomic_") or name.endswith("_store") or "reduce_add" in name:
        return _atomic(flow, name, node, values, named)
    return NOTHING if name in _NO_DATA else flow.combine_all(every)


def _dot(flow: Flow, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "dot")
    flow.findings.add("dot", flow.module, node, name)
    return TileValue(2, plain=True)


def _axis(node: ast.Call, at: int) -> bool:
    """Return whether an axis is given; without one everything is reduced."""
    given = {one.arg: one.value for one in node.keywords}
    places = [given["axis"]] if "axis" in given else node.args[at : at + 1]
    return bool(places) and not (isinstance(places[0], ast.Constant) and places[0].value is None)


def _keeps(node: ast.Call) -> bool:
    given = {one.arg: one.value for one in node.keywords}
    kept = given.get("keep_dims")
    return isinstance(kept, ast.Constant) and bool(kept.value)


def _is_method(flow: Flow, node: ast.Call) -> bool:
    return not language_name(node.func, flow.module.names)


def _reduce(flow: Flow, name: str, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    source = values[0] if values else next(iter(named.values()), NOTHING)
    if source.items is not None:
        whole = flow.combine_all(source.items)
        one = _reduced(flow, name, node, whole)
        return TileValue(items=(one,) * len(source.items))
    return _reduced(flow, name, node, source)


def _reduced(flow: Flow, name: str, node: ast.Call, source: TileValue) -> TileValue:
    axis = _axis(node, 0 if _is_method(flow, node) else 1)
    rank = 0 if not axis else None if source.rank is None else max(source.rank - 1, 0)
    if not source.data:
        return TileValue(rank, carried=source.carried)
    if source.one_hot == "lane":
        picked = replace(source, rank=rank, one_hot="")
        # One number of a normalised row is no row.
        return replace(picked, reduced=picked.reduced | picked.normed, normed=frozenset()) if rank == 0 else picked
    if source.one_hot == "pair":
        number = flow.findings.add("scan", flow.module, node, "exchange of lanes", source.reductions)
        return TileValue(rank, scanned=source.scanned | {number}, carried=source.carried)
    number = flow.findings.add("reduction", flow.module, node, name, source.reductions)
    result = TileValue(rank, reduced=frozenset({number}), carried=source.carried)
    return expanded(result, source.rank) if _keeps(node) else result


def _scan(flow: Flow, name: str, node: ast.Call, source: TileValue) -> TileValue:
    if not source.data:
        return TileValue(source.rank)
    number = flow.findings.add("scan", flow.module, node, name, source.reductions)
    return TileValue(source.rank, scanned=source.scanned | {number}, normed=source.normed, carried=source.carried)


def _load(flow: Flow, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    address = values[0] if values else next(iter(named.values()))
    flow.pointers |= address.bases
    if _is_method(flow, node):
        where = values[1] if len(values) > 1 else next(iter(named.values()), NOTHING)
        return TileValue(len(where.items) if where.items is not None else None, plain=True)
    return TileValue(address.rank, plain=True)


def _store(flow: Flow, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    pointer = named.get("pointer") or (values[0] if values else NOTHING)
    flow.pointers |= pointer.bases
    _stored(
        flow, node, named.get("value") or (values[-1 if _is_method(flow, node) else 1] if len(values) > 1 else NOTHING)
    )
    return NOTHING


def _stored(flow: Flow, node: ast.Call, value: TileValue) -> None:
    flow.findings.add("store", flow.module, node, "store", value.reductions)
    if value.normed:
        flow.findings.add("norm", flow.module, node, "store", value.normed)


def _atomic(flow: Flow, name: str, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    pointer = values[0] if values else NOTHING
    flow.pointers |= pointer.bases
    value = named.get("val") or (values[-1 if _is_method(flow, node) else 1] if len(values) > 1 else NOTHING)
    _stored(flow, node, value)
    if name.endswith(("add", "max", "min")):
        flow.findings.add("atomic", flow.module, node, name, value.reductions)
    return TileValue(pointer.rank, plain=True)


def _where(flow: Flow, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    if len(values) + len(named) < 3:
        return flow.combine_all([*values, *named.values()])
    condition, one, other = [*values, *named.values()][:3]
    branches = [*node.args, *(each.value for each in node.keywords)][1:3]
    kept = condition.carried
    if not kept:
        # A branch that keeps a variable as it is gathers nothing.
        one, other = (
            replace(value, carried=frozenset()) if isinstance(each, ast.Name) and not value.data else value
            for value, each in zip((one, other), branches, strict=True)
        )
    result = flow.combine(one, other)
    judged = TileValue(
        condition.rank, reduced=condition.reduced, spread=condition.spread, scanned=condition.scanned,
        normed=condition.normed, carried=kept,
    )  # fmt: skip
    result = flow.combine(result, judged)
    picked = condition.one_hot if not (one.data and other.data) else ""
    return replace(result, one_hot=picked)


def _shape(flow: Flow, node: ast.Call, values: list[TileValue], at: int) -> int | None:
    """Return how many axes a shape among the arguments has."""
    given = {one.arg: one.value for one in node.keywords}
    if "shape" in given:
        items = flow.value(given["shape"]).items
        return None if items is None else len(items)
    rest = values[at:]
    if rest and rest[0].items is not None:
        return len(rest[0].items)
    return len(rest) if len(rest) > 1 else None


def _filled(flow: Flow, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    given = named.get("shape") or (values[0] if values else NOTHING)
    rank = len(given.items) if given.items is not None else None
    value = named.get("value") or (values[1] if len(values) > 1 else NOTHING)
    return expanded(replace(value, bases=frozenset()), rank) if value.data else TileValue(rank)


def _like(flow: Flow, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    return TileValue(values[0].rank if values else None)


def _arange(flow: Flow, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    end = node.args[1] if len(node.args) > 1 else None
    pair = isinstance(end, ast.Constant) and end.value == 2
    return TileValue(1, index=True, one_hot="pair" if pair else "")


def _reshape(flow: Flow, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    value = values[0] if values else NOTHING
    rank = _shape(flow, node, values, 1)
    grows = rank is None or value.rank is None or rank > value.rank
    return expanded(value, rank) if grows else replace(value, rank=rank)


def _expand(flow: Flow, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    value = values[0] if values else NOTHING
    return expanded(value, None if value.rank is None else value.rank + 1)


def _split(flow: Flow, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    value = values[0] if values else NOTHING
    half = replace(value, rank=None if value.rank is None else max(value.rank - 1, 0))
    return TileValue(items=(half, half))


def _join(flow: Flow, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    value = joined(values[0], values[1]) if len(values) > 1 else NOTHING
    return replace(value, rank=None if value.rank is None else value.rank + 1)


def _softmax(flow: Flow, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    value = values[0] if values else NOTHING
    number = flow.findings.add("reduction", flow.module, node, "softmax", value.reductions)
    return replace(value, plain=True, normed=value.normed | {number})


def _block(flow: Flow, node: ast.Call, values: list[TileValue], named: dict[str, TileValue]) -> TileValue:
    """A block pointer or descriptor: its base is a pointer, its rank that of the block."""
    base = named.get("base") or (values[0] if values else NOTHING)
    flow.pointers |= base.bases
    shape = named.get("block_shape") or (values[4] if len(values) > 4 else values[1] if len(values) > 1 else NOTHING)
    return TileValue(len(shape.items) if shape.items is not None else None, bases=base.bases)


_HANDLERS: dict[str, Callable[[Flow, ast.Call, list[TileValue], dict[str, TileValue]], TileValue]] = {
    "store": _store, "where": _where, "zeros": _filled, "full": _filled, "zeros_like": _like, "arange": _arange,
    "reshape": _reshape, "view": _reshape, "broadcast_to": _reshape, "expand_dims": _expand, "split": _split,
    "join": _join, "softmax": _softmax, "make_block_ptr": _block, "make_tensor_descriptor": _block,
    "_experimental_make_tensor_descriptor": _block,
    **dict.fromkeys(DOTS, _dot),
}  # fmt: skip

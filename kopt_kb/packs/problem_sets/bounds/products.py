"""Products of matrices in a graph, and which of them no shorter computation is known for.

A product has a least time of its own only where each of its elements is needed by itself: between it and the next
nonlinear function, or the result, stand but shifts, scales and views. A sum, a pool or another product behind it can be
drawn into an operand (`sum(x W)` is `x sum(W)`), and what is built from known zeros, from weights alone or from
repeated rows is no product of full size.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import torch

from kopt_kb.packs.problem_sets.bounds.facts import ProductFact
from kopt_kb.packs.problem_sets.bounds.traced import Traced, tensors_of_node
from kopt_kb.packs.problem_sets.torch_op import storage_name

__all__ = ["products_of"]

_PRODUCTS = frozenset({"mm", "bmm", "addmm", "baddbmm"})
_VIEWS = frozenset({"view", "_unsafe_view", "reshape", "permute", "transpose", "t", "unsqueeze", "squeeze", "clone",
                    "_to_copy", "alias", "detach", "contiguous", "lift_fresh_copy"})  # fmt: skip
_AFFINE = frozenset({"add", "sub", "rsub", "mul", "div", "neg"})
_LINEAR = frozenset({*_PRODUCTS, *_AFFINE, "convolution", "sum", "mean", "cumsum", "avg_pool2d", "avg_pool3d",
                     "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "mv", "dot", "cat", "stack", "slice", "select",
                     "split", "split_with_sizes", "unbind", "expand", "repeat", "index", "index_select", "gather",
                     "embedding", "constant_pad_nd", "flip", "roll", "mkldnn_rnn_layer", "gru"})  # fmt: skip
_NORMS = frozenset({"_softmax", "_log_softmax", "native_layer_norm", "native_group_norm", "native_batch_norm",
                    "_native_batch_norm_legit", "_native_batch_norm_legit_functional", "_fused_rms_norm"})  # fmt: skip
_BROKEN = frozenset({"tril", "triu", "masked_fill", "where", "diag_embed", "diag", "constant_pad_nd", "expand",
                     "repeat", "scatter", "slice_scatter", "select_scatter", "index_put", "zeros", "full", "one_hot",
                     "eye", "arange", "mkldnn_rnn_layer", "gru",
                     "_scaled_dot_product_flash_attention_for_cpu"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Found:
    node: Any
    left: Any
    right: Any


def products_of(found: Traced, live: frozenset[str]) -> tuple[ProductFact, ...]:
    """Return the products of a graph, equal ones once.

    Args:
        found: The graph.
        live: Names of the inputs that results were shown to depend on; a product of others has no least time.
    """
    sources = {one.node: one for one in found.given}
    free = {one.node for one in found.given if one.kind == "input" and one.name in live}
    dense = {one.node for one in found.given if one.node in free and (one.drawn is None or one.drawn.share == 1)}
    inputs_below = _below(found, free)
    tally: dict[ProductFact, int] = {}
    for node in found.graph.nodes:
        if _name(node) not in _PRODUCTS:
            continue
        left, right = node.args[1:3] if _name(node) in {"addmm", "baddbmm"} else node.args[:2]
        one = _Found(node, left, right)
        reason = _operands_fail(one, inputs_below, sources, dense) or _result_fails(node, set(found.results))
        fact = _fact(one, left_out=reason)
        tally[fact] = tally.get(fact, 0) + 1
    return tuple(ProductFact(one.shape, one.dtype, times, one.left_out) for one, times in tally.items())


def _fact(one: _Found, *, left_out: str) -> ProductFact:
    (left,), (right,) = tensors_of_node(one.left), tensors_of_node(one.right)
    batch = prod(map(int, left.shape[:-2]))
    shape = (batch, int(left.shape[-2]), int(right.shape[-1]), int(left.shape[-1]))
    return ProductFact(shape, storage_name(left.dtype), 1, left_out)


def _name(node: Any) -> str:
    return "" if node.op != "call_function" else str(getattr(node.target, "overloadpacket", node.target).__name__)


def _below(found: Traced, free: set[Any]) -> set[Any]:
    """Return all nodes that depend on an input."""
    reached = set(free)
    for node in found.graph.nodes:
        if any(one in reached for one in node.all_input_nodes):
            reached.add(node)
    return reached


# ---- operands --------------------------------------------------------------------------------------


def _operands_fail(one: _Found, below: set[Any], given: dict[Any, Any], dense: set[Any]) -> str:
    """Return why the operands are not two free matrices of full size; empty where they are."""
    if one.left not in below and one.right not in below:
        return "both operands are known before the call"
    roots: list[set[Any]] = []
    for side in (one.left, one.right):
        own = set[Any]()
        for root in _roots(side):
            name = _name(root)
            if root in given and given[root].kind == "input" and root not in dense:
                return "an operand has elements that follow from others"
            if name in _BROKEN:
                return f"an operand is built by {name}"
            if name in _PRODUCTS or name in {"convolution", "mv", "dot"}:
                return f"an operand is linear in another {'product' if name in _PRODUCTS else name}"
            own.add(root)
        roots.append({root for root in own if root in below})
    if roots[0] & roots[1]:
        return "both operands come from one tensor"
    return ""


def _roots(node: Any) -> Iterator[Any]:
    """Return the nearest nodes that a value is not linear in, or that break its form."""
    waiting, seen = [node], set[Any]()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        name = _name(one)
        is_passed = name in _VIEWS or name in _LINEAR - _BROKEN - _PRODUCTS - {"convolution", "mv", "dot"}
        is_whole = name == "expand" and tensors_of_node(one)[0].numel() == tensors_of_node(one.args[0])[0].numel()
        if one.target is operator.getitem or is_whole:
            waiting.append(one.args[0])
        elif is_passed:
            waiting += one.all_input_nodes
        else:
            yield one


# ---- results ---------------------------------------------------------------------------------------


def _result_fails(node: Any, results: set[Any]) -> str:
    """Return why elements of a product may be had together with others; empty where each stands alone."""
    elements, waiting, seen = tensors_of_node(node)[0].numel(), [node], set[Any]()
    reasons: dict[str, None] = {}
    while waiting:
        one = waiting.pop()
        if one in results:
            return ""
        seen.add(one)
        for user in one.users:
            reason = _user_fails(one, user, node, elements)
            if reason is None:
                return ""
            if reason:
                reasons[reason] = None
            elif user not in seen:
                waiting.append(user)
    return next(iter(reasons), "nothing needs it")


def _user_fails(one: Any, user: Any, product: Any, elements: int) -> str | None:
    """Return why a user settles nothing, nothing where it is to be followed, None where it needs every element."""
    name = _name(user)
    if name in _VIEWS or (name == "expand" and tensors_of_node(user)[0].numel() == elements):
        return ""
    if name in _AFFINE:
        if tensors_of_node(user)[0].numel() != elements:
            return f"{name} repeats it"
        others = [each for each in user.all_input_nodes if each is not one]
        if any(root is not product and _is_contraction(root) for each in others for root in _roots(each)):
            return f"{name} joins it with another product"
        return ""
    is_full = bool(tensors_of_node(user)) and tensors_of_node(user)[0].numel() == elements
    is_nonlinear = name in _NORMS or (user.op == "call_function" and _is_pointwise(user) and name not in _LINEAR)
    if is_full and is_nonlinear and name not in _BROKEN:
        return None
    return f"{name} follows it"


def _is_contraction(node: Any) -> bool:
    return _name(node) in _PRODUCTS or _name(node) in {"convolution", "mv", "dot"}


def _is_pointwise(node: Any) -> bool:
    return torch.Tag.pointwise in getattr(node.target, "tags", ()) or _name(node) in {"hardswish", "hardtanh"}

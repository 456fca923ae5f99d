"""Which elements the results need, followed backwards through a graph at its full extents.

What an operation is not known to need, it is taken not to need: the answer is a subset. Whether a function of several
operations needs what each of them does (`x - mean(x)` of one element does not) is not seen here but by `witness`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from kopt_kb.packs.problem_sets.bounds.masks import all_of, broadcast_to, is_whole, joined, reshaped, windows
from kopt_kb.packs.problem_sets.bounds.traced import Traced, tensors_of_node

if TYPE_CHECKING:
    from kopt_kb.packs.problem_sets.bounds.masks import Masks

__all__ = ["needs_of"]

Needs = dict[Any, "Masks | None"]
NeedRule = Callable[[Any, "Masks"], Iterable[tuple[Any, "Masks | None"]]]


def needs_of(found: Traced) -> tuple[Needs, tuple[str, ...]]:
    """Return node → masks of what the results need of it, and the operations of which nothing is known."""
    needs: Needs = {}
    several: dict[Any, dict[int, Masks]] = {}
    unknown: dict[str, None] = {}
    for node in found.results:
        needs[node] = all_of(_shape(node))
    for node in reversed(found.graph.nodes):
        masks = needs.get(node)
        if node.op != "call_function" or (masks is None and node not in several):
            continue
        if node.target is operator.getitem:
            if masks is not None:
                several.setdefault(node.args[0], {})[int(node.args[1])] = masks
            continue
        for operand, part in _back(node, masks, several.get(node), unknown):
            needs[operand] = joined(needs.get(operand), part)
    return needs, tuple(unknown)


def _back(
    node: Any, masks: Masks | None, several: dict[int, Masks] | None, unknown: dict[str, None]
) -> list[tuple[Any, Masks | None]]:
    name = str(node.target.overloadpacket.__name__)
    if several is not None and name in {"split", "split_with_sizes", "unsafe_split", "unbind"}:
        return _split(node, name, several)
    if masks is None and several is not None:
        last = (
            next(iter(several.values())) if name in {"mkldnn_rnn_layer", "gru"} else None
        )  # a last state needs every step
        masks = several.get(0, last)
    rule = _RULES.get(name)
    if masks is None:
        return []
    if rule is not None:
        return list(rule(node, masks))
    if torch.Tag.pointwise in node.target.tags:
        return list(_pointwise(node, masks))
    unknown[name] = None
    return []


def _shape(node: Any) -> tuple[int, ...]:
    tensors = tensors_of_node(node)
    return tuple(map(int, tensors[0].shape)) if tensors else ()


def _operands(node: Any) -> list[Any]:
    return [one for one in node.all_input_nodes if tensors_of_node(one)]


def _axis(node: Any, at: int, rank: int, default: int = 0) -> int:
    axis = int(node.args[at]) if len(node.args) > at else default
    return axis % rank if rank else 0


# ---- rules -----------------------------------------------------------------------------------------


def _pointwise(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    return [(one, broadcast_to(masks, _shape(one))) for one in _operands(node)]


def _same(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    return [(node.args[0], masks)]


def _mixing(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    """Of operations that combine elements within rows: all of what is given where all of the result is needed."""
    whole = is_whole(masks)
    return [(one, all_of(_shape(one)) if whole else None) for one in _operands(node)]


def _recurrent(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    """Of a recurrent layer: the step that is computed last rests on every step that is given, others on fewer."""
    is_layer = node.target.overloadpacket.__name__ == "mkldnn_rnn_layer"
    if len(masks) != 3:  # a last state
        return _mixing(node, masks)
    axis = 1 if not is_layer and node.args[4] else 0
    last = 0 if is_layer and node.args[7] else -1
    others = [mask for at, mask in enumerate(masks) if at != axis]
    whole = bool(masks[axis][last]) and is_whole(tuple(others))
    return [(one, all_of(_shape(one)) if whole else None) for one in _operands(node)]


def _normalised(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    """Of a normalisation all that shares its statistics with what is needed."""
    name, data = str(node.target.overloadpacket.__name__), node.args[0]
    is_last = name in {"native_layer_norm", "_fused_rms_norm"}
    apart = set(range(len(masks) - len(node.args[1]))) if is_last else {0, 1} if "group" in name else {1}
    is_fixed = "batch_norm" in name and len(node.args) > 5 and node.args[5] is False
    if is_fixed or not all(bool(one.any()) for one in masks):
        found = masks
    else:
        found = tuple(one if at in apart else np.ones_like(one) for at, one in enumerate(masks))
    others = [one for one in _operands(node) if one is not data]
    whole = is_whole(masks)
    return [(data, found), *((one, all_of(_shape(one)) if whole else None) for one in others)]


def _reduced(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    operand, shape = node.args[0], _shape(node.args[0])
    at = 2 if "norm" in node.target.overloadpacket.__name__ else 1
    axes = node.args[at] if len(node.args) > at else None
    listed = [axes] if isinstance(axes, int) else list(axes or range(len(shape)))
    gone = {int(axis) % len(shape) for axis in listed} if shape else set()
    kept = iter(masks if len(masks) < len(shape) or not gone else ())
    found = []
    for axis, extent in enumerate(shape):
        if axis in gone:
            found.append(np.ones(extent, dtype=bool))
        else:
            found.append(next(kept) if len(masks) < len(shape) else masks[axis])
    if not all(bool(one.any()) for one in masks):
        return []
    return [(operand, tuple(found))]


def _along(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    """Of operations along one axis that keep it (softmax): all of that axis."""
    axis = _axis(node, 1, len(masks), -1)
    return [(node.args[0], tuple(np.ones_like(one) if at == axis else one for at, one in enumerate(masks)))]


def _matrix(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    name = node.target.overloadpacket.__name__
    added, left, right = node.args[:3] if name in {"addmm", "baddbmm"} else (None, *node.args[:2])
    inner = np.ones(_shape(left)[-1], dtype=bool)
    if name in {"mv", "addmv"}:
        return _mixing(node, masks)
    found = [(left, (*masks[:-1], inner)), (right, (*masks[:-2], inner, masks[-1]))]
    return found if added is None else [*found, (added, broadcast_to(masks, _shape(added)))]


def _convolution(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    data, weight, bias, stride, padding, dilation, is_transposed, *_ = node.args
    shape, kernels = _shape(data), _shape(weight)[2:]
    channels = np.full(shape[1], bool(masks[1].all()))
    found: list[np.ndarray] = [masks[0], channels]
    for at, extent in enumerate(shape[2:]):
        taken, pad, gap = (int(each[min(at, len(each) - 1)]) for each in (stride, padding, dilation))
        mask = masks[at + 2]
        if not is_transposed:
            found.append(windows(mask, extent, kernels[at], taken, -pad, gap))
        else:
            found.append(_reaching(mask, extent, kernels[at], taken, pad, gap))
    others = [(one, all_of(_shape(one)) if is_whole(masks) else None) for one in (weight, bias) if one is not None]
    return [(data, tuple(found)), *others]


def _reaching(mask: np.ndarray, extent: int, kernel: int, stride: int, pad: int, gap: int) -> np.ndarray:
    """Return which inputs of a transposed convolution reach a needed output."""
    found = np.zeros(extent, dtype=bool)
    for tap in range(kernel):
        at = np.arange(extent) * stride - pad + tap * gap
        inside = (at >= 0) & (at < len(mask))
        found[inside] |= mask[at[inside]]
    return found


def _pool(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    data, kernel, *rest = node.args
    shape = _shape(data)
    ranks = len(kernel) if len(kernel) > 1 else 2
    name = str(node.target.overloadpacket.__name__)
    ranks = 3 if "3d" in name else 1 if "1d" in name else ranks
    stride = (rest[0] if rest and len(rest[0]) else None) or kernel
    padding = rest[1] if len(rest) > 1 else [0]
    dilation = rest[2] if name.startswith("max") and len(rest) > 2 else [1]
    found = list(masks[: len(shape) - ranks])
    for at in range(ranks):
        size, taken, pad, gap = (int(each[min(at, len(each) - 1)]) for each in (kernel, stride, padding, dilation))
        axis = len(shape) - ranks + at
        found.append(windows(masks[axis], shape[axis], size, taken, -pad, gap))
    return [(data, tuple(found))]


def _view(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    return [(node.args[0], reshaped(masks, _shape(node.args[0]), _shape(node)))]


def _strided(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    """A layout of the same elements in the same order; of any other nothing is known."""
    before, after = _shape(node.args[0]), _shape(node)
    packed = [prod(after[axis + 1 :]) for axis in range(len(after))]
    is_packed = all(extent == 1 or int(stride) == each
                    for extent, stride, each in zip(after, node.args[2], packed, strict=True))  # fmt: skip
    return _view(node, masks) if is_packed and prod(before) == prod(after) else []


def _permute(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    rank, name = len(masks), node.target.overloadpacket.__name__
    order = list(range(rank))
    if name == "permute":
        order = [int(axis) % rank for axis in node.args[1]]
    elif rank > 1:
        one, two = (int(axis) % rank for axis in (node.args[1:3] if name == "transpose" else (0, 1)))
        order[one], order[two] = order[two], order[one]
    found: list[np.ndarray] = [masks[0]] * rank if rank else []
    for at, axis in enumerate(order):
        found[axis] = masks[at]
    return [(node.args[0], tuple(found))]


def _slice(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    shape = _shape(node.args[0])
    if node.target.overloadpacket.__name__ == "select":
        axis = _axis(node, 1, len(shape))
        own = np.zeros(shape[axis], dtype=bool)
        own[int(node.args[2])] = True
        return [(node.args[0], (*masks[:axis], own, *masks[axis:]))]
    axis = _axis(node, 1, len(shape))
    begin, end, step = (*node.args[2:5], *(None,) * 3)[:3]
    own = np.zeros(shape[axis], dtype=bool)
    own[begin : None if end is None or end > shape[axis] else end : step or 1] = masks[axis]
    return [(node.args[0], tuple(own if at == axis else one for at, one in enumerate(masks)))]


def _split(node: Any, name: str, several: dict[int, Masks]) -> list[tuple[Any, Masks | None]]:
    shape, rank = _shape(node.args[0]), len(_shape(node.args[0]))
    axis = _axis(node, 1 if name == "unbind" else 2, rank)
    begin, total = 0, None
    for at, part in enumerate(tensors_of_node(node)):
        width = 1 if name == "unbind" else int(part.shape[axis])
        if at in several:
            own = np.zeros(shape[axis], dtype=bool)
            masks = list(several[at])
            if name == "unbind":
                own[begin] = True
                masks.insert(axis, own)
            else:
                own[begin : begin + width] = masks[axis]
                masks[axis] = own
            total = joined(total, tuple(masks))
        begin += width
    return [(node.args[0], total)]


def _cat(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    parts = node.args[0]
    is_stack = node.target.overloadpacket.__name__ == "stack"
    axis, begin = _axis(node, 1, len(masks)), 0
    for part in parts:
        width = 1 if is_stack else _shape(part)[axis]
        own = masks[axis][begin : begin + width]
        begin += width
        if is_stack:
            yield part, (*masks[:axis], *masks[axis + 1 :]) if own.any() else None
        else:
            yield part, tuple(own if at == axis else one for at, one in enumerate(masks))


def _expand(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    return [(node.args[0], broadcast_to(masks, _shape(node.args[0])))]


def _pad(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    shape, pads, found = _shape(node.args[0]), list(node.args[1]), list(masks)
    for back in range(len(pads) // 2):
        axis, before = len(shape) - 1 - back, int(pads[2 * back])
        own = np.zeros(shape[axis], dtype=bool)
        source = np.arange(shape[axis]) + before
        inside = (source >= 0) & (source < len(masks[axis]))
        own[inside] = masks[axis][source[inside]]
        found[axis] = own
    return [(node.args[0], tuple(found))]


def _none(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    del node, masks
    return []


def _triangle(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    """A triangle is no product of masks: of what is given itself nothing, of what was computed all it rests on."""
    return [] if node.args[0].op == "placeholder" else [(node.args[0], masks)]


def _indexed(node: Any, masks: Masks) -> Iterable[tuple[Any, Masks | None]]:
    """Of a gather all places are needed; which elements of the table are, values decide."""
    listed = node.args[1:] if not isinstance(node.args[1], Sequence) else node.args[1]
    places = [one for one in listed if hasattr(one, "meta")]
    return [(one, all_of(_shape(one)) if is_whole(masks) else None) for one in places]


def _named(names: str, rule: NeedRule) -> dict[str, NeedRule]:
    return dict.fromkeys(names.split(), rule)


_RULES: dict[str, NeedRule] = {
    **_named("clone _to_copy alias detach contiguous lift_fresh_copy native_dropout", _same),
    **_named("sum mean amax amin max min prod argmax argmin logsumexp var std var_mean linalg_vector_norm norm any all",
             _reduced),
    **_named("_softmax _log_softmax cumsum cumprod softmax log_softmax", _along),
    **_named("native_layer_norm _fused_rms_norm native_group_norm native_batch_norm _native_batch_norm_legit "
             "_native_batch_norm_legit_functional", _normalised),
    **_named("hardswish hardsigmoid hardtanh log_sigmoid_forward", _pointwise),
    **_named("nll_loss_forward mse_loss l1_loss huber_loss smooth_l1_loss "
             "_adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_avg_pool1d sort topk flip roll "
             "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_attention_math dot mv xlogy "
             "upsample_nearest2d upsample_bilinear2d adaptive_max_pool2d cosine_similarity kthvalue _cdist_forward "
             "_cudnn_rnn logcumsumexp binary_cross_entropy_with_logits cummax cummin", _mixing),
    **_named("mkldnn_rnn_layer gru", _recurrent),
    **_named("mm bmm addmm baddbmm", _matrix),
    **_named("convolution", _convolution),
    **_named("max_pool2d_with_indices max_pool3d_with_indices avg_pool2d avg_pool3d avg_pool1d", _pool),
    **_named("view _unsafe_view reshape unsqueeze squeeze _reshape_alias", _view),
    **_named("as_strided as_strided_", _strided),
    **_named("permute transpose t", _permute),
    **_named("slice select", _slice),
    **_named("cat stack", _cat),
    **_named("expand", _expand),
    **_named("constant_pad_nd", _pad),
    **_named("tril triu", _triangle),
    **_named("index gather embedding index_select", _indexed),
    **_named("copy_ empty ones zeros full arange scalar_tensor zeros_like ones_like full_like eye new_zeros new_ones "
             "bernoulli rand randn rand_like randn_like", _none),
}  # fmt: skip

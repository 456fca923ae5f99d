"""A fused-MoE layer as an op file: what is put around an engine's own kernel, which is appended to this text.

Inputs and the float64 reference are of the judge's side and use nothing of the engine. Tokens are ordered by expert for
each height of a tile here, as the engines' own operators order them, so that what is timed is both products, the gate
between them and the sum over experts. `PROBLEM` is appended too.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

__all__ = ["OP", "launch", "make_inputs", "reference"]

OP = "fused_moe"
PROBLEM: Any = {}
TILES = (16, 32, 64, 128, 256)
_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
_INT8_SPREAD = 30.0
_HIDDEN_SCALE = 1 / 16
fused_moe_kernel: Any = None


@triton.jit
def gate_up(
    c_ptr, out_ptr, scale_ptr, fixed_ptr, N,
    GROUP: tl.constexpr, BLOCK: tl.constexpr, SCALES: tl.constexpr, MOST: tl.constexpr, ROUND: tl.constexpr,
):  # fmt: skip
    """One group of a row: silu(gate) times up, with a scale of the group where the second product reads 8 bits."""
    row, group = tl.program_id(0).to(tl.int64), tl.program_id(1)
    inside = tl.arange(0, BLOCK)
    at = group * GROUP + inside
    mask = (inside < GROUP) & (at < N)
    gate = tl.load(c_ptr + row * 2 * N + at, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(c_ptr + row * 2 * N + N + at, mask=mask, other=0.0).to(tl.float32)
    value = gate * tl.sigmoid(gate) * up
    if SCALES == 1:  # the group's own
        scale = tl.maximum(tl.max(tl.abs(value), 0), 1e-10) / MOST
        tl.store(scale_ptr + row * tl.num_programs(1) + group, scale)
        value = value / scale
    if SCALES == 2:  # one of the whole tensor, known before
        value = value / tl.load(fixed_ptr)
    if SCALES > 0:
        value = tl.minimum(tl.maximum(value, -MOST), MOST)
    if ROUND:
        value = tl.where(value < 0, value - 0.5, value + 0.5)
    tl.store(out_ptr + row * N + at, value.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def expert_sum(c_ptr, out_ptr, H, TOP: tl.constexpr, BLOCK: tl.constexpr):
    """One block of a token's columns: the sum of what its experts gave."""
    token = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for one in tl.static_range(TOP):
        total += tl.load(c_ptr + (token * TOP + one) * H + at, mask=at < H, other=0.0).to(tl.float32)
    tl.store(out_ptr + token * H + at, total.to(out_ptr.dtype.element_ty), mask=at < H)


def _experts_of(tokens, top_k, experts, generator, device):
    """Return the experts of each token: as many rows an expert as PROBLEM counts, no expert twice for a token."""
    runs = [expert for expert, rows in enumerate(PROBLEM["counts"]) for _ in range(rows)]
    chosen = torch.tensor(runs, dtype=torch.int64, device=device)
    if not PROBLEM["fixed"]:  # which expert has how many is the seed's
        chosen = torch.randperm(experts, generator=generator, device=device)[chosen]
    order = torch.randperm(tokens, generator=generator, device=device)
    return chosen.reshape(top_k, tokens).t()[order].contiguous()


def _aligned(chosen, tile, experts):
    """Return rows ordered by expert, each expert's part filled up to whole tiles; the expert of a tile; the length."""
    device, rows = chosen.device, chosen.numel()
    flat = chosen.reshape(-1)
    if PROBLEM["naive"]:
        post = torch.full((1,), rows * tile, dtype=torch.int32, device=device)
        return torch.zeros(16, dtype=torch.int32, device=device), flat.int(), post
    blocks = -(-length(rows, experts, tile) // tile)
    counts = torch.zeros(experts, dtype=torch.int64, device=device).scatter_add_(0, flat, torch.ones_like(flat))
    padded = (counts + tile - 1) // tile * tile
    ends = padded.cumsum(0)
    order = torch.argsort(flat, stable=True)
    expert = flat[order]
    rank = torch.arange(rows, device=device) - (counts.cumsum(0) - counts)[expert]
    ids = torch.full((blocks * tile,), rows, dtype=torch.int64, device=device)
    ids = ids.scatter(0, (ends - padded)[expert] + rank, order)
    begins = torch.arange(blocks, device=device) * tile
    owners = torch.searchsorted(ends, begins, right=True).clamp(max=experts - 1)
    return ids.int(), owners.int(), ends[-1:].int()


def length(rows, experts, tile):
    """Return how many places rows may take that are filled up to whole tiles, as the engines allocate them."""
    return min(rows * tile, rows + experts * (tile - 1)) if rows < experts else rows + experts * (tile - 1)


def _scales(shape, generator, device, divisor=1.0):
    return (torch.rand(shape, generator=generator, device=device) * 0.5 + 0.75) / divisor


def _drawn(shape, element, generator, device):
    values = torch.randn(shape, generator=generator, device=device, dtype=torch.bfloat16)
    if element == "int8":
        return (values.float() * _INT8_SPREAD).round().clamp(-127, 127).to(torch.int8)
    return values.to(getattr(torch, element))


def _scale_shape(extents, *, rows_first):
    """Return the extents of the scales of activations (tokens, depth) or weights (experts, columns, depth)."""
    kind, (group_n, group_k) = PROBLEM["scales"], PROBLEM["block"]
    if kind == "block":
        depth = -(-extents[-1] // group_k)
        return (extents[0], depth) if rows_first else (extents[0], -(-extents[1] // group_n), depth)
    if kind == "channel":
        return (extents[0], 1) if rows_first else extents[:2]
    return (1,) if rows_first else extents[:1]


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return a layer's inputs.

    The tokens' rows; weights of both products (experts, columns, depth); scales of these three and of what lies between
    the products; the routers' weights and experts of each token; for each height of a tile: rows by expert, experts of
    tiles, places in use.
    """
    tokens, experts, top_k, hidden, width = shape
    generator = torch.Generator(device=device).manual_seed(seed)
    extents = ((tokens, hidden), (experts, 2 * width, hidden), (experts, hidden, width))
    elements = (PROBLEM["activation"], PROBLEM["element"], PROBLEM["element"])
    x, w1, w2 = (_drawn(*one, generator, device) for one in zip(extents, elements, strict=True))
    spread = _INT8_SPREAD if PROBLEM["element"] == "int8" else 1.0
    own = _INT8_SPREAD if PROBLEM["activation"] == "int8" else 1.0
    scales = [_scales(_scale_shape(extents[0], rows_first=True), generator, device, own)]
    scales += [
        _scales(_scale_shape(one, rows_first=False), generator, device, spread * one[2] ** 0.5) for one in extents[1:]
    ]
    if not PROBLEM["scales"]:
        w1, w2 = w1 / hidden**0.5, w2 / width**0.5
    scales.append(torch.full((1,), _HIDDEN_SCALE, device=device))
    routed = torch.rand((tokens, top_k), generator=generator, device=device) + 0.1
    chosen = _experts_of(tokens, top_k, experts, generator, device)
    aligned = [part for tile in TILES for part in _aligned(chosen, tile, experts)]
    return (x, w1, w2, *scales, routed / routed.sum(1, keepdim=True), chosen.int(), *aligned)


def _wide(values, scales, *, is_activation):
    """Return values times their scales in float64; of weights one expert's."""
    kind, (group_n, group_k) = PROBLEM["scales"], PROBLEM["block"]
    out = values.double()
    if not kind or (is_activation and PROBLEM["activation"] != PROBLEM["element"]):
        return out
    wide = scales.double()
    if kind == "block":
        wide = wide.repeat_interleave(group_k, dim=-1)[..., : out.shape[1]]
        if not is_activation:
            wide = wide.repeat_interleave(group_n, dim=0)[: out.shape[0]]
    elif kind == "channel" and not is_activation:
        wide = wide[:, None]
    return out * wide


def reference(x, w1, w2, x_scale, w1_scale, w2_scale, h_scale, routed, ids, *aligned):
    """Return the layer's result in float64: the sum of w2 (silu(w1 x) up) by each token's weights of its experts."""
    del h_scale, aligned
    rows = _wide(x, x_scale, is_activation=True)
    out = rows.new_zeros((x.shape[0], w2.shape[1]))
    width = w2.shape[2]
    flat, top_k = ids.reshape(-1).long(), ids.shape[1]
    order = torch.argsort(flat, stable=True)
    ends = torch.bincount(flat, minlength=w1.shape[0]).cumsum(0).tolist()  # the one wait for the device
    for expert, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
        if begin == end:
            continue
        token, place = order[begin:end] // top_k, order[begin:end] % top_k
        both = rows[token] @ _wide(w1[expert], w1_scale[expert], is_activation=False).t()
        inner = torch.nn.functional.silu(both[:, :width]) * both[:, width:]
        made = inner @ _wide(w2[expert], w2_scale[expert], is_activation=False).t()
        out.index_add_(0, token, made * routed[token, place].double()[:, None])
    return out


def _product(planned, tensors):
    """Launch the engine's kernel with what its launcher passes; it has some of these parameters."""
    given = {name: tensors[name] for name in planned["tensors"]} | dict(planned["scalars"])
    given |= {
        name: getattr(tl, one["triton"]) if isinstance(one, dict) else one for name, one in planned["constants"].items()
    }
    known = fused_moe_kernel.arg_names
    given = {name: one for name, one in given.items() if name in known}
    fused_moe_kernel[(planned["grid"],)](**given, **planned["options"])


def _between(c, out_type, h_scale):
    """Return what the second product reads, and its scales."""
    rows, width = c.shape[0], c.shape[1] // 2
    quantised = PROBLEM["activation"] == PROBLEM["element"] and bool(PROBLEM["scales"])
    kind = PROBLEM["scales"] if quantised else ""
    group = {"block": PROBLEM["block"][1], "channel": width}.get(kind, 1024)
    groups = triton.cdiv(width, group)
    h = torch.empty((rows, width), dtype=out_type, device=c.device)
    scale = torch.empty((rows, groups), dtype=torch.float32, device=c.device) if kind in {"block", "channel"} else None
    code = {"block": 1, "channel": 1, "tensor": 2}.get(kind, 0)
    is_whole = out_type == torch.int8
    most = float((torch.iinfo if is_whole else torch.finfo)(out_type).max)
    gate_up[(rows, groups)](
        c, h, scale, h_scale, width,
        GROUP=group, BLOCK=triton.next_power_of_2(group), SCALES=code, MOST=most, ROUND=is_whole,
    )  # fmt: skip
    return h, h_scale if scale is None else scale


def launch(
    x, w1, w2, x_scale, w1_scale, w2_scale, h_scale, routed, ids,
    s16, e16, p16, s32, e32, p32, s64, e64, p64, s128, e128, p128, s256, e256, p256, *, config=None, out=None,
):  # fmt: skip
    """Return the layer's result, of tokens x hidden.

    Inputs are those of `make_inputs`, in its order; `s16`, `e16` and `p16` are the rows by expert for tiles 16 high,
    the experts of such tiles and the places in use. `config` has `tile` and `products`, as `moe_files.planned_launches`
    returns them. `out` is where to write; None: a new tensor.
    """
    tokens, top_k = ids.shape
    hidden, width = w2.shape[1], w2.shape[2]
    by_tile = {
        16: (s16, e16, p16), 32: (s32, e32, p32), 64: (s64, e64, p64), 128: (s128, e128, p128), 256: (s256, e256, p256)
    }  # fmt: skip
    sorted_ids, owners, post = by_tile[config["tile"]]
    dtype = _DTYPES[PROBLEM["dtype"]]
    common = {
        "topk_weights_ptr": routed, "sorted_token_ids_ptr": sorted_ids, "expert_ids_ptr": owners,
        "num_tokens_post_padded_ptr": post,
    }  # fmt: skip
    first, second = config["products"]
    c = torch.empty((tokens * top_k, 2 * width), dtype=dtype, device=x.device)
    _product(first, {"a_ptr": x, "b_ptr": w1, "c_ptr": c, "a_scale_ptr": x_scale, "b_scale_ptr": w1_scale, **common})
    h, scale = _between(c, x.dtype, h_scale)
    parts = torch.empty((tokens * top_k, hidden), dtype=dtype, device=x.device)
    _product(second, {"a_ptr": h, "b_ptr": w2, "c_ptr": parts, "a_scale_ptr": scale, "b_scale_ptr": w2_scale, **common})
    out = torch.empty((tokens, hidden), dtype=dtype, device=x.device) if out is None else out
    expert_sum[(tokens, triton.cdiv(hidden, 1024))](parts, out, hidden, TOP=top_k, BLOCK=1024)
    return out

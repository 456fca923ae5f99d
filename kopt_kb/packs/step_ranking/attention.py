"""Work of attention from the shapes that a trace has of it: dense, of packed sequences, and backward."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kopt_kb.packs.step_ranking.operands import Operand, Shaped
from kopt_kb.problem.counts import ByteCount, Count, FlopCount
from kopt_kb.problem.dtypes import DTYPES, matrix_compute
from kopt_kb.problem.work import Work, work
from kopt_kb.quantity import Exactness

__all__ = ["ATTENTION"]

_FORWARD, _BACKWARD = 4, 10
"""Operations of the matrix engine for each pair and column of a head: two products forward, five backward."""


@dataclass(frozen=True, slots=True)
class _Places:
    """Where an operator has what counts.

    Attributes:
        query: Place of the queries; keys and values follow.
        causal: Place of the flag, -1: it has none.
        heads_first: [B, H, S, D] instead of [B, S, H, D].
        lengths: Place of the cumulative lengths of packed sequences, -1: it has none.
        masks: Values of the flag that mean a causal mask.
    """

    query: int = 0
    causal: int = -1
    heads_first: bool = False
    lengths: int = -1
    masks: tuple[str, ...] = ("True",)


def _rule(places: _Places) -> Callable[[Shaped], Work | None]:
    def count(shaped: Shaped) -> Work | None:
        query, key, value = (shaped.at(places.query + one) for one in range(3))
        if query is None or key is None or value is None or query.dtype not in DTYPES:
            return None
        causal = shaped.said(places.causal) in places.masks if places.causal >= 0 else False
        lengths = shaped.at(places.lengths) if places.lengths >= 0 else None
        if len(query.dims) == 3 or (lengths is not None and lengths.dims):
            return _packed(query, key, value, lengths, places)
        if len(query.dims) != 4 or len(key.dims) != 4:
            return None
        return _dense(query, key, places, causal=causal)

    return count


def _dense(query: Operand, key: Operand, places: _Places, *, causal: bool) -> Work | None:
    first, second = (2, 1) if places.heads_first else (1, 2)
    batch, depth = query.dims[0], query.dims[3]
    length, heads, others, kv_heads = query.dims[first], query.dims[second], key.dims[first], key.dims[second]
    if not kv_heads or heads % kv_heads or not query.elements or not key.elements:
        return None
    if places.query == 0 and not (causal and others != length):
        options = {"kv_heads": kv_heads, "kv_length": others, "causal": causal}
        return work("attention", (batch, heads, length, depth), query.dtype, **options)
    pairs = (
        batch * heads * (length * max(others - length, 0) + length * (length + 1) // 2 if causal else length * others)
    )
    return _counted(query, key, pairs, backward=places.query > 0)


def _packed(query: Operand, key: Operand, value: Operand, lengths: Operand | None, places: _Places) -> Work | None:
    """Return the least that sequences of unknown lengths can take: they are equally long and masked."""
    if lengths is None or len(query.dims) < 3 or not lengths.elements > 1:
        return None
    tokens = query.elements // (query.dims[-1] * query.dims[-2])
    sequences = lengths.elements - 1
    pairs = query.dims[-2] * (tokens * tokens // sequences) // 2
    kept = key if key.elements <= value.elements and key.elements < 4 * query.elements else query
    return _counted(query, kept, pairs, backward=places.query > 0, exactness="lower")


def _counted(query: Operand, key: Operand, pairs: int, *, backward: bool, exactness: Exactness = "exact") -> Work:
    compute = matrix_compute(DTYPES[query.dtype], "storage", "auto")
    flops = (_BACKWARD if backward else _FORWARD) * pairs * query.dims[-1]
    read, written = query.bytes + 2 * key.bytes, query.bytes
    if backward:
        read, written = read + 2 * query.bytes, read
    sides = (ByteCount("dram", "read", Count(read, exactness)), ByteCount("dram", "write", Count(written, exactness)))
    return Work("attention", (), query.dtype, (FlopCount(*compute, Count(flops, exactness)),), sides)


_EFFICIENT = ("1", "2")

ATTENTION: Mapping[str, Callable[[Shaped], Work | None]] = {
    name: _rule(places)
    for name, places in {
        "aten::_flash_attention_forward": _Places(causal=8, lengths=3),
        "aten::_efficient_attention_forward": _Places(causal=9, lengths=4, masks=_EFFICIENT),
        "aten::_scaled_dot_product_flash_attention": _Places(causal=4, heads_first=True),
        "aten::_scaled_dot_product_efficient_attention": _Places(causal=6, heads_first=True),
        "aten::_scaled_dot_product_cudnn_attention": _Places(causal=6, heads_first=True),
        "aten::_cudnn_attention_forward": _Places(causal=9, heads_first=True, lengths=4),
        "aten::_flash_attention_backward": _Places(1, causal=11, lengths=6),
        "aten::_scaled_dot_product_flash_attention_backward": _Places(1, causal=11, heads_first=True, lengths=6),
        "aten::_efficient_attention_backward": _Places(1, causal=14, lengths=6, masks=_EFFICIENT),
        "aten::_scaled_dot_product_efficient_attention_backward": _Places(1, causal=11, heads_first=True),
        "flash_attn::_flash_attn_forward": _Places(causal=5),
        "flash_attn::_flash_attn_varlen_forward": _Places(causal=9, lengths=3),
        "flash_attn::_flash_attn_backward": _Places(1, causal=11),
        "aiter::mha_fwd": _Places(causal=5),
        "aiter::fmha_v3_fwd": _Places(causal=5),
        "aiter::mha_batch_prefill": _Places(lengths=3),
    }.items()
}
"""Operator → its work; None where its shapes do not say it."""

"""Recurrent layers as one node of a graph: torch takes a GRU apart into fifteen operations for each step of each layer.

A layer of 512 steps and six layers is 46,000 of them, which take minutes to trace and say no more than the one call:
every step rests on all before it. An LSTM is one operation of torch already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

__all__ = ["whole_layers"]

_LIBRARY = torch.library.Library("kopt_kb", "FRAGMENT")
_LIBRARY.define("gru(Tensor data, Tensor state, Tensor[] weights, int layers, bool is_batch_first) -> (Tensor, Tensor)")


def _gru(data: Any, state: Any, weights: Sequence[Any], layers: int, is_batch_first: bool) -> tuple[Any, Any]:
    del weights, is_batch_first
    return data.new_empty((*data.shape[:-1], state.shape[0] // layers * state.shape[-1])), state.new_empty(state.shape)


torch.library.register_fake("kopt_kb::gru", _gru, lib=_LIBRARY)


@contextmanager
def whole_layers() -> Iterator[None]:
    """Let a model's GRU layers be one node each; what draws numbers itself, or has packed sequences, stays as it is."""
    before = torch._VF.gru

    def gru(data: Any, *rest: Any) -> Any:
        if len(rest) != 8 or (rest[4] and rest[5]):  # packed, or with dropout
            return before(data, *rest)
        state, weights, _, layers, _, _, _, is_batch_first = rest
        return torch.ops.kopt_kb.gru(data, state, weights, layers, is_batch_first)

    torch._VF.gru = gru
    try:
        yield
    finally:
        del torch._VF.gru

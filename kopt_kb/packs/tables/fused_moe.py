"""The fused-MoE tables of vLLM and SGLang: JSON, a number of tokens → settings of the kernel; the name says for what.

`E=128,N=384,device_name=NVIDIA_H20-3e,dtype=fp8_w8a8,block_shape=[128,128].json`: experts, width of a shard, device,
type of weights and activations, block of their scales. A name that ends in `_down` is of the second product.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kopt_kb.packs.tables.ladder import ENTRIES, Ladder, write_ladder
from kopt_kb.problem.tuned_table import TunedRow, TunedTable, nearest_row

__all__ = [
    "FORM", "SETTINGS", "asks_fused_moe", "is_fused_moe", "read_fused_moe", "serves_fused_moe", "write_fused_moe",
]  # fmt: skip

FORM = "fused-moe"
SETTINGS = frozenset(
    {
        "BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "SPLIT_K", "num_warps", "num_stages",
        "num_ctas", "maxnreg", "waves_per_eu", "matrix_instr_nonkdim", "kpack", "grf_mode", "USE_TMA", "tile_m",
        "tile_n", "tile_k", "tile_n2", "tile_k2",
    }
)  # fmt: skip
_LADDER = Ladder(
    form=FORM,
    kernel="fused_moe",
    name=re.compile(rf"(?P<shape>E=\d+,N=\d+),device_name=(?P<device>[^,]*?)(?P<more>{ENTRIES})(?P<down>_down)?\.json"),
    called="E=<experts>,N=<width>,device_name=<device>[,dtype=…][,block_shape=[…]].json",
    counts="tokens",
    needed=("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K"),
)
_FLYDSL = replace(_LADDER, kernel="fused_moe_flydsl", needed=("tile_m", "tile_n", "tile_k"))


def is_fused_moe(name: str, head: bytes) -> bool:
    """Return whether a file is such a table: by its name, in which half of what it says stands."""
    return _LADDER.recognises(name, head)


def read_fused_moe(data: bytes, path: Path) -> TunedTable:
    """Return the table of a file.

    Raises:
        BadInput: The name says too little, or the file is cut off, names a key twice, or has a setting that is no whole
            number, truth value or word; with file, line and key.
    """
    return (_FLYDSL if ",backend=flydsl" in path.name else _LADDER).read(data, path)


def write_fused_moe(table: TunedTable) -> bytes:
    """Return the bytes of a table; rows that a file has are written as they stand there."""
    return write_ladder(table, _LADDER)


def serves_fused_moe(table: TunedTable, extents: Mapping[str, int]) -> TunedRow | None:
    """Return the row of the nearest number of tokens, as both engines choose it: the file's first among equals."""
    return nearest_row(table, "tokens", extents["tokens"])


def asks_fused_moe(operation: str, inputs: tuple[tuple[int, ...], ...]) -> dict[str, int] | None:
    """Return experts, width and tokens of `vllm::…fused_experts…` and `sglang::…fused_experts…`; None for the rest.

    Their first inputs are the tokens, both weights of a layer, the second one E x hidden x N.
    """
    if "fused_experts" not in operation or [len(one) for one in inputs[:3]] != [2, 3, 3]:
        return None
    return {"E": inputs[2][0], "N": inputs[2][2], "tokens": inputs[0][0]}

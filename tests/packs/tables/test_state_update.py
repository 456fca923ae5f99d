"""Tables of the state update of Mamba layers."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.state_update import (
    is_state_update,
    read_state_update,
    serves_state_update,
    write_state_update,
)

NAME = Path("headdim=64,dstate=128,device_name=NVIDIA_H200,cache_dtype=float16.json")
TEXT = (
    b'{"triton_version": "3.8.0", "8": {"BLOCK_SIZE_M": 4, "num_warps": 1}, "32": {"BLOCK_SIZE_M": 8, "num_warps": 2}}'
)


def test_a_table_says_widths_and_counts_batch_times_heads() -> None:
    """And is written as it was."""
    table = read_state_update(TEXT, NAME)
    assert (table.shape, table.facts) == ({"headdim": 64, "dstate": 128}, {"cache_dtype": "float16"})
    assert (table.triton, table.device) == ("3.8.0", "NVIDIA H200")
    assert write_state_update(table) == TEXT
    row = serves_state_update(table, {"batch_heads": 20})
    assert row is not None and row.key == "8"
    assert is_state_update(NAME.name, b"{")


def test_a_row_without_warps_is_refused() -> None:
    """With its line."""
    with pytest.raises(BadInput, match="num_warps"):
        read_state_update(TEXT.replace(b', "num_warps": 1', b""), NAME)

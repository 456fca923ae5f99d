"""Tables of vLLM's state update of Mamba layers: JSON, batch times heads → settings of the kernel.

`headdim=64,dstate=128,device_name=NVIDIA_H200,cache_dtype=float16.json`: width of a head, of its state, device, type of
the state.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from kopt_kb.packs.tables.ladder import ENTRIES, Ladder, write_ladder
from kopt_kb.problem.tuned_table import TunedRow, TunedTable, nearest_row

__all__ = ["FORM", "SETTINGS", "is_state_update", "read_state_update", "serves_state_update", "write_state_update"]

FORM = "state-update"
SETTINGS = frozenset({"BLOCK_SIZE_M", "num_warps", "num_stages"})
_LADDER = Ladder(
    form=FORM,
    kernel="selective_state_update",
    name=re.compile(rf"(?P<shape>headdim=\d+,dstate=\d+),device_name=(?P<device>[^,]*?)(?P<more>{ENTRIES})\.json"),
    called="headdim=<width>,dstate=<width>,device_name=<device>,cache_dtype=<type>.json",
    counts="batch_heads",
    needed=("BLOCK_SIZE_M", "num_warps"),
)


def is_state_update(name: str, head: bytes) -> bool:
    """Return whether a file is such a table, by its name."""
    return _LADDER.recognises(name, head)


def read_state_update(data: bytes, path: Path) -> TunedTable:
    """Return the table of a file; raises `BadInput` as `Ladder.read` does."""
    return _LADDER.read(data, path)


def write_state_update(table: TunedTable) -> bytes:
    """Return the bytes of a table; rows that a file has are written as they stand there."""
    return write_ladder(table, _LADDER)


def serves_state_update(table: TunedTable, extents: Mapping[str, int]) -> TunedRow | None:
    """Return the row of the nearest batch times heads."""
    return nearest_row(table, "batch_heads", extents["batch_heads"])

"""A tuned table: which settings a kernel is given for which shape, as somebody's program reads it from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_input
from kopt_kb.base.wire import Wire
from kopt_kb.doors.absent import absent_pack, needs_pack
from kopt_kb.doors.table import behind
from kopt_kb.doors.table_form import TableForm

__all__ = ["Setting", "TunedRow", "TunedTable", "form_of", "nearest_row", "read_tuned_table"]

Setting = int | float | bool | str | None
_MOST_BYTES = 32 << 20
_HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True)
class TunedRow(Wire):
    """One row.

    Attributes:
        key: What it is for, as the file writes it.
        settings: Name → value, in the file's order.
        line: Of its key; 0 for a row that no file has.
        sizes: Extents that the key says, by name, such as tokens, or M, N and K; empty where it says none.
        device: Device as the row says it, where rows of one file are for several; empty: the table's.
        facts: What the row says besides, such as types of operands and the time that its tuner took.
    """

    WIRE: ClassVar = ("key", "settings", "line", "sizes", "device", "facts")
    key: str
    settings: Mapping[str, Setting]
    line: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)
    device: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TunedTable(Wire):
    """A table of a file.

    Attributes:
        form: Name of its form.
        file: Name of the file.
        device: Name of the device as the file says it; empty where it says none.
        facts: What else the file and its name say of the whole table, as text, such as the type of a cache.
        rows: Its rows, in the file's order.
        layout: How the file writes it, which is its form's alone; None for a table that no file has.
        kernel: Which kernel its rows are for, as its form calls it, such as gemm.
        engine: Whose program reads it, such as vllm; empty where neither path nor file says so.
        shape: Extents that hold for all rows, by name: E experts and N columns of a shard, or N and K.
        dtype: Types of operands as the file says them, such as fp8_w8a8; empty: the activations' own.
        block_shape: Extents of a block that shares a scale, columns and depth; empty where there are none.
        product: Which product of a layer: down for the second one alone, empty for both, or where there is one.
        triton: Version of Triton that it was tuned with; empty where neither path nor file says so.
    """

    WIRE: ClassVar = (
        "form", "file", "device", "kernel", "engine", "shape", "dtype", "block_shape", "product", "triton", "facts",
        "rows",
    )  # fmt: skip
    form: str
    file: str
    device: str
    facts: Mapping[str, str]
    rows: tuple[TunedRow, ...]
    layout: object = field(default=None, compare=False)
    kernel: str = ""
    engine: str = ""
    shape: Mapping[str, int] = field(default_factory=dict)
    dtype: str = ""
    block_shape: tuple[int, ...] = ()
    product: str = ""
    triton: str = ""


def nearest_row(table: TunedTable, name: str, extent: int) -> TunedRow | None:
    """Return the row whose extent of a name is nearest, the file's first among equals; None where no row has it."""
    rows = [row for row in table.rows if name in row.sizes]
    return min(rows, key=lambda row: abs(row.sizes[name] - extent), default=None)


def form_of(path: Path, data: bytes) -> TableForm:
    """Return the form of a file.

    Raises:
        BadInput: It is in no form that is installed.
        MissingTool: No form is installed.
    """
    known: list[TableForm] = [form for _, form in behind("table_forms")]
    found = next((one for one in known if one.recognises(path.name, data[:_HEAD_BYTES])), None)
    if found is not None:
        return found
    if not known or absent_pack("table_forms"):
        raise needs_pack("reading a tuned table", "table_forms", str(path))
    what = "is no tuned table in a known form"
    raise BadInput(what, where=str(path), fix=f"name {' or '.join(one.what for one in known)}", code="KB116")


def read_tuned_table(path: Path) -> TunedTable:
    """Return the table of a file, whose form its name and first bytes tell; raises as `form_of` and its form do."""
    data = read_input(path, _MOST_BYTES)
    return form_of(path, data).read(data, path)

"""AITER's tuned tables: CSV, a line a shape with the kernel that its tuner chose and the time that it took.

Every family names target and compute units, then the shape and its types, then what was chosen: the columns say which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.csv_lines import CsvLine, csv_lines, joined
from kopt_kb.problem.tuned_table import Setting, TunedRow, TunedTable

__all__ = ["FORM", "is_aiter_csv", "read_aiter_csv", "serves_aiter_csv", "write_aiter_csv"]

FORM = "aiter-csv"
_DEVICE = frozenset({"gfx", "arch", "cu_num"})
_SIZES = frozenset(
    {
        "B", "M", "N", "K", "b", "m", "n", "k", "token", "model_dim", "inter_dim", "expert", "topk", "V", "BT", "H",
        "Hg", "T_flat", "total_chunks", "max_seq_chunks", "sq", "num_k_heads", "num_v_heads", "head_k_dim",
        "head_v_dim",
    }
)  # fmt: skip
_TYPES = frozenset(
    {
        "bias", "dtype", "outdtype", "scaleAB", "bpreshuffle", "act_type", "q_dtype_a", "q_dtype_w", "q_type",
        "use_g1u1", "doweight_stage1", "state_dtype", "is_varlen", "use_h0", "store_fs", "snapshot_bf16", "state_bf16",
        "use_g", "use_gk", "save_vn", "wu_contig", "shared_expert_id", "hidden_pad", "intermediate_pad", "gate_mode",
        "_tag",
    }
)  # fmt: skip
_SAID = frozenset({"us", "us1", "us2", "tflops", "bw", "errRatio", "err_ratio", "err1", "err2", "duration"})
_CHOSEN = frozenset({"us", "kernelName", "kernelName1", "duration"})


@dataclass(frozen=True, slots=True)
class _Lines:
    """How a file writes its rows: the head, and every line."""

    columns: tuple[str, ...]
    lines: tuple[CsvLine, ...]


def is_aiter_csv(name: str, head: bytes) -> bool:
    """Return whether a file is such a table: its first line names compute units or a target, and a choice."""
    columns = head.partition(b"\n")[0].decode("utf-8", "replace").strip().split(",")
    return name.endswith(".csv") and columns[0] in _DEVICE and not _CHOSEN.isdisjoint(columns)


def read_aiter_csv(data: bytes, path: Path) -> TunedTable:
    """Return the table of a file.

    Raises:
        BadInput: A column stands twice, a line has more or fewer cells, or an extent is no whole number; with file and
            line.
    """
    lines = csv_lines(data, path)
    columns = tuple(one.strip() for one in lines[0].cells) if lines else ()
    if len(set(columns)) < len(columns) or not columns:
        raise BadInput("a column stands twice", where=f"{path}:1", fix="write the table again", code="KB116")
    rows = [_row(one, columns, path) for one in lines[1:] if not one.is_blank]
    if not rows:
        raise BadInput("has no row", where=str(path), fix="a row is a line of cells", code="KB116")
    kernel = "fused_moe" if "token" in columns else "gemm" if {"M", "N", "K"} <= set(columns) else ""
    return TunedTable(FORM, path.name, "", {}, tuple(rows), _Lines(columns, lines), kernel=kernel, engine="aiter")


def write_aiter_csv(table: TunedTable) -> bytes:
    """Return the bytes of a table; rows that a file has are written as they stand there."""
    layout = table.layout
    if not isinstance(layout, _Lines):
        what = "has no columns to be written in"
        raise BadInput(what, where=table.file, fix="read a table of the family first", code="KB116")
    lines = {one.number: one for one in layout.lines}
    parts = [layout.lines[0].text]
    if [row.line for row in table.rows] == [one.number for one in layout.lines[1:] if not one.is_blank]:
        rows = {row.line: row for row in table.rows}
        parts += [_text(rows[one.number], one, layout) if one.number in rows else one.text for one in layout.lines[1:]]
    else:
        parts += [_text(row, lines.get(row.line), layout) for row in table.rows]
        if len(parts) > 1:
            parts = [*(one if one.endswith("\n") else f"{one}\n" for one in parts[:-1]), parts[-1]]
    return "".join(parts).encode()


def serves_aiter_csv(table: TunedTable, extents: Mapping[str, int]) -> TunedRow | None:
    """Return the row of exactly these extents; the library besides pads M, which it says in its log."""
    return next((row for row in table.rows if dict(row.sizes) == dict(extents)), None)


def _row(line: CsvLine, columns: tuple[str, ...], path: Path) -> TunedRow:
    where = f"{path}:{line.number}"
    if len(line.cells) != len(columns):
        what = f"has {len(line.cells)} cells under {len(columns)} columns"
        raise BadInput(what, where=where, fix="write the table again", code="KB116")
    said = {name: cell.strip() for name, cell in zip(columns, line.cells, strict=True)}
    sizes: dict[str, int] = {}
    for name in columns:
        if name in _SIZES or name == "cu_num":
            if not said[name].removeprefix("-").isdecimal():
                what = f"{name} is {said[name][:40] or 'empty'}, no whole number"
                raise BadInput(what, where=where, fix="write the table again", code="KB116")
            if name in _SIZES:
                sizes[name] = int(said[name])
    keys = [name for name in columns if name in _DEVICE | _SIZES | _TYPES]
    settings = {name: _setting(said[name]) for name in columns if name not in _SAID and name not in keys}
    facts = {name: said[name] for name in columns if name in _SAID or name in _TYPES}
    device = said.get("gfx") or said.get("arch") or ""
    units = f":{said['cu_num']}" if "cu_num" in said else ""
    return TunedRow(",".join(said[name] for name in keys), settings, line.number, sizes, f"{device}{units}", facts)


def _setting(cell: str) -> Setting:
    for kind in (int, float):
        try:
            value = kind(cell)
        except ValueError:
            continue
        return value if str(value) == cell else cell
    return cell


def _text(row: TunedRow, before: CsvLine | None, layout: _Lines) -> str:
    if before is not None:
        read = _row(before, layout.columns, Path(layout.columns[0]))
        if (dict(read.settings), dict(read.facts), read.key) == (dict(row.settings), dict(row.facts), row.key):
            return before.text
    keys = [name for name in layout.columns if name in _DEVICE | _SIZES | _TYPES]
    said = dict(zip(keys, row.key.split(","), strict=True))
    said |= {name: str(value) for name, value in row.settings.items()} | dict(row.facts)
    like = before.text if before is not None else layout.lines[0].text
    return joined([said.get(name, "") for name in layout.columns], like)

"""Results of PyTorch's TunableOp: CSV, validators first, then operation, shape, solution and time in each line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.csv_lines import CsvLine, csv_lines, joined
from kopt_kb.problem.tuned_table import TunedRow, TunedTable

__all__ = ["FORM", "is_tunable_op", "read_tunable_op", "serves_tunable_op", "write_tunable_op"]

FORM = "tunable-op"
_VALIDATOR = "Validator"
_EXTENTS = re.compile(r"[a-z]{2}_(\d+)_(\d+)_(\d+)(?:_B_(\d+))?(?:_.*)?")
_CELLS = 4


@dataclass(frozen=True, slots=True)
class _Lines:
    """Every line of a file."""

    lines: tuple[CsvLine, ...]


def is_tunable_op(name: str, head: bytes) -> bool:
    """Return whether a file is such a result: it begins with a validator."""
    return name.endswith(".csv") and head.startswith(b"Validator,")


def read_tunable_op(data: bytes, path: Path) -> TunedTable:
    """Return the results of a file; raises `BadInput` for a line that is none, with file and line."""
    lines = csv_lines(data, path)
    facts: dict[str, str] = {}
    rows: list[TunedRow] = []
    for one in lines:
        if one.is_blank:
            continue
        if one.cells[0] == _VALIDATOR and len(one.cells) > 2:
            facts[one.cells[1]] = ",".join(one.cells[2:])
        else:
            rows.append(_row(one, path))
    if not rows:
        raise BadInput("has no row", where=str(path), fix="tune an operation first", code="KB116")
    device = facts.get("GCN_ARCH_NAME", "").partition(":")[0]
    return TunedTable(FORM, path.name, device, facts, tuple(rows), _Lines(lines), kernel="gemm", engine="torch")


def write_tunable_op(table: TunedTable) -> bytes:
    """Return the bytes of results; lines that a file has are written as they stand there."""
    lines = table.layout.lines if isinstance(table.layout, _Lines) else ()
    known = {one.number: one for one in lines}
    heads = [one.text for one in lines if one.cells[:1] == (_VALIDATOR,)]
    heads = heads or [f"{_VALIDATOR},{name},{value}\n" for name, value in table.facts.items()]
    return "".join([*heads, *(_text(row, known.get(row.line)) for row in table.rows)]).encode()


def serves_tunable_op(table: TunedTable, extents: Mapping[str, int]) -> TunedRow | None:
    """Return the row of exactly these extents."""
    return next((row for row in table.rows if dict(row.sizes) == dict(extents)), None)


def _row(line: CsvLine, path: Path) -> TunedRow:
    said = _EXTENTS.fullmatch(line.cells[1]) if len(line.cells) == _CELLS else None
    try:
        milliseconds = float(line.cells[-1])
    except ValueError:
        milliseconds = -1.0
    if said is None or milliseconds < 0:
        what = "is no operation with shape, solution and time"
        raise BadInput(what, where=f"{path}:{line.number}", fix="write the table again", code="KB116")
    sizes = {name: int(value) for name, value in zip("MNKB", said.groups(), strict=True) if value}
    operation, shape, solution, _ = line.cells
    facts = {"us": f"{1000 * milliseconds:g}", "time": line.cells[3]}
    return TunedRow(f"{operation},{shape}", {"solution": solution}, line.number, sizes, facts=facts)


def _text(row: TunedRow, before: CsvLine | None) -> str:
    cells = [*row.key.split(","), str(row.settings["solution"]), row.facts["time"]]
    if before is not None and list(before.cells) == cells:
        return before.text
    return joined(cells, before.text if before is not None else "\n")

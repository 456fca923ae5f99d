"""A table put into a file whole, or not at all: nothing that changed meanwhile is written over."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import check_new, write_new
from kopt_kb.problem.tuned_table import TunedTable, form_of
from kopt_kb.workspace.journal.disk import replace_file

__all__ = ["check_out", "replace_table", "table_bytes", "write_table"]


def table_bytes(table: TunedTable, path: Path) -> bytes:
    """Return the bytes of a table as its form writes them, read again as the file that they are for.

    Raises:
        BadInput: They are no table of such a name, which is a defect of the form's, or the name is another layer's.
    """
    form = form_of(path, b"{")
    data = form.write(table)
    again = form.read(data, path)
    kept = ("form", "kernel", "shape", "dtype", "block_shape", "product", "device")
    if differing := [name for name in kept if getattr(again, name) != getattr(table, name)]:
        what = f"its name says another {differing[0].replace('_', ' ')} than {table.file}"
        raise BadInput(what, where=str(path), fix="name it as the table is called", code="KB103")
    return data


def check_out(table: TunedTable, path: Path) -> None:
    """Refuse a new file that can't be written, or whose name is another table's, before anything is timed."""
    check_new(path)
    table_bytes(table, path)


def write_table(table: TunedTable, path: Path) -> None:
    """Write a table into a file that is not there yet; raises `BadInput` where it can't be."""
    write_new(path, table_bytes(table, path))


def replace_table(table: TunedTable, path: Path, before: bytes) -> None:
    """Put a table in the place of what a file held when it was read, in one step.

    Raises:
        BadInput: The file holds something else now, is a link, or its folder can't be written.
    """
    data = table_bytes(table, path)
    try:
        is_written = replace_file(path, data, expected=before)
    except OSError as error:
        what = f"can't be written: {error.strerror or error}"
        raise BadInput(what, where=str(path), fix="give --out with a new file", code="KB112") from error
    if not is_written:
        what, fix = "changed since it was read; nothing was written", "run it again, or give --out with a new file"
        raise BadInput(what, where=str(path), fix=fix, code="KB328")

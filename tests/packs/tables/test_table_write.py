"""A table put into a file whole, or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.table_write import check_out, replace_table, table_bytes, write_table
from kopt_kb.packs.tables.tune import with_row
from kopt_kb.problem.tuned_table import read_tuned_table
from tests.packs.tables.simulated import ROW, table_file

NEW = {**ROW, "BLOCK_SIZE_M": 32}


@pytest.mark.parametrize("style", [{"indent": 4}, {"indent": 2}, {"indent": None}], ids=["four", "two", "one line"])
def test_other_rows_stay_as_they_are_written(tmp_path: Path, style: dict[str, object]) -> None:
    """A new row stands before the next larger one, in the file's style; a changed one in its own place."""
    path = table_file(tmp_path, {"1": ROW, "64": ROW, "8": ROW}, **style)
    table = read_tuned_table(path)
    again = json.loads(table_bytes(with_row(table, 4, NEW), path))
    assert [*again] == ["1", "4", "64", "8"] and again["4"] == NEW
    mended = table_bytes(with_row(table, 64, NEW), path).decode()
    assert mended == path.read_text().replace('"64"', '"x"', 1).replace(
        json.dumps({"x": ROW}, **style)[1:-1].strip(),
        json.dumps({"64": NEW}, **style)[1:-1].strip(),  # type: ignore[arg-type]
    )
    largest = [*json.loads(table_bytes(with_row(table, 4096, NEW), path))]
    assert largest[-1] == "4096"


def test_rows_of_a_line_each_and_words_between_them_stay(tmp_path: Path) -> None:
    """What is no row keeps its place; the new row is one line as the others are."""
    path = table_file(tmp_path, {"1": ROW})
    row = json.dumps(ROW)
    path.write_text(f'{{\n  "1": {row},\n  "triton_version": "3.6.0",\n  "8": {row}\n}}\n')
    table = read_tuned_table(path)
    made = table_bytes(with_row(table, 4, NEW), path).decode()
    assert made == (f'{{\n  "1": {row},\n  "triton_version": "3.6.0",\n  "4": {json.dumps(NEW)},\n  "8": {row}\n}}\n')
    path.write_text(f'{{\n  "triton_version": "3.6.0",\n  "1": {row}\n}}\n')
    made = table_bytes(with_row(read_tuned_table(path), 4, NEW), path).decode()
    assert [*json.loads(made)] == ["triton_version", "1", "4"]


def test_a_file_that_changed_is_not_written_over(tmp_path: Path) -> None:
    """Nor a link; what was read is replaced in one step."""
    path = table_file(tmp_path, {"1": ROW})
    before, table = path.read_bytes(), with_row(read_tuned_table(path), 2, NEW)
    path.write_bytes(before + b"\n")
    with pytest.raises(BadInput, match="changed since it was read") as caught:
        replace_table(table, path, before)
    assert caught.value.error_code == "KB328" and path.read_bytes() == before + b"\n"
    path.write_bytes(before)
    replace_table(table, path, before)
    assert [*json.loads(path.read_text())] == ["1", "2"] and len([*path.parent.iterdir()]) == 1
    other = path.rename(path.with_name("kept"))
    path.symlink_to(other)
    with pytest.raises(BadInput, match="can't be written"):
        replace_table(table, path, before)


def test_a_new_file_has_the_name_of_the_same_layer(tmp_path: Path) -> None:
    """Another width, a file that is there, a folder that is not."""
    path = table_file(tmp_path, {"1": ROW})
    table = read_tuned_table(path)
    new = tmp_path / path.name
    check_out(table, new)
    write_table(table, new)
    assert new.read_bytes() == path.read_bytes()
    with pytest.raises(BadInput, match="exists already"):
        check_out(table, new)
    with pytest.raises(BadInput, match="another shape"):
        check_out(table, tmp_path / path.name.replace("N=128", "N=256"))
    with pytest.raises(BadInput, match="no such folder"):
        check_out(table, tmp_path / "none" / path.name)
    with pytest.raises(BadInput, match="no tuned table"):
        check_out(table, tmp_path / "table.json")

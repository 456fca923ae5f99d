"""Which form a tuned table has."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.doors import table
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.table_form import TableForm
from kopt_kb.problem.tuned_table import TunedRow, TunedTable, form_of, read_tuned_table


def _read(data: bytes, path: Path) -> TunedTable:
    rows = tuple(TunedRow(str(number), {"tile": number}, number) for number in data[5:])
    return TunedTable("tiles", path.name, "", {}, rows, data)


TILES = TableForm(
    name="tiles",
    what="a file of tiles",
    recognises=lambda name, head: name.endswith(".bin") and head.startswith(b"TILES"),
    read=_read,
    write=lambda one: b"TILES" + bytes(int(row.key) for row in one.rows),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A table of a strange form."""
    (tmp_path / "a.bin").write_bytes(b"TILES\x10\x20")
    return tmp_path / "a.bin"


def _install(monkeypatch: pytest.MonkeyPatch, *packs: Pack) -> None:
    monkeypatch.setattr(table, "packs", lambda: table.Packs({one.name: one for one in packs}, ()))


def test_a_strangers_form_reads_and_writes_its_files(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name and first bytes; how the file is laid out is no part of the document."""
    _install(monkeypatch, Pack("strange", "a test's pack", table_forms=(TILES,)), Pack("tables", "another"))
    found = read_tuned_table(path)
    assert [row.settings for row in found.rows] == [{"tile": 16}, {"tile": 32}]
    assert form_of(path, b"TILES").write(found) == path.read_bytes()
    assert "layout" not in found.to_json()
    path.write_bytes(b"STONE")
    with pytest.raises(BadInput, match="a file of tiles"):
        read_tuned_table(path)


def test_without_packs_the_pack_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the core reads a table."""
    _install(monkeypatch)
    with pytest.raises(MissingTool, match="needs the pack tables, which is not installed"):
        read_tuned_table(path)

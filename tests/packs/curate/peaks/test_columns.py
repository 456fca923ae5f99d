"""Every value as CSV, JSON, SQLite and Parquet."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import sys
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.packs.curate.peaks import columns
from kopt_kb.wiki.collect import Collection


def test_csv_has_a_citation_a_row(invented: Collection) -> None:
    """Value as printed, base units, citation, document, data version."""
    rows = list(csv.DictReader(io.StringIO(columns.render_csv(invented)["peaks.csv"])))
    (bandwidth,) = [row for row in rows if row["metric"] == "memory_bandwidth"]
    assert (bandwidth["value"], bandwidth["unit"], bandwidth["si_value"]) == ("2.0", "TB/s", "2000000000000")
    assert bandwidth["citation"].startswith("memory_bandwidth: 2.0 TB/s <- <gpu-wiki>/hardware/")
    assert bandwidth["document"] == "Sheet"
    assert {row["data_version"] for row in rows} == {invented.data.version}
    assert not [row for row in rows if row["value"] in {"UNKNOWN", "NONE"}]


def test_json_names_what_has_no_value(invented: Collection) -> None:
    """With its reason."""
    body = json.loads(columns.render_json(invented)["peaks.json"])
    assert body["data"] == invented.data.to_json()
    assert {one["state"] for one in body["without_value"]} == {"UNKNOWN", "NONE"}


def test_sqlite_is_read_back_and_nothing_is_written_to_it(invented: Collection, tmp_path: Path) -> None:
    """Tables `value`, `without_value`, `data`."""
    path = tmp_path / "peaks.sqlite"
    columns.write_sqlite(invented, path)
    before = path.read_bytes()
    rows = columns.read_sqlite(path)
    assert len(rows) == len(invented.products[0].peaks)
    assert path.read_bytes() == before
    with sqlite3.connect(path) as base:
        assert base.execute("SELECT version FROM data").fetchone() == (invented.data.version,)


def test_another_database_is_refused(tmp_path: Path) -> None:
    """With its place."""
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE a (b)")
    with pytest.raises(BadInput, match="other.sqlite"):
        columns.read_sqlite(path)


def test_parquet_is_read_back(invented: Collection, tmp_path: Path) -> None:
    """With the data's version in its metadata."""
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "peaks.parquet"
    columns.write_parquet(invented, path)
    assert len(columns.read_parquet(path)) == len(invented.products[0].peaks)
    assert parquet.read_schema(path).metadata[b"gpu_wiki_version"].decode() == invented.data.version


def test_without_pyarrow_the_extra_is_named(
    invented: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 3 with what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingTool, match="pyarrow"):
        columns.write_parquet(invented, tmp_path / "a.parquet")

"""Every value as a table: CSV, JSON, SQLite and Parquet with the same columns, written and read."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.quantity.units import UNITS, si_number, si_unit
from kopt_kb.wiki.answers import DocumentRef
from kopt_kb.wiki.collect import Collection
from kopt_kb.wiki.foreign_row import ForeignRow, foreign_row
from kopt_kb.wiki.resolve import citation_of

__all__ = ["COLUMNS", "read_parquet", "read_sqlite", "render_csv", "render_json", "write_parquet", "write_sqlite"]

COLUMNS = (
    "platform", "vendor", "target", "metric", "conditions", "value", "unit", "si_value", "si_unit", "grade", "citation",
    "row_sha256", "document", "locator", "url", "read", "data_version", "data_date",
)  # fmt: skip
_MOST_ROWS = 1_000_000


def _rows(found: Collection) -> Iterator[dict[str, str | int | float]]:
    data = {"data_version": found.data.version, "data_date": found.data.date}
    for product in found.products:
        one = product.identity
        for peak in product.peaks:
            row = peak.row
            source = DocumentRef.of(row, product.footnotes.get(row.path, {}))
            yield {
                "platform": one.platform, "vendor": one.vendor, "target": one.target, "metric": row.metric,
                "conditions": "; ".join(f"{axis}={word}" for axis, word in row.axes), "value": row.value,
                "unit": row.unit, "si_value": si_number(peak.si), "si_unit": si_unit(UNITS[row.unit].dimension),
                "grade": row.grade, "citation": str(citation_of(row)), "row_sha256": row.sha, "document": source.title,
                "locator": source.locator, "url": source.url, "read": source.read, **data,
            }  # fmt: skip


def _without(found: Collection) -> Iterator[dict[str, str]]:
    for product in found.products:
        for row in product.without:
            yield {
                "platform": product.identity.platform, "key": row.key, "state": row.kind.upper(),
                "reason": row.note("reason"), "citation": str(citation_of(row)),
            }  # fmt: skip


def render_csv(found: Collection) -> dict[str, str]:
    """Return the table; what has no value is not in it."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rows(found))
    return {"peaks.csv": out.getvalue()}


def render_json(found: Collection) -> dict[str, str]:
    """Return one document: the data's version, rows, and what has no value with its reason."""
    rows = [{name: word for name, word in row.items() if not name.startswith("data_")} for row in _rows(found)]
    body = {"data": found.data.to_json(), "rows": rows, "without_value": list(_without(found))}
    return {"peaks.json": json.dumps(body, ensure_ascii=False, indent=1) + "\n"}


def write_sqlite(found: Collection, path: Path) -> None:
    """Write tables `value`, `without_value` and `data`."""
    with closing(sqlite3.connect(path)) as base, base:
        columns = ", ".join(f"{one} {'REAL' if one == 'si_value' else 'TEXT'}" for one in COLUMNS)
        base.execute(f"CREATE TABLE value ({columns})")
        marks = ", ".join("?" * len(COLUMNS))
        rows = ([_real(row[one]) for one in COLUMNS] for row in _rows(found))
        base.executemany(f"INSERT INTO value VALUES ({marks})", rows)  # noqa: S608 - question marks alone
        base.execute("CREATE TABLE without_value (platform TEXT, key TEXT, state TEXT, reason TEXT, citation TEXT)")
        base.executemany(
            "INSERT INTO without_value VALUES (?, ?, ?, ?, ?)", (list(r.values()) for r in _without(found))
        )
        base.execute("CREATE TABLE data (version TEXT, date TEXT)")
        base.execute("INSERT INTO data VALUES (?, ?)", (found.data.version, found.data.date))


def _real(value: object) -> object:
    return float(value) if isinstance(value, int) else value


def read_sqlite(path: Path) -> list[ForeignRow]:
    """Return the rows of the table `value`; the file is opened for reading alone."""
    columns = "platform, metric, value, unit, conditions"
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as base:
            rows = base.execute(f"SELECT {columns} FROM value LIMIT {_MOST_ROWS}").fetchall()  # noqa: S608
    except sqlite3.Error as error:
        fix = "give one that `kb export peaks --for sqlite` wrote"
        raise BadInput(f"no table of values in it: {error}", where=str(path), fix=fix, code="KB057") from None
    names = columns.split(", ")
    return [foreign_row(dict(zip(names, row, strict=True)), f"{path}:value:{at}") for at, row in enumerate(rows, 1)]


def _arrow(module: str) -> Any:
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingTool("Parquet needs pyarrow", fix='pip install "pyarrow>=18"', code="KB120")
    return importlib.import_module(module)


def write_parquet(found: Collection, path: Path) -> None:
    """Write one table, the data's version in its metadata too; raises `MissingTool` without pyarrow."""
    arrow, parquet = _arrow("pyarrow"), _arrow("pyarrow.parquet")
    rows = list(_rows(found))
    columns = {one: [_real(row[one]) for row in rows] for one in COLUMNS}
    table = arrow.table(columns)
    data = {"gpu_wiki_version": found.data.version, "gpu_wiki_date": found.data.date}
    parquet.write_table(table.replace_schema_metadata(data), path)


def read_parquet(path: Path) -> list[ForeignRow]:
    """Return the rows of a table with our columns; raises `MissingTool` without pyarrow."""
    parquet, names = _arrow("pyarrow.parquet"), ["platform", "metric", "value", "unit", "conditions"]
    try:
        file = parquet.ParquetFile(path)
        if file.metadata.num_rows > _MOST_ROWS:
            raise ValueError(f"{file.metadata.num_rows} rows")
        rows = file.read(columns=names).to_pylist()
        return [foreign_row(row, f"{path}:row {at}") for at, row in enumerate(rows, 1)]
    except (ValueError, OSError, KeyError) as error:
        what = f"no table of values in it: {str(error)[:100]}"
        fix = "give one that `kb export peaks --for parquet` wrote"
        raise BadInput(what, where=str(path), fix=fix, code="KB057") from None

"""SQLite reports."""

from __future__ import annotations

import sqlite3

import pytest

from kopt_kb.analysis.readers.common import sqlite
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.sqlite import open_database, text_of, whole_of


def test_a_report_is_never_written(tmp_path):
    """Writing fails and leaves no file beside it."""
    path = tmp_path / "a b%20c.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(ReportError, match="readonly"), open_database(path) as report:
        report.execute("INSERT INTO t VALUES (1)")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_damage_names_the_file(tmp_path):
    """A file that is no database, and a query on a table that isn't there."""
    path = tmp_path / "x.db"
    path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 500)
    with pytest.raises(ReportError, match="damaged") as caught, open_database(path) as report:
        report.execute("SELECT * FROM t").fetchall()
    assert caught.value.file == str(path)


def test_values_of_another_type_are_absent():
    """A column of SQLite can hold anything."""
    assert [whole_of(one) for one in (3, -3, 3.0, "3", None)] == [3, None, None, None, None]
    assert [text_of(one) for one in ("a", 3, None)] == ["a", "", ""]


@pytest.mark.parametrize(
    "body",
    [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS Name, 1 AS EndNs, 0 AS BeginNs FROM n",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS Name FROM n",
        "SELECT a.x AS Name FROM t a, t b, t c, t d, t e, t f, t g WHERE a.x + b.x + c.x + d.x + e.x + f.x + g.x < 0",
    ],
)
def test_a_view_that_never_ends_is_ended(tmp_path, monkeypatch, body):
    """Rows without end, one row that takes for ever, and a join of nothing: all end with the limit."""
    monkeypatch.setattr(sqlite, "_LIMIT_S", 0.2)
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.executemany("INSERT INTO t VALUES (?)", [(one,) for one in range(1000)])
        connection.execute(f"CREATE VIEW OPS AS {body}")
    connection.close()
    with pytest.raises(ReportError, match="not read within"), open_database(path) as report:
        for _ in report.execute("SELECT Name FROM OPS"):
            pass


def test_views_run_no_function_that_reads_files(tmp_path):
    """The schema of a report is not trusted."""
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    with open_database(path) as report:
        assert report.execute("PRAGMA trusted_schema").fetchone() == (0,)

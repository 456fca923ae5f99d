"""What readers may look at to recognise a report."""

from __future__ import annotations

import sqlite3

import pytest

from kopt_kb.analysis.readers.common.base import ReportHead, encoding_of
from kopt_kb.analysis.readers.common.errors import ReportError


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_text_is_decoded_by_its_first_bytes(tmp_path, encoding):
    """A byte order mark decides; ASCII in UTF-16 is seen without one."""
    file = tmp_path / "page.txt"
    file.write_bytes('"ID","Kernel Name"\n'.encode(encoding))
    assert ReportHead(file).text == '"ID","Kernel Name"\n'
    assert encoding_of(b"plain") == "utf-8-sig"


def test_tables_and_views_of_a_database_are_named(tmp_path):
    """Four SQLite layouts share a suffix: table names tell them apart."""
    file = tmp_path / "x.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE OPS (a)")
        connection.execute("CREATE VIEW top AS SELECT a FROM OPS")
    connection.close()
    assert ReportHead(file).tables == {"OPS", "top"}


def test_a_damaged_database_is_an_error(tmp_path):
    """SQLite's own complaint is passed on in one line."""
    file = tmp_path / "x.db"
    file.write_bytes(b"SQLite format 3\x00" + b"\xff" * 200)
    with pytest.raises(ReportError, match="damaged SQLite"):
        _ = ReportHead(file).tables


def test_other_files_have_no_tables(tmp_path):
    """A text file and a folder are asked without harm."""
    (tmp_path / "a.txt").write_text("hello")
    assert ReportHead(tmp_path / "a.txt").tables == frozenset()
    assert (ReportHead(tmp_path).data, ReportHead(tmp_path).is_folder) == (b"", True)

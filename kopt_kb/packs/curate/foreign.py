"""Foreign tables: somebody else's hardware values, read with their place: CSV, JSON and the forms of `peaks/`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import open_input, read_words
from kopt_kb.packs.curate.peaks.forms import read_binary, read_text
from kopt_kb.wiki.foreign_row import FIELDS, ForeignRow, foreign_row
from kopt_kb.wiki.vocabulary import AXES

__all__ = ["MAX_BYTES", "read_foreign"]

MAX_BYTES = 32 << 20
"""Larger files are refused."""
_CARRIED = {
    "vendor", "target", "grade", "si_value", "si_unit", "citation", "row_sha256", "document", "locator", "url", "read",
    "data_version", "data_date",
}  # fmt: skip
"""Columns of our own exports that say where a value is from; they are not compared."""
_MOST_FILES = 1000
_HEAD_BYTES = 16


def _read_csv(text: str, path: str) -> Iterator[ForeignRow]:
    reader = csv.DictReader(io.StringIO(text), strict=True)
    try:
        names = [name.strip().lower() for name in reader.fieldnames or ()]
        known = {*FIELDS, *_CARRIED, *AXES}
        strange = [name for name in names if name not in known]
        if strange or not {"platform", "metric", "value", "unit"} <= set(names) or len(set(names)) != len(names):
            fix = f"columns: platform, metric, value, unit, conditions, or an axis; found {', '.join(names)[:80]}"
            raise BadInput("the header is not that of a table of values", where=f"{path}:1", fix=fix, code="KB057")
        reader.fieldnames = names
        for fields in reader:
            where = f"{path}:{reader.line_num}"
            if None in fields or None in fields.values():
                raise BadInput("the row has not as many cells as the header", where=where, code="KB057")
            yield foreign_row(fields, where)
    except csv.Error as error:
        raise BadInput(f"not CSV: {error}", where=f"{path}:{reader.line_num}", code="KB057") from None


def _read_json(text: str, path: str) -> Iterator[ForeignRow]:
    try:
        data = json.loads(text, parse_float=str, parse_int=str)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not JSON: {error}", where=path, code="KB057") from None
    rows = data.get("rows") if isinstance(data, dict) else data
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadInput(
            "not a list of rows",
            where=path,
            fix='write [{"platform": …, "metric": …, "value": …, "unit": …}]',
            code="KB057",
        )
    for at, fields in enumerate(rows):
        conditions = fields.get("conditions")
        if conditions is not None and not isinstance(conditions, str | dict):
            raise BadInput("conditions are neither text nor an object", where=f"{path}:[{at}]", code="KB057")
        yield foreign_row(fields, f"{path}:[{at}]")


def read_foreign(path: Path) -> list[ForeignRow]:
    """Return the rows of a file of any known form, recognised by its content, or of all files of a folder.

    Raises:
        BadInput: A file can't be read, is too large, is of no form, or a row is malformed (`file:line`).
    """
    if path.is_dir():
        return _read_folder(path)

    if path.is_file():
        with open_input(path) as stream:
            head = stream.read(_HEAD_BYTES)
        binary = read_binary(head, path)
        if binary is not None:
            return binary
    text = read_words(path, MAX_BYTES)
    rows = read_text(text, str(path))
    if rows is None:
        rows = list((_read_json if text.lstrip()[:1] in {"[", "{"} else _read_csv)(text, str(path)))
    if not rows:
        raise BadInput("the table has no rows", where=str(path), code="KB057")
    return rows


def _read_folder(folder: Path) -> list[ForeignRow]:
    """Return the rows of a folder's files; links are not followed."""
    files = sorted(one for one in folder.iterdir() if one.is_file() and not one.is_symlink())
    if not files or len(files) > _MOST_FILES:
        what = f"the folder has {len(files)} files"
        raise BadInput(what, where=str(folder), fix="give the folder of an export", code="KB057")
    return [row for one in files for row in read_foreign(one)]

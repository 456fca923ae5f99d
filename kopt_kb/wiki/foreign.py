"""Foreign tables: somebody else's hardware values, read with their place: CSV, JSON and the forms of `peaks/`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

from kopt_kb.errors import BadInput
from kopt_kb.files import open_input, read_words
from kopt_kb.quantity.units import UNITS, unit
from kopt_kb.wiki.vocabulary import AXES, METRICS, Metric, metric

__all__ = ["MAX_BYTES", "ForeignRow", "foreign_row", "read_foreign"]

MAX_BYTES = 32 << 20
"""Larger files are refused."""
_FIELDS = ("platform", "metric", "value", "unit", "conditions")
_CARRIED = {
    "vendor", "target", "grade", "si_value", "si_unit", "citation", "row_sha256", "document", "locator", "url", "read",
    "data_version", "data_date",
}  # fmt: skip
"""Columns of our own exports that say where a value is from; they are not compared."""
_MOST_FILES = 1000
_HEAD_BYTES = 16
_BINARY = {"kB": "KiB", "MB": "MiB", "GB": "GiB", "TB": "TiB"}
_LARGEST_EXPONENT = 30


@dataclass(frozen=True, slots=True)
class ForeignRow:
    """One value of a foreign table.

    Attributes:
        platform: Product as the table names it.
        metric: Metric id of the vocabulary.
        axes: Conditions the table states.
        value: Number as printed.
        text: The number's text.
        where: `file:line`, or the table and its key.
    """

    platform: str
    metric: str
    axes: tuple[tuple[str, str], ...]
    value: Fraction
    unit: str
    text: str
    where: str

    @property
    def si(self) -> Fraction:
        """The value in base units; printed KB and MB of on-chip sizes are binary, as vendors mean them."""
        binary = METRICS[self.metric].binary and self.unit in _BINARY
        return self.value * UNITS[_BINARY[self.unit] if binary else self.unit].factor


def _number(text: str, where: str) -> Fraction:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        raise BadInput(
            f"{text[:40]!r} is not a number", where=where, fix="write one plain number", code="KB012"
        ) from None
    if not number.is_finite() or number < 0 or abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise BadInput(f"{text[:40]!r} is not a finite positive number", where=where, code="KB012")
    return Fraction(number)


def _axes(one: Metric, given: Mapping[str, str], where: str) -> tuple[tuple[str, str], ...]:
    allowed = (*one.axes, "scope", "config")
    for name, word in given.items():
        if name not in allowed:
            raise BadInput(
                f"{one.id} has no axis {name!r}", where=where, fix=f"its axes: {', '.join(allowed)}", code="KB021"
            )
        if AXES[name] and word not in AXES[name]:
            raise BadInput(
                f"{name}={word} is not in the vocabulary",
                where=where,
                fix=f"{name}: {', '.join(AXES[name])}",
                code="KB022",
            )
    return tuple((name, given[name]) for name in allowed if name in given)


def _key_axes(text: str, where: str) -> tuple[str, dict[str, str]]:
    name, _, rest = text.partition("[")
    return name, _pairs(rest.removesuffix("]"), where)


def _pairs(text: str, where: str) -> dict[str, str]:
    found = {}
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        axis, equals, word = part.partition("=")
        if not equals:
            raise BadInput(f"condition {part[:40]!r} is not axis=value", where=where, code="KB055")
        found[axis.strip()] = word.strip()
    return found


def foreign_row(fields: Mapping[str, object], where: str) -> ForeignRow:
    """Return the row in these fields: platform, metric (or key), value, unit, conditions, and axes by name.

    Raises:
        BadInput: A field is missing or not in the vocabulary; `where` is named.
    """
    lacking = [name for name in _FIELDS[:4] if not str(fields.get(name) or "").strip() and fields.get(name) != 0]
    if lacking:
        raise BadInput(
            f"the row lacks {', '.join(lacking)}", where=where, fix="give platform, metric, value, unit", code="KB057"
        )
    name, axes = _key_axes(str(fields["metric"]), where)
    try:
        one, symbol = metric(name), unit(str(fields["unit"]).strip())
    except BadInput as error:
        raise error.restated(where=where) from None
    if symbol.dimension != one.dimension:
        raise BadInput(
            f"{symbol.symbol} does not measure {one.id}", where=where, fix=f"dimension {one.dimension}", code="KB024"
        )
    stated = fields.get("conditions") or {}
    axes |= {str(k): str(v) for k, v in stated.items()} if isinstance(stated, Mapping) else _pairs(str(stated), where)
    axes |= {k: str(v).strip() for k, v in fields.items() if k in AXES and str(v or "").strip()}
    text = str(fields["value"]).strip()
    number = _number(text, where)
    return ForeignRow(
        str(fields["platform"]).strip(), one.id, _axes(one, axes, where), number, symbol.symbol, text, where
    )


def _read_csv(text: str, path: str) -> Iterator[ForeignRow]:
    reader = csv.DictReader(io.StringIO(text), strict=True)
    try:
        names = [name.strip().lower() for name in reader.fieldnames or ()]
        known = {*_FIELDS, *_CARRIED, *AXES}
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
    from kopt_kb.wiki.peaks.forms import read_binary, reader_of

    if path.is_file():
        with open_input(path) as stream:
            head = stream.read(_HEAD_BYTES)
        binary = read_binary(head, path)
        if binary is not None:
            return binary
    text = read_words(path, MAX_BYTES)
    read = reader_of(text) or (_read_json if text.lstrip()[:1] in {"[", "{"} else _read_csv)
    rows = list(read(text, str(path)))
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

"""Rows of a benchmark's CSV into seconds by shape, or the first reason why they can't be: file, row and column."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.project.bounded_read import UnreadableError, read_bounded
from kopt_kb.launch.project.file import Column, CsvFormat
from kopt_kb.problem.problem import Amounts
from kopt_kb.problem.shapes import format_shape, parse_shape
from kopt_kb.quantity.units import unit

__all__ = ["MAX_STEP", "CsvProblemError", "Rows", "read_rows", "read_shapes"]


MAX_STEP = Fraction(1, 100)
"""Largest step between two values a column can print, as a share of the value: gains of a few percent must show."""

MAX_BYTES = 16 << 20
"""A benchmark's CSV larger than this is not read."""

_NUMBER = re.compile(r"[+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE]([+-]?[0-9]+))?")
_MAX_CELL = 64
_MAX_EXPONENT = 30
_TIMES_S = (Fraction(1, 10**12), Fraction(10**6))
_MAX_REASON = 400


class CsvProblemError(BadInput):
    """A benchmark's CSV has no time for every shape: the candidate's score is 0."""

    code = "KB412"


@dataclass(frozen=True, slots=True)
class Rows:
    """A CSV that was read.

    Attributes:
        header: Its column names.
        times_s: Shape → seconds, in the order of the rows.
        steps_pct: Shape → step between two times the column can print, in percent of the time.
        forward_s: Shape → the forward pass's part, in seconds; empty where forward is all there is.
    """

    header: tuple[str, ...]
    times_s: dict[str, float]
    steps_pct: dict[str, float]
    forward_s: dict[str, float] = field(default_factory=dict)


def read_rows(
    path: Path,
    form: CsvFormat,
    *,
    shapes: Collection[str] | None,
    amounts: Mapping[str, Amounts],
    header: Sequence[str] | None,
    combined: bool,
) -> Rows:
    """Return the seconds of every shape.

    Args:
        path: The CSV.
        form: Its columns.
        shapes: Shapes that have to be there, no other one and each once; None: those that are there.
        amounts: Shape → pass → work, to turn rates into times; a shape without it needs a time column.
        header: The frozen header; None: it is not frozen yet, and only the needed columns have to be there.
        combined: Whether the time is that of forward and backward together.

    Raises:
        CsvProblemError: The first thing that is wrong, with file, row and column.
    """
    first, rows = _table(path, form, header)
    at = {name: first.index(name) for name in form.columns}
    times: dict[str, float] = {}
    steps: dict[str, float] = {}
    forward: dict[str, float] = {}
    for number, shape, cells in rows:
        if shapes is not None and shape not in shapes:
            raise _wrong(path, number, "", f"has shape {shape}, which was not asked for")
        times[shape], steps[shape], own = _seconds(path, number, form, cells, at, amounts.get(shape, {}), combined)
        if combined and form.backward is not None:
            forward[shape] = own
    missing = [one for one in shapes or () if one not in times]
    if missing or not times:
        raise _wrong(path, 0, "", f"has no row of {', '.join(missing) or 'any shape'}")
    return Rows(first, times, steps, forward)


def read_shapes(path: Path, form: CsvFormat) -> tuple[str, ...]:
    """Return the shapes of a CSV whose every row passed its check; raises `CsvProblemError` like `read_rows`."""
    shapes = tuple(shape for _, shape, _ in _table(path, form, None)[1])
    if not shapes:
        raise _wrong(path, 0, "", "has no row of any shape")
    return shapes


def _table(
    path: Path, form: CsvFormat, header: Sequence[str] | None
) -> tuple[tuple[str, ...], list[tuple[int, str, list[str]]]]:
    """Return the header, and line number, shape and cells of each row; each row is whole, single and passed."""
    lines = _lines(path)
    first = tuple(lines[0][1]) if lines else ()
    _check_header(path, first, form, header)
    at = {name: first.index(name) for name in form.columns}
    rows: list[tuple[int, str, list[str]]] = []
    for number, cells in lines[1:]:
        if len(cells) != len(first):
            raise _wrong(path, number, "", f"has {len(cells)} cells under a header of {len(first)}")
        shape = _shape(path, number, [cells[at[name]] for name in form.shape], form)
        if any(shape == one for _, one, _ in rows):
            raise _wrong(path, number, "", f"repeats shape {shape}")
        checked = cells[at[form.check]].strip()
        if checked != form.passing:
            raise _wrong(path, number, form.check, f"of {shape} is {checked!r}, not {form.passing!r}")
        rows.append((number, shape, cells))
    return first, rows


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    try:
        text = read_bounded(path, MAX_BYTES).decode("utf-8-sig")
        reader = csv.reader(text.splitlines(keepends=True), strict=True)
        return [(reader.line_num, cells) for cells in reader if any(one.strip() for one in cells)]
    except FileNotFoundError as error:
        raise _wrong(path, 0, "", "was not written") from error
    except UnreadableError as error:
        raise _wrong(path, 0, "", str(error)) from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise _wrong(path, 0, "", f"can't be read: {error}") from error


def _check_header(path: Path, first: tuple[str, ...], form: CsvFormat, frozen: Sequence[str] | None) -> None:
    if len(set(first)) < len(first):
        twice = next(one for one in first if first.count(one) > 1)
        raise _wrong(path, 1, twice, "is there twice")
    absent = [name for name in form.columns if name not in first]
    if frozen is not None and tuple(frozen) != first:
        new, gone = sorted({*first} - {*frozen}), sorted({*frozen} - {*first})
        parts = [f"lacks {', '.join(gone)}" if gone else "", f"adds {', '.join(new)}" if new else ""]
        how = " and ".join(filter(None, parts)) or "orders its columns in another way"
        raise _wrong(path, 1, "", f"drifted from the header frozen at the baseline: {how}")
    if absent:
        raise _wrong(path, 1, absent[0], f"is not in the header ({', '.join(first) or 'the file is empty'})")


def _shape(path: Path, number: int, cells: list[str], form: CsvFormat) -> str:
    if any(len(one) > _MAX_CELL for one in cells):
        raise _wrong(path, number, ", ".join(form.shape), f"is no shape: it has more than {_MAX_CELL} characters")
    try:
        return format_shape(parse_shape("x".join(one.strip() for one in cells)))
    except BadInput as error:
        raise _wrong(path, number, ", ".join(form.shape), f"is no shape: {error.what}") from error


def _seconds(
    path: Path,
    number: int,
    form: CsvFormat,
    cells: list[str],
    at: Mapping[str, int],
    amounts: Amounts,
    combined: bool,
) -> tuple[float, float, float]:
    """Return the seconds of a row, the step of what it prints in percent of them, and the forward pass's seconds."""
    total = steps = forward = Fraction(0)
    passes = {"forward": form.forward, **({"backward": form.backward} if combined and form.backward else {})}
    for name, column in passes.items():
        seconds, step = _time(path, number, column, cells[at[column.name]].strip(), amounts.get(name, {}))
        total, steps = total + seconds, steps + seconds * step
        forward = seconds if name == "forward" else forward
    return float(total), float(100 * steps / total), float(forward)


def _time(path: Path, number: int, column: Column, cell: str, amounts: Mapping[str, int]) -> tuple[Fraction, Fraction]:
    """Return one pass's seconds, exact, and the printed step as a share; a rate divides the operation's own count."""
    found = _NUMBER.fullmatch(cell) if len(cell) <= _MAX_CELL else None
    if len(cell) > _MAX_CELL:
        raise _wrong(path, number, column.name, f"has {len(cell)} characters; a number has at most {_MAX_CELL}")
    if found is None:
        raise _wrong(path, number, column.name, f"is {cell!r}, no number above zero")
    if abs(int(found[3] or 0)) > _MAX_EXPONENT:  # before Fraction, which would write all the zeros
        raise _wrong(path, number, column.name, f"is {cell!r}; exponents go from -{_MAX_EXPONENT} to {_MAX_EXPONENT}")
    value = Fraction(cell)
    if not value:
        raise _wrong(path, number, column.name, f"is {cell!r}, no number above zero")
    mantissa, _, exponent = cell.lower().partition("e")
    step = Fraction(10) ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    if step > MAX_STEP * value:
        share = float(100 * step / value)
        raise _wrong(
            path, number, column.name, f"is {cell!r}: it is printed in steps of {share:.0f} % of its value; "
            "print more digits, or name a rate or a finer time",
        )  # fmt: skip
    scale = unit(column.unit)
    if scale.dimension == "s":
        return _checked_s(path, number, column, cell, value * scale.factor), step / value
    amount = amounts.get({"op/s": "op", "B/s": "B"}[scale.dimension])
    if not amount:
        raise _wrong(path, number, column.name, f"is a rate in {column.unit}, and the operation counts no such work")
    return _checked_s(path, number, column, cell, amount / (value * scale.factor)), step / value


def _checked_s(path: Path, number: int, column: Column, cell: str, seconds: Fraction) -> Fraction:
    """Return a time that a kernel can take; any other is a mistake of the benchmark."""
    least, most = _TIMES_S
    if not least <= seconds <= most:
        what = f"is {cell!r}: that is {float(seconds):.3g} s, outside {float(least):g} s to {float(most):g} s"
        raise _wrong(path, number, column.name, what)
    return seconds


def _wrong(path: Path, number: int, column: str, what: str) -> CsvProblemError:
    row = f" row {number}" if number else ""
    what = " ".join(what.split())  # a quoted cell may hold newlines
    what = what if len(what) <= _MAX_REASON else f"{what[:_MAX_REASON]}…"
    return CsvProblemError(f"{path.name}{row}{f', column {column}' if column else ''} {what}")

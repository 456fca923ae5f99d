"""Kernels named by lines of words, in options and in files: FILE SHAPE DTYPE [NAME=VALUE …]."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_words
from kopt_kb.problem.shapes import Shape, parse_shape
from kopt_kb.problem.tuned_table import TunedRow, TunedTable

__all__ = ["CaseLine", "add_lines", "lines_of", "rows_of"]

_KEY = "{key}"


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One kernel with its problem, as `--case` or a line of `--cases` names it: FILE SHAPE DTYPE [NAME=VALUE …].

    Attributes:
        where: Where it was said, for messages.
    """

    file: str
    shape: str
    dtype: str
    config: tuple[str, ...]
    where: str


def add_lines(parser: argparse.ArgumentParser) -> None:
    """Declare --case and --cases."""
    parser.add_argument(
        "--case", metavar="'FILE SHAPE DTYPE [NAME=VALUE ...]'", action="append", default=[],
        help="a kernel of a folder; with a tuned table, {key} in SHAPE is the row's; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--cases", metavar="LIST", action="append", default=[],
        help="file of cases, one a line; # begins a comment; repeatable",
    )  # fmt: skip


def lines_of(given: Sequence[str], files: Sequence[str]) -> list[CaseLine]:
    """Return the kernels that options and a file name; `#` begins a comment.

    Raises:
        BadInput: A line has fewer than three words, or one behind them is not NAME=VALUE; with its place.
    """
    found = [_line(text, "--case") for text in given]
    for file in files:
        for number, text in enumerate(read_words(file).splitlines(), start=1):
            if words := text.partition("#")[0].strip():
                found.append(_line(words, f"{file}:{number}"))
    return found


def _line(text: str, where: str) -> CaseLine:
    words = text.split()
    if len(words) < 3 or any("=" not in one for one in words[3:]):
        fix = "such as 'kernels/softmax.py 8192x4096 bf16 num_warps=8'"
        raise BadInput(f"{text!r} is not FILE SHAPE DTYPE [NAME=VALUE …]", where=where, fix=fix, code="KB102")
    return CaseLine(words[0], words[1], words[2], tuple(words[3:]), where)


def rows_of(table: TunedTable, line: CaseLine) -> Iterator[tuple[TunedRow, Shape]]:
    """Yield the rows of a table with the shape that a line gives each.

    Raises:
        BadInput: The line's shape has no place for the key, or a key is no number.
    """
    if _KEY not in line.shape:
        fix = "such as {key}x4096x7168, where a row's key is the number of tokens"
        raise BadInput(f"{line.shape!r} has no {_KEY}", where=line.where, fix=fix, code="KB102")
    for row in table.rows:
        if not row.key.isdecimal():
            raise BadInput(f"row {row.key} is no number", where=f"{table.file}:{row.line}", code="KB116")
        yield row, parse_shape(line.shape.replace(_KEY, row.key))

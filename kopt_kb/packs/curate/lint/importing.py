"""Foreign wikis: which values of their Markdown pages and JSON records can be read as rows, and what of each file not.

A value of a page is read when it stands under a section, of one product, with one meaning and without a guess. A page
that names several products in one heading, or a number that says neither product nor metric, is named and not read.
A record of hardware facts is read by its members; numbers in the sentences of other JSON files are named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.packs.curate.differences import ForeignDifference, compare_row
from kopt_kb.packs.curate.lint.claims import Claim
from kopt_kb.packs.curate.lint.files import TextFile, texts
from kopt_kb.packs.curate.lint.lint import Linter
from kopt_kb.packs.curate.lint.records import is_record, read_record
from kopt_kb.packs.curate.lint.words import Meaning
from kopt_kb.quantity.units import UNITS, format_exact
from kopt_kb.wiki.foreign_row import ForeignRow
from kopt_kb.wiki.numbers import UNIT_WORDS, HardwareNumber, find_numbers
from kopt_kb.wiki.registry import Registry

__all__ = ["ForeignFile", "ForeignValue", "ForeignWiki", "read_foreign_wiki"]

REASONS = {
    "no-product": "nothing says of which product, or several are named",
    "no-meaning": "nothing says what it is",
    "several-meanings": "it can be several things",
    "guess": "it is a guess",
    "in-words": "it stands in a sentence of a record",
}
_BASE = {"op/s": "FLOP/s", "B/s": "B/s", "B": "B", "Hz": "Hz", "W": "W", "count": "count", "bit": "bit"}
_SAME = {"KB": "kB", "GBps": "GB/s", "TBps": "TB/s"}


@dataclass(frozen=True, slots=True)
class ForeignValue(Wire):
    """One value of a foreign wiki, as `kb wiki diff` reads it, and how it stands to ours."""

    WIRE: ClassVar = (
        "platform=row.platform", "metric=row.metric", "conditions=_conditions", "value=row.text", "unit=row.unit",
        "where=row.where", "state=compared.state",
    )  # fmt: skip
    row: ForeignRow
    compared: ForeignDifference

    @property
    def _conditions(self) -> dict[str, str]:
        return dict(self.row.axes)


@dataclass(frozen=True, slots=True)
class ForeignFile(Wire):
    """What was read of one file.

    Attributes:
        read: Values that were read.
        left: Why other numbers were not read, with the lines they stand on.
    """

    path: str
    read: int
    left: dict[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class ForeignWiki(Wire):
    """A foreign wiki: its values as a table, and its files."""

    WIRE: ClassVar = ("path", "counts=_counts", "rows", "files")
    path: str
    rows: tuple[ForeignValue, ...]
    files: tuple[ForeignFile, ...]

    @property
    def _counts(self) -> dict[str, int]:
        return dict(sorted(Counter(one.compared.state for one in self.rows).items()))


def read_foreign_wiki(registry: Registry, folder: Path) -> ForeignWiki:
    """Return what of a folder's Markdown pages and JSON records can be read; files without a number are left out.

    Raises:
        BadInput: It is no folder, or has neither.
    """
    if not folder.is_dir():
        raise BadInput("is no folder", where=str(folder), fix="name the folder of a wiki", code="KB110")
    linter, rows, files = Linter(registry), [], []
    pages = [one for one in texts([folder]) if isinstance(one, TextFile) and one.path.endswith((".md", ".json"))]
    if not pages:
        what = "has no Markdown page and no JSON record"
        raise BadInput(what, where=str(folder), fix="name the folder of a wiki", code="KB057")
    for page in pages:
        found, left = _record(linter, page) if page.path.endswith(".json") else _page(linter, page)
        rows += [ForeignValue(row, compare_row(registry, row)) for row in found]
        if found or left:
            files.append(ForeignFile(page.path, len(found), left))
    return ForeignWiki(str(folder), tuple(rows), tuple(files))


def _record(linter: Linter, page: TextFile) -> tuple[list[ForeignRow], dict[str, tuple[int, ...]]]:
    """Return what a JSON file's facts say as values; of any other the numbers are in sentences, or of no known form."""
    rows, left = read_record(linter.registry, page.path, page.text) if is_record(page.text) else ([], {})
    words = {number.line for number in find_numbers(page.text)}
    if words:
        left.setdefault("in-words", set()).update(words)
    return rows, {why: tuple(sorted(found)) for why, found in sorted(left.items())}


def _page(linter: Linter, page: TextFile) -> tuple[list[ForeignRow], dict[str, tuple[int, ...]]]:
    rows: list[ForeignRow] = []
    left: dict[str, set[int]] = {}
    claimed: set[tuple[int, int]] = set()
    for claim in linter.claims(page.path, page.text):
        claimed.add((claim.number.line, claim.number.start))
        why = _unclear(claim)
        if why:
            left.setdefault(why, set()).add(claim.number.line)
        else:
            rows += _rows(claim, page.path)
    lines = page.text.split("\n")
    for number in find_numbers(page.text):
        if (number.line, number.start) not in claimed:
            named = any(one.platforms for one in linter.names.mentions(lines[number.line - 1]))
            left.setdefault("no-meaning" if named else "no-product", set()).add(number.line)
    return rows, {why: tuple(sorted(found)) for why, found in sorted(left.items())}


def _unclear(claim: Claim) -> str:
    """Return why a claim is no row, empty when it is one."""
    if len(claim.platforms) != 1 or claim.named != claim.platforms:
        return "no-product"
    if claim.number.hedge:
        return "guess"
    return "several-meanings" if len({one.metric for one in claim.meanings}) > 1 else ""


def _rows(claim: Claim, path: str) -> Iterator[ForeignRow]:
    """Yield a row for each format that a claim names; of a family of formats (fp8, mxfp8) the plain one."""
    (platform,) = claim.platforms
    unit, value = _unit(claim.number)
    where = f"{path}:{claim.number.line}"
    seen: set[str] = set()
    for meaning in claim.meanings:
        plain = dict(meaning.axes).get("dtype", "").removeprefix("mx").removeprefix("nv")
        if plain not in seen:
            seen.add(plain)
            axes = tuple(_axes(meaning, claim).items())
            yield ForeignRow(platform, meaning.metric, axes, value, unit, format_exact(value), where)


def _axes(meaning: Meaning, claim: Claim) -> dict[str, str]:
    """Return the conditions that a claim states, with those that its words say of a clock or a power."""
    axes = {name: word for name, word in meaning.axes if name not in {"link", "class"}}
    if meaning.metric == "peak_compute":
        axes["sparsity"] = claim.sparsity or "dense"
    elif meaning.metric == "sm_clock":
        axes["class"] = next((word for word in ("boost", "base") if word in claim.words), "max")
    elif meaning.metric == "board_power" and "tdp" in claim.words:
        axes["kind"] = "tdp"
    return axes


def _unit(number: HardwareNumber) -> tuple[str, Fraction]:
    """Return the unit as our table spells it, and the value in it."""
    unit = _SAME.get(number.unit, number.unit)
    if unit in UNITS:
        return unit, number.value
    factor = UNIT_WORDS[number.unit][1][0] if number.unit in UNIT_WORDS else Fraction(1)
    return _BASE[number.dimension], number.value * factor

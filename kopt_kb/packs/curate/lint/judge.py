"""Claims held against the wiki: agreed, contradicted with the classes of error that fit, or not to be judged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from kopt_kb.base.wire import Wire
from kopt_kb.packs.curate.explain import CLASSES, Explanation, ForeignCase, explain
from kopt_kb.packs.curate.lint.claims import Claim
from kopt_kb.packs.curate.lint.words import Meaning
from kopt_kb.quantity.units import UNITS
from kopt_kb.wiki.foreign_row import ForeignRow
from kopt_kb.wiki.numbers import HardwareNumber
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.wiki.resolve import citation_of, reread
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import row_value
from kopt_kb.wiki.vocabulary import AXIS_DEFAULTS

__all__ = ["KINDS", "ClaimJudge", "TextFinding"]

TOLERANCE = Fraction(3, 100)
"""How far a printed number may stand from a row: sources round differently, and texts round once more."""

ClaimKind = Literal["contradicts", "hedged", "uncited", "unsourced"]
KINDS: dict[str, tuple[str, str]] = {
    "contradicts": ("error", "the wiki has another value for this product"),
    "hedged": ("warning", "a guess where a sourced value belongs"),
    "unsourced": ("note", "the wiki knows no source for this value"),
    "uncited": ("note", "the value agrees with the wiki, and no source stands beside it"),
}
"""Kind → level and meaning."""
_UNITS = {"op/s": "FLOP/s", "B/s": "B/s", "B": "B", "Hz": "Hz", "W": "W", "count": "count", "bit": "bit"}
_PLACES = {"gpu", "package", "superchip", "link"}
"""Scopes that the name of a product may mean: two GPUs of one module bear one name."""
_NAMES_ENGINE = re.compile(r"tensor|matrix|mfma|wmma|dense")
_DIES = {
    "xcd": ("xcd", "per die"),
    "gcd": ("gcd", "per die"),
    "die": ("per die", "each die"),
    "sm": ("per sm", "per cu", "/sm", "/cu"),
}


@dataclass(frozen=True, slots=True)
class TextFinding(Wire):
    """One thing about a number of a text.

    Attributes:
        kind: One of `KINDS`.
        class_: The most telling class of error of a contradiction, else empty.
        says: What the wiki says: value and citation; empty when it says nothing.
    """

    WIRE: ClassVar = (
        "path", "line", "column", "level", "kind", "class=class_", "text", "message", "platforms", "wiki=says",
        "classes",
    )  # fmt: skip
    path: str
    line: int
    column: int
    kind: str
    text: str
    message: str
    platforms: tuple[str, ...]
    class_: str = ""
    says: str = ""
    classes: tuple[Explanation, ...] = ()

    @property
    def level(self) -> str:
        """`error`, `warning` or `note`."""
        return KINDS[self.kind][0]


class ClaimJudge:
    """Judges claims; each product is read once."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._platforms: dict[str, Platform] = {}

    def judge(self, claim: Claim, path: str) -> Iterator[TextFinding]:
        """Yield what is to be said of a claim; nothing when the wiki can't tell."""
        named = [self._platform(name) for name in sorted(claim.named)]
        fitting = {str(one.id): self._rows(one, claim) for one in named}
        values = [(one, row) for one in named for row in fitting[one.id] if row.kind == "value"]
        agreed = [(one, row) for one, row in values if _agrees(claim.number, row)]
        own = [(one, row) for one, row in values if one.id in claim.platforms]
        if agreed:
            yield from self._agreed(claim, path, *agreed[0])
            return
        if any(_agrees(claim.number, row) for one in named for row in self._disputed(one, claim)):
            return
        if any(_agrees(claim.number, row) for one in named for row in _vector_rates(one, claim)):
            return
        if claim.bare and not (own and all(_exceeds(claim.number, row) for _, row in own)):
            return
        if own and all(any(platform.id == one.id for platform, _ in own) for one in named if one.id in claim.platforms):
            yield self._contradiction(claim, path, own)
        elif not own:
            yield from self._without(claim, path, [one for one in named if one.id in claim.platforms], fitting)

    def _platform(self, name: str) -> Platform:
        if name not in self._platforms:
            self._platforms[name] = self.registry.platform(name)
        return self._platforms[name]

    def _rows(self, platform: Platform, claim: Claim) -> list[Row]:
        """Return the rows that a claim can mean, dense ones unless the text says otherwise."""
        chosen = platform.sheet.chosen().values()
        return [row for row in chosen for one in claim.meanings if _can_be(row, one, claim)]

    def _disputed(self, platform: Platform, claim: Claim) -> list[Row]:
        """Return the rejected rows: a text with the losing side of a conflict follows a source."""
        rows = [row for row in platform.sheet.rows if row.chosen is False and row.kind == "value"]
        return [row for row in rows for one in claim.meanings if _can_be(row, one, claim)]

    def _agreed(self, claim: Claim, path: str, platform: Platform, row: Row) -> Iterator[TextFinding]:
        reread(platform.wiki, row)
        says = str(citation_of(row))
        if claim.number.hedge:
            message = f"{claim.number.text} is a guess ({claim.number.hedge!r}); the wiki has it"
            yield _finding(claim, path, "hedged", message, (platform.id,), says)
        elif not claim.cited:
            message = f"{claim.number.text} agrees with the wiki, without a source beside it"
            yield _finding(claim, path, "uncited", message, (platform.id,), says)

    def _contradiction(self, claim: Claim, path: str, own: list[tuple[Platform, Row]]) -> TextFinding:
        tried = []
        for platform in {one.id: one for one, _ in own}.values():
            rows = [row for one, row in own if one.id == platform.id]
            metric = next(one.metric for one in claim.meanings if any(row.metric == one.metric for row in rows))
            same = [row for row in rows if row.metric == metric]
            nearest = min(same, key=lambda row: abs(row_value(row) - _middle(claim.number)))
            tried.append((platform, nearest, self._explain(claim, platform, nearest)))
        platform, row, found = min(tried, key=lambda one: one[2][0].kind in {"unexplained", "close"})
        reread(platform.wiki, row)
        what = f"{claim.number.text} is not the {row.metric} of {', '.join(sorted(claim.platforms))}"
        message = f"{what}: the wiki has {row.value} {row.unit}; {CLASSES[found[0].kind]}"
        return _finding(claim, path, "contradicts", message, (platform.id,), str(citation_of(row)), found)

    def _explain(self, claim: Claim, platform: Platform, row: Row) -> tuple[Explanation, ...]:
        axes = dict(next(one for one in claim.meanings if _can_be(row, one, claim)).axes)
        wanted = {name: word for name, word in dict(row.axes).items() if name in {"acc", "clock", "ops", "class"}}
        wanted |= axes
        if row.metric == "peak_compute":
            wanted |= {"sparsity": claim.sparsity or "dense", "engine": dict(row.axes)["engine"]}
        unit = _UNITS[claim.number.dimension]
        value = _middle(claim.number)
        if claim.number.dimension == "B" and claim.number.unit in UNITS:
            unit = claim.number.unit
            value /= UNITS[unit].factor
        foreign = ForeignRow(platform.id, row.metric, tuple(wanted.items()), value, unit, claim.number.text, "")
        return explain(ForeignCase(platform.wiki, platform.identity, platform.sheet, foreign, wanted, row))

    def _without(
        self, claim: Claim, path: str, own: list[Platform], fitting: dict[str, list[Row]]
    ) -> Iterator[TextFinding]:
        rows = [row for one in own for row in fitting[one.id]]
        if rows and all(row.kind == "none" for row in rows) and all(fitting[one.id] for one in own):
            row = rows[0]
            lacks = Explanation("part-lacks-it", f"{row.key} is NONE: {row.note('reason')}")
            message = (
                f"{claim.number.text}: {', '.join(sorted(claim.platforms))} does not have it: {row.note('reason')}"
            )
            yield _finding(
                claim, path, "contradicts", message, tuple(one.id for one in own), str(citation_of(row)), (lacks,)
            )
        elif rows and all(row.kind == "unknown" for row in rows) and len(own) == 1:
            message = f"{claim.number.text}: the wiki has UNKNOWN for {rows[0].key}: {rows[0].note('reason')}"
            kind: ClaimKind = "hedged" if claim.number.hedge else "unsourced"
            yield _finding(claim, path, kind, message, (own[0].id,), str(citation_of(rows[0])))


def _vector_rates(platform: Platform, claim: Claim) -> list[Row]:
    """Return the rates of the vector lanes where a text names a 16-bit format and no engine: it may mean them."""
    formats = {dict(one.axes).get("dtype") for one in claim.meanings if one.metric == "peak_compute"}
    if not formats & {"fp16", "bf16"} or _NAMES_ENGINE.search(claim.words) or claim.sparsity == "2:4":
        return []
    rows = platform.sheet.chosen().values()
    return [
        row
        for row in rows
        if row.metric == "peak_compute" and row.kind == "value" and dict(row.axes)["engine"] == "vector"
    ]


def _finding(
    claim: Claim, path: str, kind: ClaimKind, message: str, platforms: tuple[str, ...], says: str,
    classes: tuple[Explanation, ...] = (),
) -> TextFinding:  # fmt: skip
    number = claim.number
    first = classes[0].kind if classes else ""
    return TextFinding(path, number.line, number.start + 1, kind, number.text, message, platforms, first, says, classes)


def _middle(number: HardwareNumber) -> Fraction:
    low, high = number.ranges[0]
    return (low + high) / 2


def _agrees(number: HardwareNumber, row: Row) -> bool:
    """Whether a number is a row's value as texts round; of a link texts print one direction or both."""
    si = row_value(row)
    slack = TOLERANCE * si if number.dimension not in {"count", "bit"} else Fraction(0)
    sides = (si, si / 2, si * 2) if row.metric in {"link_bandwidth", "host_bandwidth"} else (si,)
    return any(low - slack <= side <= high + slack for low, high in number.ranges for side in sides)


def _exceeds(number: HardwareNumber, row: Row) -> bool:
    """Whether a number is more than the part has, so that nobody can have measured it."""
    return number.ranges[0][0] > row_value(row) * (1 + TOLERANCE)


def _can_be(row: Row, meaning: Meaning, claim: Claim) -> bool:
    if row.metric != meaning.metric:
        return False
    have = {**AXIS_DEFAULTS, **dict(row.axes)}
    if any(name in have and not _same(name, have[name], word) for name, word in meaning.axes):
        return False
    if have["config"] == "full" or not _in_scope(have["scope"], claim.words):
        return False
    if row.metric != "peak_compute" or not (meaning.axes or claim.sparsity):
        return True  # without a format it may be any rate
    return have["sparsity"] == (claim.sparsity or "dense")


def _same(axis: str, have: str, word: str) -> bool:
    return have.startswith(word) if axis == "link" else have == word


def _in_scope(scope: str, words: str) -> bool:
    return scope in _PLACES or any(said in words for said in _DIES.get(scope, ()))

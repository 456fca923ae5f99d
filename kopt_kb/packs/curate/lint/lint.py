"""The lint of texts: lines to claims to findings, with comments that silence it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import ClassVar

from kopt_kb.base.wire import Wire
from kopt_kb.packs.curate.lint.claims import CITED, Claim, TextPlace, of_line
from kopt_kb.packs.curate.lint.files import Skipped, texts
from kopt_kb.packs.curate.lint.judge import ClaimJudge, TextFinding
from kopt_kb.packs.curate.lint.keyed import Keys
from kopt_kb.packs.curate.lint.lists import is_plain
from kopt_kb.packs.curate.lint.tables import TextTable
from kopt_kb.wiki.products import Mention, ProductNames
from kopt_kb.wiki.registry import Registry
from kopt_kb.wiki.tables import split_cells
from kopt_kb.wiki.version import DataVersion, data_version

__all__ = ["LEVELS", "Linter", "TextReport", "lint"]

_PROSE = {".md", ".mdc", ".mdx", ".rst", ".txt", ".tex", ".html", ".jinja", ""}
_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^(#{1,6})\s+(?P<title>.*?)\s*#*$")
_RULE = re.compile(r"^[\s|:-]+$")
_COMMENT = re.compile(r"(?:#|//|/\*|^\s*\*|^\s*\"\"\"|^\s*--)\s?(?P<text>.*)$")
_ARCHITECTURE = re.compile(r"Volta|Turing|Pascal|Ampere|Ada|Hopper|Blackwell|Rubin|(?:C|R)DNA\s?\d")
_CODE = re.compile(r"[=;{}\[\]]|\(\)|\w\(")
_IGNORE = re.compile(r"kb-lint:\s*ignore(?P<scope>-file|-next-line)?(?:[ \t]+(?P<classes>[a-z][a-z, -]*))?")
_LONGEST = 2000
"""Longer lines are data."""
LEVELS = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, slots=True)
class TextReport(Wire):
    """What the lint of some files found.

    Attributes:
        claims: Numbers that could be held against the wiki.
        skipped: Files that were not read.
    """

    WIRE: ClassVar = ("data", "files", "claims", "counts=_counts", "findings", "skipped")
    data: DataVersion
    files: int
    claims: int
    findings: tuple[TextFinding, ...]
    skipped: tuple[str, ...]

    @property
    def _counts(self) -> dict[str, int]:
        return dict(sorted(Counter(one.kind for one in self.findings).items()))


class Linter:
    """Lints texts against the wikis of a registry."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.names = ProductNames(registry)
        self.judge = ClaimJudge(registry)

    def claims(self, path: str, text: str) -> Iterator[Claim]:
        """Yield the claims of a text, in line order."""
        lines = text.split("\n")
        if PurePath(path).suffix.lower() in _PROSE:
            yield from self._markdown(lines)
        else:
            yield from self._code(lines, 1, TextPlace(headings=[PurePath(path).stem]))

    def findings(self, path: str, text: str) -> tuple[list[TextFinding], int]:
        """Return the findings on a text that no comment silences, and how many claims it has."""
        silenced, sourced = _Silenced(text), _sourced_lines(text)
        found, count, seen = [], 0, set()
        for claim in () if silenced.whole or not self.names.occur(text) else self.claims(path, text):
            spot = (claim.number.line, claim.number.start, claim.number.text)
            if spot in seen:
                continue
            seen.add(spot)
            count += 1
            if claim.number.line in sourced:
                claim = replace(claim, cited=True)  # noqa: PLW2901
            found += [one for one in self.judge.judge(claim, path) if not silenced.has(one)]
        return found, count

    def _code(self, lines: list[str], first: int, place: TextPlace) -> Iterator[Claim]:
        keys = Keys(self.names, place)
        for number, line in enumerate(lines, first):
            if len(line) > _LONGEST or not line.strip():
                continue
            yield from keys.line(line, number)
            comment = _COMMENT.search(line)
            prose = comment["text"] if comment else "" if _CODE.search(line) else line
            if prose:
                yield from (_moved(one, line.find(prose)) for one in of_line(prose, number, self.names, place))

    def _markdown(self, lines: list[str]) -> Iterator[Claim]:
        place, fence, inside = TextPlace(), "", 0
        titles: list[tuple[int, str]] = []
        table: TextTable | None = None
        for number, line in enumerate(lines, 1):
            mark = _FENCE.match(line)
            if fence:
                if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
                    yield from self._code(lines[inside : number - 1], inside + 1, place)
                    fence = ""
            elif mark:
                fence, inside, table = mark[1], number, None
            elif heading := _HEADING.match(line):
                titles = [one for one in titles if one[0] < len(heading[1])] + [(len(heading[1]), heading["title"])]
                place, table = self._place(titles), None
            elif len(line) <= _LONGEST:
                table, found = self._text(line, number, table, place, lines[number : number + 1])
                yield from found
                place = replace(place, before=line if line.strip() else "")

    def _text(
        self, line: str, number: int, table: TextTable | None, place: TextPlace, below: list[str]
    ) -> tuple[TextTable | None, Iterator[Claim]]:
        """Return the table that a line belongs to, and the claims of the line."""
        cells = split_cells(line)
        if cells is None:
            return None, of_line(line, number, self.names, place)
        if table is None and below and _RULE.match(below[0]) and "-" in below[0]:
            return TextTable(cells, self.names, place), iter(())
        if table is None or _RULE.match(line):
            return table, iter(())
        return table, table.row(cells, line, number)

    def _place(self, titles: list[tuple[int, str]]) -> TextPlace:
        for at, (_, title) in reversed(list(enumerate(titles))):
            mentions = self.names.mentions(title)
            if mentions:
                plain = all(is_plain(self.names.without(text)) for _, text in titles[at:])
                return TextPlace([text for _, text in titles], _titled(title, mentions), plain=plain)
        return TextPlace([text for _, text in titles])


_BELOW = 6
"""A source speaks for so many lines below it …"""
_HEAD = 15
"""… and for the whole file where it stands in so many of its first lines."""


def _sourced_lines(text: str) -> set[int] | range:
    """Return the lines that a source speaks for: it stands a few lines above, or at the head of the file."""
    lines = text.split("\n")
    if any(re.search(r"\bsources?:", line, re.IGNORECASE) for line in lines[:_HEAD]):
        return range(len(lines) + 1)
    cited = [number for number, line in enumerate(lines, 1) if CITED.search(line)]
    return {number + more for number in cited for more in range(_BELOW + 1)}


def _titled(title: str, mentions: list[Mention]) -> frozenset[str]:
    """Return the products that a title is about: `NVIDIA H20 (sm_90, Hopper)` is about the H20; of two it is none."""
    known = [one for one in mentions if one.platforms or not _ARCHITECTURE.fullmatch(title[one.start : one.end])]
    least = min((one.platforms for one in known), key=len, default=frozenset[str]())
    return least if all(least <= one.platforms for one in known) else frozenset()


def _moved(claim: Claim, columns: int) -> Claim:
    return replace(claim, number=replace(claim.number, start=claim.number.start + columns))


class _Silenced:
    """Lines and classes that `kb-lint: ignore` comments silence."""

    def __init__(self, text: str) -> None:
        self.whole = False
        self._lines: dict[int, frozenset[str]] = {}
        if "kb-lint:" not in text:
            return
        for number, line in enumerate(text.split("\n"), 1):
            match = _IGNORE.search(line)
            if match is None:
                continue
            classes = frozenset(re.findall(r"[a-z][a-z-]+", match["classes"] or ""))
            if match["scope"] == "-file" and not classes:
                self.whole = True
            self._lines[number + (match["scope"] == "-next-line")] = classes

    def has(self, finding: TextFinding) -> bool:
        """Whether a finding stands on a silenced line, under one of its classes where it names some."""
        classes = self._lines.get(finding.line)
        return classes is not None and (not classes or finding.class_ in classes or finding.kind in classes)


def lint(registry: Registry, paths: Iterable[Path], level: str = "warning") -> TextReport:
    """Return the findings of at least that level in files and folders.

    Args:
        registry: The wiki.
        paths: Files, and folders with all texts below.
        level: `error`, `warning` or `note`.
    """
    linter = Linter(registry)
    files, claims, skipped = 0, 0, []
    findings: list[TextFinding] = []
    for text in texts(paths):
        if isinstance(text, Skipped):
            skipped.append(f"{text.path}: {text.reason}")
            continue
        files += 1
        found, count = linter.findings(text.path, text.text)
        claims += count
        findings += [each for each in found if LEVELS[each.level] <= LEVELS[level]]
    return TextReport(data_version(registry.wikis), files, claims, tuple(findings), tuple(skipped))

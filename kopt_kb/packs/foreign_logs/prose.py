"""Rounds that are told in words: files of a round, sections, list items, messages of commits, single sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kopt_kb.packs.foreign_logs.names import is_metric, role_of
from kopt_kb.packs.foreign_logs.record import (
    ClaimedDecision,
    Field,
    ForeignRecord,
    LogForm,
    decision_in,
    round_in_path,
)
from kopt_kb.packs.foreign_logs.tree import COMMIT

__all__ = ["commit_records", "prose_records"]

_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ROUND_WORDS = re.compile(
    r"\b(?:round|iteration|iter|experiment|exp|attempt|session)[\s#_:-]*0*(\d{1,6})\b|\bR(\d{1,6})\b"
    r"|^\W*v(\d{1,4})\b",
    re.IGNORECASE,
)
_RESULTS_HEAD = re.compile(
    r"\b(?:baseline|current best|best (?:result|version|so far)|final (?:result|report|score"
    r"|performance))s?\W*(?:results?|numbers|performance)?\W*$",
    re.IGNORECASE,
)
_PLANS = re.compile(r"hypothes|shortlist|\bplan|\bnext\b|todo|\bto try\b", re.IGNORECASE)
_ITEM = re.compile(
    r"\s*[-*+]\s+[*_`\s]*(?:R|(?:round|iter(?:ation)?|experiment|attempt)[\s#-]*)0*(\d{1,6})\b[*_`]*\s*[:—–-]",
    re.IGNORECASE,
)
_N = r"\d[\d,]{0,15}(?:\.\d{1,20})?"
_UNIT = r"(?:\s*(?:x|×|%|pp\b|TFLOPS|GFLOPS|TB/s|GB/s|ms\b|us\b|µs\b|ns\b))?"
_ARROW = r"\s*[*`]*\s*(?:→|->|=>)\s*[*`]*\s*"
_RESULT = re.compile(
    rf"{_N}{_UNIT}{_ARROW}(?:R\d+\s+)?{_N}|[-+]?{_N}\s*(?:%|pp\b)|\b\d{1, 15}\.\d{1, 20}\s*[x×](?![\w\[])"
    rf"|{_N}\s*(?:TFLOPS|GB/s|TB/s|us\b|µs\b|ms\b)"
    r"|(?:score|ratio|geomean|speed-?up)\b[^\n=:]{0,40}[=:]\s*\**\d",
    re.IGNORECASE,
)
_METRIC = re.compile(
    r"\b(?P<name>\w{0,40}(?:score|ratio|geomean|speed_?up|tflops|latency|throughput))\b(?:\s*\([^)\n]{0,60}\))?"
    rf"\**\s*[=:]\s*[*`~]*\s*(?P<value>{_N})(?P<unit>{_UNIT})",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"(?:\b[\w-]+ ){0,3}$")
_STEP = re.compile(rf"(?<![\w.])(?:R(?P<a>\d+)\s+)?(?P<x>{_N}){_UNIT}{_ARROW}(?:R(?P<b>\d+)\s+)?(?P<y>{_N}){_UNIT}")
_NAME = re.compile(r"(?P<name>[A-Za-z][\w .-]*?)\s*[:=(]?\s*[*`]*\s*$")
_NAMED_WITHIN = 48
_DECIDES = re.compile(r"\W*(?:decision|status|verdict|outcome|result)\b|.*\b(?:decision|status)\**\s*:", re.IGNORECASE)
_FASTER = re.compile(
    rf"{_N}\s*[x×]\s*(?:speed-?up|faster|improvement)|speed-?up\b[^.\n|]{{0,40}}?{_N}\s*[x×]"
    rf"|{_N}\s*%\s*(?:faster|speed-?up|improvement|higher throughput)",
    re.IGNORECASE,
)
_LONGEST = 4000


def prose_records(file: str, text: str) -> Iterator[ForeignRecord]:
    """Yield the rounds that a text tells, and each sentence outside of them that claims a speed-up."""
    lines = [(number, line[:_LONGEST]) for number, line in enumerate(text.split("\n"), 1)]
    around = round_in_path(file)
    items = list(_items(file, lines, around))
    told = {number for record in items for number, _ in record.lines}
    yield from items
    for record in _sections(file, [one for one in lines if one[0] not in told], around):
        told.update(number for number, _ in record.lines)
        yield record
    for number, line in lines:
        if number not in told and not line.lstrip().startswith("|") and _FASTER.search(line):
            yield _made(file, "sentence", f"line {number}", None, [(number, line)])


def commit_records(name: str, text: str) -> Iterator[ForeignRecord]:
    """Yield the record that a commit's message is when it names a round or a speed-up, with a result."""
    lines = [(number, line[:_LONGEST]) for number, line in enumerate(text.split("\n"), 1)]
    number = _round_in(lines[0][1]) if lines else None
    steps = any(is_metric(name) for _, line in lines for _, name in _steps(line))
    if steps or _FASTER.search(text) or (number is not None and _METRIC.search(text)):
        label = f"round {number}" if number is not None else name.removeprefix(COMMIT)[:10]
        yield _made(name, "commit message", label, number, lines)


def _round_in(text: str) -> int | None:
    found = _ROUND_WORDS.search(text)
    return int(next(filter(None, found.groups()))) if found is not None else None


def _items(file: str, lines: Sequence[tuple[int, str]], around: int | None) -> Iterator[ForeignRecord]:
    """Yield list items that begin with a round other than the file's, with the lines that go on."""
    at = 0
    while at < len(lines):
        match = _ITEM.match(lines[at][1])
        end = at + 1
        if match is not None and int(match[1]) != around:
            while (
                end < len(lines)
                and lines[end][1].startswith("  ")
                and not lines[end][1].lstrip().startswith(("-", "*"))
            ):
                end += 1
            if _RESULT.search(" ".join(line for _, line in lines[at:end])):
                yield _made(file, "round notes", f"round {match[1]}", int(match[1]), lines[at:end])
        at = end


def _sections(file: str, lines: Sequence[tuple[int, str]], around: int | None) -> Iterator[ForeignRecord]:
    """Yield the file as one round when its path names one, else each section whose heading does."""
    if around is not None:
        if any(_RESULT.search(line) for _, line in lines):
            yield _made(file, "round notes", f"round {around}", around, lines)
        return
    heads = [(at, found) for at, (_, line) in enumerate(lines) if (found := _HEADING.match(line)) is not None]
    covered = 0
    for at, found in heads:
        number = _round_in(found[2])
        if at < covered or (number is None and (not _RESULTS_HEAD.search(found[2]) or _PLANS.search(found[2]))):
            continue
        ends = (later for later, other in heads if later > at and len(other[1]) <= len(found[1]))
        covered = next(ends, len(lines))
        if any(_RESULT.search(line) for _, line in lines[at:covered]):
            label = f"round {number}" if number is not None else " ".join(found[2].split())[:80].casefold()
            yield _made(file, "round notes", label, number, lines[at:covered])


def _made(file: str, form: LogForm, label: str, number: int | None, lines: Sequence[tuple[int, str]]) -> ForeignRecord:
    return ForeignRecord(
        file, lines[0][0], form, label, number, "", _decision(file, lines), tuple(_fields(lines, number)), tuple(lines)
    )


def _decision(file: str, lines: Sequence[tuple[int, str]]) -> ClaimedDecision:
    """Return what a round decided: by a line about it and those behind, else by its heading or file."""
    said = []
    for at, (_, line) in enumerate(lines):
        if _DECIDES.match(line):
            below = [text for _, text in lines[at + 1 : at + 3]] if line.lstrip().startswith("#") else []
            said += [line, *below]
    found = decision_in(said)
    if found == "unstated":
        found = decision_in([lines[0][1], file.replace("-", " ").replace("_", " ")])
    return found


def _fields(lines: Sequence[tuple[int, str]], number: int | None) -> Iterator[Field]:
    """Yield the metrics and the steps (from, to) that lines print; a table's cells are no sentences."""
    for line, text in lines:
        if text.lstrip().startswith("|"):
            continue
        for found in _METRIC.finditer(text):
            before = _BEFORE.search(text[max(0, found.start() - _NAMED_WITHIN) : found.start()])
            name = f"{before[0] if before is not None else ''}{found['name']}".strip()
            yield Field(role_of(name), name, found["value"] + found["unit"].strip(), line)
        for found, name in _steps(text):
            before_round = int(found["a"]) if found["a"] else None
            yield Field("from", name, found["x"], line, before_round)
            yield Field("to", name, found["y"], line, int(found["b"]) if found["b"] else number)


def _steps(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each pair of numbers with an arrow between them, and the words that stand before it."""
    for found in _STEP.finditer(text) if "→" in text or ">" in text else ():
        before = _NAME.search(text[max(0, found.start() - _NAMED_WITHIN) : found.start()])
        if before is not None:
            yield found, " ".join(before["name"].split())

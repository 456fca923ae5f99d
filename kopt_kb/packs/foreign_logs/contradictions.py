"""Claims of a log that can't all be true: of each other, or in themselves."""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kopt_kb.packs.foreign_logs.names import is_metric, plain_name, seconds_in, unit_of
from kopt_kb.packs.foreign_logs.record import Field, ForeignRecord, campaign_of, round_in_path, tolerance
from kopt_kb.packs.foreign_logs.tables import LogTable
from kopt_kb.workspace.audit.findings import AuditFinding

__all__ = ["contradictions"]

_QUALIFIERS = re.compile(
    r"(?:^|_)(?:best|verified|benchmark|reported|final|patch|tested|measured|full|round|our|new)(?=_|$)"
)
_TREND = re.compile(r"trend|history|leaderboard|results\.(?:tsv|csv)$", re.IGNORECASE)
_COUNT = re.compile(
    r"(?:n_pass[^|\n]{0,30}?|(?:pass\w*|correct\w*|shapes?)\D{0,20}?)\b(\d{1,5})\s*/\s*(\d{1,5})\b"
    r"|\b(\d{1,5})\s*/\s*(\d{1,5})\b\s*(?:pass|shapes?|correct|\(all)",
    re.IGNORECASE,
)
_OMITTED = re.compile(r"\bother\b|omitted|\.\.\.|…", re.IGNORECASE)
_BEST = re.compile(r"(?:^|[\W_])(?:best|final)(?=$|[\W_])")
_OF_ALL = -1
"""Stands for the round of what is said of the best version."""
_MEASURE = "measure both again and keep the run"
_RELATIVE = 0.01


def contradictions(records: Sequence[ForeignRecord], tables: Sequence[LogTable]) -> Iterator[AuditFinding]:
    """Yield every contradiction."""
    claims = [one for one in records if not one.of_round]
    yield from _arithmetic(records)
    yield from _shares(records)
    yield from _accepted_wrong(claims)
    yield from _silent_spread(tables)
    yield from _aggregates(records, tables)
    for campaign, here in _by_campaign(claims).items():
        tables_here = [one for one in tables if campaign_of(one.file) == campaign]
        yield from _trend(here, tables_here)
        yield from _gaps(here)
        if (mixed := _mixed(here)) is not None:
            yield mixed
            continue
        yield from _two_numbers(here)
        yield from _scope(here)
        yield from _chain(here)
        yield from _product(here)


def _by_campaign(records: Iterable[ForeignRecord]) -> dict[str, list[ForeignRecord]]:
    found: dict[str, list[ForeignRecord]] = defaultdict(list)
    for one in records:
        found[campaign_of(one.file)].append(one)
    return found


# ---- inside one record ---------------------------------------------------------------------------


def _arithmetic(records: Iterable[ForeignRecord]) -> Iterator[AuditFinding]:
    """Find a speed-up that is not the quotient of the two times beside it."""
    for record in records:
        befores, times = list(record.of("baseline time")), list(record.of("time"))
        for claimed in record.of("speedup"):
            before, after = _sides(claimed, befores, times)
            if (
                before is None
                or after is None
                or claimed.value is None
                or "%" in claimed.text
                or "pct" in plain_name(claimed.name)
            ):
                continue
            a, b = _seconds(before), _seconds(after)
            if not a or not b or math.isnan(a) or math.isnan(b):
                continue
            slack = tolerance(claimed.text) + claimed.value * _RELATIVE
            if abs(a / b - claimed.value) > slack:
                what = f"{record.label}: {claimed.name} {claimed.text} is said, its times give {a / b:.4g}"
                yield AuditFinding("arithmetic", record.file, claimed.line, what, "say which times the speed-up is of")


def _seconds(field: Field) -> float | None:
    return seconds_in(field.value, field.name) if field.value is not None else None


def _sides(claimed: Field, befores: Sequence[Field], times: Sequence[Field]) -> tuple[Field | None, Field | None]:
    """Return the two times that a speed-up is of; None where names leave a choice."""
    words = set(plain_name(claimed.name).split("_")) - {"speedup", "speed", "up", "x", "vs", "over", "cuda"}
    named = [one for one in befores if words & set(plain_name(one.name).split("_"))]
    chosen = named if len(named) == 1 else befores
    one_time = [one for one in times if unit_of(one.name) == unit_of(chosen[0].name)] if len(chosen) == 1 else []
    return (chosen[0], one_time[0]) if len(one_time) == 1 else (None, None)


def _shares(records: Iterable[ForeignRecord]) -> Iterator[AuditFinding]:
    """Find a share of a peak above all of it."""
    for record in records:
        for one in record.of("share"):
            percent = "%" in one.text or re.search(r"pct|percent", plain_name(one.name)) is not None
            if one.value is not None and percent and one.value > 100 + tolerance(one.text):
                what = f"{record.label}: {one.name} {one.text} is above the peak that it is a share of"
                yield AuditFinding(
                    "above-peak",
                    record.file,
                    one.line,
                    what,
                    "name the peak and its source; the work or the time is wrong",
                )


def _accepted_wrong(records: Iterable[ForeignRecord]) -> Iterator[AuditFinding]:
    for record in records:
        for one in record.of("check"):
            if record.decision == "accepted" and re.search(
                r"\bfail(?:ed)?\b|\bfalse\b|\bincorrect\b", one.text, re.IGNORECASE
            ):
                what = f"{record.label} is accepted, though {one.name} says {one.text.strip()}"
                yield AuditFinding("accepted-wrong", record.file, one.line, what, "take it back")
                break


def _silent_spread(tables: Iterable[LogTable]) -> Iterator[AuditFinding]:
    """Find a spread that is 0 in every row: nothing was repeated, whatever the column says."""
    for table in tables:
        for at, role in enumerate(table.roles):
            cells = [Field(role, "", cells[at], line).value for line, cells in table.rows]
            numbers = [one for one in cells if one is not None and not math.isnan(one)]
            if role == "spread" and len(numbers) > 1 and not any(numbers):
                what = f"{table.header[at]} is 0 in all {len(numbers)} rows: each was measured once"
                yield AuditFinding(
                    "zero-spread", table.file, table.line, what, "repeat the measurement and print its spread"
                )


def _aggregates(records: Sequence[ForeignRecord], tables: Iterable[LogTable]) -> Iterator[AuditFinding]:
    """Find a geometric mean that its own table does not give."""
    for table in tables:
        ratio = [at for at, name in enumerate(table.header) if plain_name(name) in {"ratio", "speedup"}]
        if len(ratio) != 1 or any(_OMITTED.search(cell) for _, cells in table.rows for cell in cells[:1]):
            continue
        values = [Field("score", "", cells[ratio[0]], line).value for line, cells in table.rows]
        numbers = [one for one in values if one is not None and one > 0]
        if len(numbers) < 3 or len(numbers) != len(values):
            continue
        mean = math.exp(sum(map(math.log, numbers)) / len(numbers))
        for record in (one for one in records if one.file == table.file and one.lines):
            for field in record.of("score", "speedup"):
                line = next((text for number, text in record.lines if number == field.line), "")
                about_all = (
                    "geomean" in line.casefold() and table.line < field.line and re.search(rf"\b{len(numbers)}\b", line)
                )
                if (
                    about_all
                    and field.value is not None
                    and abs(field.value - mean) > tolerance(field.text) + mean * 1e-3
                ):
                    what = (
                        f"{field.name} {field.text} is said of {len(numbers)} rows, their geometric mean is {mean:.4f}"
                    )
                    yield AuditFinding("aggregate", table.file, field.line, what, "say which rows it is of")


# ---- between the records of one campaign ---------------------------------------------------------


def _mixed(records: Sequence[ForeignRecord]) -> AuditFinding | None:
    """Return a finding where one number is of several rounds: then nothing says which of them are one campaign."""
    named: dict[tuple[int, str], dict[str, ForeignRecord]] = defaultdict(dict)
    for record in records:
        parts = record.file.split("/")
        at = next((at for at in reversed(range(len(parts))) if round_in_path(parts[at]) is not None), None)
        if at is not None and record.round is not None and round_in_path(parts[at]) == record.round:
            named[record.round, "/".join(parts[:at])].setdefault(parts[at], record)
    several = {number: found for (number, _), found in named.items() if len(found) > 1}
    if not several:
        return None
    first = next(iter(several[min(several)].values()))
    what = f"{len(several)} numbers are of several rounds each, first {min(several)}: rounds here were not compared"
    return AuditFinding("mixed-rounds", first.file, first.line, what, "give each campaign a folder of its own")


def _trend(records: Sequence[ForeignRecord], tables: Iterable[LogTable]) -> Iterator[AuditFinding]:
    """Find rounds that have a result of their own and no row in the campaign's table of rounds."""
    for table in tables:
        rows = [one for one in records if one.file == table.file and one.line in {line for line, _ in table.rows}]
        rounds = {one.round for one in rows if one.round is not None}
        if not rounds or "round" not in table.roles or not _TREND.search(table.file):
            continue
        told = {one.round: one for one in records if one.round is not None and one.form == "round notes"}
        last = table.rows[-1][0]
        for number in sorted(told.keys() - rounds):
            what = f"round {number} has a result at {told[number].place} and no row in this table of rounds"
            yield AuditFinding("trend-missing", table.file, last, what, "add the row")
        filed = any(round_in_path(one.file) is not None for one in told.values())
        for number in sorted(rounds - told.keys()) if filed else ():
            row = next(one for one in rows if one.round == number)
            yield AuditFinding(
                "round-missing", row.file, row.line, f"round {number} has a row and no notes", "add its notes"
            )


def _gaps(records: Sequence[ForeignRecord]) -> Iterator[AuditFinding]:
    """Find numbers of rounds that nothing is said of: failures use up numbers, and belong into the log."""
    numbered = sorted({one.round for one in records if one.round is not None})
    if len(numbered) < 2 or numbered[-1] - numbered[0] > 10_000:
        return
    missing = sorted(set(range(numbered[0], numbered[-1] + 1)) - set(numbered))
    if missing:
        last = next(one for one in records if one.round == numbered[-1])
        span = f"of rounds {numbered[0]} to {numbered[-1]}"
        what = f"{span}, {_ranges(missing)} ({len(missing)}) have no result of their own"
        yield AuditFinding(
            "rounds-unaccounted", last.file, last.line, what, "keep a record of every attempt, also of failures"
        )


def _ranges(numbers: Sequence[int]) -> str:
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    words = [str(a) if a == b else f"{a}-{b}" for a, b in spans]
    return ", ".join(words[:12]) + (", …" if len(words) > 12 else "")


def _metric(name: str) -> str:
    """Return what a metric is called without words that only say where it comes from."""
    return _QUALIFIERS.sub("", plain_name(name)).strip("_")


def _two_numbers(records: Sequence[ForeignRecord]) -> Iterator[AuditFinding]:
    """Find one metric of one round (and item) with two values that no rounding makes equal."""
    said: dict[tuple[str, int, str], list[tuple[ForeignRecord, Field]]] = defaultdict(list)
    for record in records:
        for one in record.of("score", "speedup", "cumulative", "from", "to"):
            number = one.round if one.round is not None else record.round
            if number is None and _BEST.search(f"{record.label} {plain_name(one.name)}"):
                number = _OF_ALL
            if number is None or one.value is None or (one.role == "from" and one.round is None):
                continue
            item = record.item if record.form in {"csv", "tsv", "markdown table"} else ""
            name = _metric(one.name)
            if one.role in {"from", "to"} and not is_metric(name):
                continue
            said[name, number, item].append((record, one))
    for (_, number, item), found in said.items():
        plain = [pair for pair in found if _one_value(pair[0], found) or pair[0].form == "json"]
        for record, one in plain[1:]:
            first_record, first = plain[0]
            a, b = first.value, one.value
            if a is None or b is None or _same(a, b, first.text, one.text):
                continue
            of = f" of {item}" if item else ""
            of = f"round {number}{of}" if number != _OF_ALL else f"the best version{of}"
            what = (
                f"{one.name} of {of} is {one.text} here, {first.name} {first.text} at {first_record.file}:{first.line}"
            )
            yield AuditFinding("two-numbers", record.file, one.line, what, _MEASURE)
            break


def _one_value(record: ForeignRecord, found: Sequence[tuple[ForeignRecord, Field]]) -> bool:
    """Whether a record says one value for a metric; a list of several is of different things, whatever they are."""
    return len({field.text for one, field in found if one is record}) == 1


def _same(a: float, b: float, *texts: str) -> bool:
    return abs(a - b) <= tolerance(*texts) * 1.001


def _scope(records: Sequence[ForeignRecord]) -> Iterator[AuditFinding]:
    """Find rounds of one campaign that were judged on another number of cases."""
    before: tuple[int, ForeignRecord] | None = None
    for record in sorted(
        (one for one in records if one.round is not None and one.lines), key=lambda one: one.round or 0
    ):
        counts = [found for _, text in record.lines for found in _COUNT.finditer(text)]
        totals = {int(found[2] or found[4]) for found in counts}
        if not totals:
            continue
        total = max(totals)
        if before is not None and before[0] != total:
            what = f"{record.label} was judged on {total} cases, {before[1].label} on {before[0]} ({before[1].place})"
            yield AuditFinding("scope-changed", record.file, record.line, what, "judge both on the same cases")
        before = total, record


def _chain(records: Sequence[ForeignRecord]) -> Iterator[AuditFinding]:
    """Find a step that does not begin where the one before it ended."""
    steps: dict[str, list[tuple[int, ForeignRecord, Field, Field]]] = defaultdict(list)
    for record in records:
        ends = list(record.of("from", "to"))
        for start, end in zip(ends[::2], ends[1::2], strict=True):
            own = (
                record.round is not None
                and record.decision != "rejected"
                and start.round is None
                and end.round == record.round
            )
            if own and record.round is not None and is_metric(start.name):
                steps[_metric(start.name)].append((record.round, record, start, end))
    for name, found in steps.items():
        found.sort(key=lambda one: one[0])
        for (_, early, _, ended), (_, late, began, _) in itertools.pairwise(found):
            if early.round == late.round or ended.value is None or began.value is None:
                continue
            if not _same(ended.value, began.value, ended.text, began.text):
                ended_at = f"{early.label} ended at {ended.text} ({early.file}:{ended.line})"
                what = f"{name} of {late.label} starts from {began.text}, {ended_at}"
                yield AuditFinding("broken-chain", late.file, began.line, what, _MEASURE)


def _product(records: Sequence[ForeignRecord]) -> Iterator[AuditFinding]:
    """Find a total that the accepted steps before it do not multiply to."""
    total = 1.0
    for record in records:
        step = next(
            (
                one
                for one in record.of("speedup")
                if re.search(r"step|actual|round|prev|increment", plain_name(one.name))
            ),
            None,
        )
        said = record.first("cumulative")
        if step is None or step.value is None or record.decision == "rejected":
            continue
        total *= step.value
        if said is None or said.value is None:
            continue
        if abs(said.value - total) > tolerance(said.text) + total * _RELATIVE:
            what = f"{record.label}: {said.name} {said.text} is said, the accepted steps multiply to {total:.4g}"
            yield AuditFinding("product", record.file, said.line, what, "say which steps the total is of")
        total = said.value

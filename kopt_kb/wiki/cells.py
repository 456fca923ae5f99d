"""Cells to typed rows: conditions, sources, notes, values, each fault with its code."""

from __future__ import annotations

import re

from kopt_kb.base.errors import BadInput
from kopt_kb.quantity.units import parse_number, unit
from kopt_kb.wiki.quotes import quote_supports, twice_printed
from kopt_kb.wiki.row import Row, Source, row_hash
from kopt_kb.wiki.vocabulary import AXES, AXIS_DEFAULTS, INT_DTYPES, METRICS, Metric, canonical_key

__all__ = ["MAX_QUOTE", "CellFault", "parse_row"]

GRADES = ("vendor", "device", "measured", "threshold", "secondary", "derived")
TAGS = ("reason", "formula", "exception", "chosen", "rejected", "method")
_SOURCE = re.compile(
    r"\[\^(?P<id>[A-Za-z0-9_.\-]+)\]\s*(?P<locator>[^;\"]*?)(?:\s*quote=\"(?P<quote>(?:[^\"\\]|\\.)*)\")?\s*"
)
_FREE_AXIS = re.compile(r"[A-Za-z0-9_.\-]+")
MAX_QUOTE = 60


class CellFault(Exception):
    """A fault of one row: code, message, fix."""

    def __init__(self, code: str, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.fix = code, message, fix


def _parse_conditions(text: str, metric: Metric) -> dict[str, str]:
    allowed = [*metric.axes, *AXIS_DEFAULTS]
    axes: dict[str, str] = {}
    if text != "-":
        for part in text.split(";"):
            name, equals, value = part.strip().partition("=")
            if not equals or name not in allowed:
                raise CellFault(
                    "WK204", f"{metric.id} has no condition {part.strip()!r}", f"its axes: {', '.join(allowed)}"
                )
            if name in axes:
                raise CellFault("WK204", f"condition {name} stands twice")
            _check_axis(name, value)
            axes[name] = value
    missing = [name for name in metric.axes if name not in axes]
    if missing:
        raise CellFault(
            "WK204",
            f"{metric.id} needs {', '.join(missing)}",
            "write every required axis, `unstated` if the sheet is silent",
        )
    if list(axes) != [name for name in allowed if name in axes]:
        raise CellFault("WK204", "conditions are out of order", f"order: {'; '.join(allowed)}")
    return {name: value for name, value in axes.items() if AXIS_DEFAULTS.get(name) != value}


def _check_axis(name: str, value: str) -> None:
    allowed = AXES[name]
    if (allowed and value not in allowed) or not (allowed or _FREE_AXIS.fullmatch(value)):
        listed = ", ".join(allowed) if allowed else "letters, digits, _ . -"
        raise CellFault("WK204", f"{name}={value} is not in the vocabulary", f"{name}: {listed}")


def _split_outside_quotes(text: str) -> list[str]:
    parts, depth, start, quoted = [], 0, 0, False
    for at, char in enumerate(text):
        if char == '"' and text[at - 1 : at] != "\\":
            quoted = not quoted
        elif not quoted and char in "[(":
            depth += 1
        elif not quoted and char in "])":
            depth -= 1
        elif char == ";" and not quoted and depth <= 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def _parse_sources(text: str, footnotes: set[str]) -> tuple[Source, ...]:
    if text in {"", "-"}:
        return ()
    found = []
    for part in _split_outside_quotes(text):
        match = _SOURCE.fullmatch(part)
        if match is None or not match["locator"]:
            raise CellFault("WK206", f"malformed source {part[:60]!r}", 'write [^id] locator quote="…"')
        if match["id"] not in footnotes:
            raise CellFault(
                "WK207",
                f"footnote [^{match['id']}] is not defined on this page",
                "define it or correct the id",
            )
        quote = (match["quote"] or "").replace('\\"', '"')
        if len(quote) > MAX_QUOTE:
            raise CellFault("WK206", f"quote of {len(quote)} characters", f"quote the cell, at most {MAX_QUOTE}")
        found.append(Source(match["id"], match["locator"], quote))
    return tuple(found)


def _parse_notes(text: str) -> tuple[tuple[str, str], ...]:
    notes = []
    for part in _split_outside_quotes(text):
        head, colon, body = part.partition(":")
        tag, _, rule = head.strip().partition(" ")
        if not colon or tag not in TAGS or not body.strip():
            raise CellFault("WK209", f"malformed note {part[:60]!r}", f"write `tag: text`, tags: {', '.join(TAGS)}")
        if (tag == "exception") != bool(rule):
            raise CellFault("WK209", f"malformed note {head!r}", "write `exception RULE-ID: VALUE, why`")
        notes.append((tag, f"{rule.strip()}: {body.strip()}" if rule else body.strip()))
    return tuple(notes)


def _parse_value(text: str, symbol: str, metric: Metric, dtype: str) -> str:
    """Return the row's kind after checking value and unit against the metric."""
    try:
        known = unit(symbol)
    except BadInput as error:
        raise CellFault("WK203", error.what, error.fix) from None
    if known.dimension != metric.dimension:
        raise CellFault("WK203", f"{symbol} does not measure {metric.id}", f"its dimension is {metric.dimension}")
    if metric.dimension == "op/s" and known.symbol.endswith("FLOPS") == (dtype in INT_DTYPES):
        raise CellFault("WK203", f"{symbol} does not fit dtype={dtype}", "FLOPS for float types, OPS for integer types")
    if text in {"UNKNOWN", "NONE"}:
        return text.lower()
    if metric.dimension == "token":
        if metric.tokens and text not in metric.tokens:
            raise CellFault("WK202", f"{text!r} is not a token of {metric.id}", f"tokens: {', '.join(metric.tokens)}")
        return "token"
    try:
        number = parse_number(text)
    except BadInput as error:
        raise CellFault("WK202", error.what, "one number as printed: no ~, range, comma or 'up to'") from None
    if number == 0:
        raise CellFault("WK202", f"{metric.id} of 0", "a part that lacks it has a NONE row")
    return "value"


def _check_grade(grade: str, kind: str, metric: Metric) -> None:
    if kind == "unknown":
        if grade != "-":
            raise CellFault("WK205", f"grade {grade!r} on an UNKNOWN row", "write -")
    elif grade not in GRADES:
        raise CellFault("WK205", f"unknown grade {grade!r}", f"grades: {', '.join(GRADES)}")
    elif (grade == "threshold") != (metric.id == "acceptance_compute"):
        raise CellFault(
            "WK205",
            f"grade {grade} on {metric.id}",
            "pass limits, and only they, are acceptance_compute rows of grade threshold",
        )
    elif metric.id.startswith("measured_") and grade == "vendor":
        fix = "grade it measured or device, or secondary if others measured it, a vendor too"
        raise CellFault("WK205", f"grade vendor on {metric.id}: no sheet promises it", fix)


def _check_evidence(kind: str, grade: str, sources: tuple[Source, ...], tags: set[str]) -> None:
    needs_reason = kind in {"unknown", "none"}
    if needs_reason and "reason" not in tags:
        raise CellFault("WK209", f"{kind.upper()} without `reason:`", "say why nobody knows, or why the part lacks it")
    if grade == "derived":
        if "formula" not in tags:
            raise CellFault("WK209", "derived row without `formula:`")
    elif kind != "unknown" and not sources:
        raise CellFault("WK206", "the row has no source", "cite the document it is printed in, or write UNKNOWN")
    if "formula" in tags and grade != "derived":
        raise CellFault("WK209", f"`formula:` on a row of grade {grade}", "only derived rows have one")


def _check_quotes(value: str, symbol: str, metric: Metric, sources: tuple[Source, ...]) -> None:
    for source in sources:
        if not source.quote:
            raise CellFault("WK206", f"source [^{source.id}] has no quote", 'add quote="the printed cell"')
        if not quote_supports(source.quote, value, symbol, metric):
            raise CellFault(
                "WK208",
                f'quote="{source.quote}" does not convert to {value} {symbol}',
                "read the document again",
            )
        if twice := twice_printed(source.quote):
            raise CellFault("WK208", f'quote="{source.quote}": {twice}', "read the document again")


def parse_row(cells: list[str], path: str, line: int, heading: str, footnotes: set[str]) -> Row:
    """Return the typed row of seven cells; raises `CellFault` with the first thing wrong."""
    name, value, symbol, conditions, grade, source, note = cells
    one = METRICS.get(name)
    if one is None:
        raise CellFault(
            "WK201",
            f"metric {name!r} is not in the vocabulary",
            "add it to the vocabulary first, with its axes",
        )
    axes = _parse_conditions(conditions, one)
    kind = _parse_value(value, symbol, one, axes.get("dtype", ""))
    _check_grade(grade, kind, one)
    sources = _parse_sources(source, footnotes)
    notes = _parse_notes(note)
    _check_evidence(kind, grade, sources, {tag for tag, _ in notes})
    if kind in {"value", "token"} and grade != "derived":
        _check_quotes(value, symbol, one, sources)
    key = canonical_key(one, axes)
    sha = row_hash(key, value, symbol, grade, sources)
    return Row(one.id, key, kind, value, symbol, tuple(axes.items()), grade, sources, notes, path, line, heading, sha)

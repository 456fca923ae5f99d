"""Sheets made of bare rows, for rules."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import Sheet
from kopt_kb.wiki.vocabulary import METRICS, canonical_key

SheetOf = Callable[..., Sheet]


def _row(text: str, line: int) -> Row:
    """`metric value unit axis=value;axis=value` as a row, with an optional `! RULE` exception at the end."""
    body, _, rule = text.partition(" ! ")
    metric, value, unit, *rest = body.split()
    axes = dict(part.split("=") for part in rest[0].split(";")) if rest else {}
    notes = (("exception", f"{rule}: for a reason"),) if rule else ()
    key = canonical_key(METRICS[metric], axes)
    return Row(metric, key, "value", value, unit, tuple(axes.items()), "vendor", (), notes, "p.md", line, "H", "0" * 12)


@pytest.fixture
def sheet_of() -> SheetOf:
    """Build a sheet from row texts."""

    def build(*texts: str) -> Sheet:
        return Sheet({}, "p.md", "T", [_row(text, line) for line, text in enumerate(texts, 1)])

    return build

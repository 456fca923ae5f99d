"""Sheets made of bare rows, for rules."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kopt_kb.wiki.row import Row, Source
from kopt_kb.wiki.sheet import Sheet
from kopt_kb.wiki.vocabulary import METRICS, canonical_key

SheetOf = Callable[..., Sheet]


def _row(text: str, line: int) -> Row:
    """`[PATH:]metric value unit axis=value;axis=value` as a row, then optional `! RULE` exception or `@ document`."""
    body, _, document = text.partition(" @ ")
    body, _, rule = body.partition(" ! ")
    metric, value, unit, *rest = body.split()
    path, _, metric = metric.rpartition(":")
    axes = dict(part.split("=") for part in rest[0].split(";")) if rest else {}
    notes = (("exception", f"{rule}: for a reason"),) if rule else ()
    key = canonical_key(METRICS[metric], axes)
    kind = "token" if METRICS[metric].dimension == "token" else "value"
    sources = (Source(document, "row", value),) if document else ()
    return Row(
        metric, key, kind, value, unit, tuple(axes.items()), "vendor", sources, notes, path or "p.md", line, "H", "0" * 12
    )  # fmt: skip


@pytest.fixture
def sheet_of() -> SheetOf:
    """Build a sheet from row texts."""

    def build(*texts: str) -> Sheet:
        return Sheet({}, "p.md", "T", [_row(text, line) for line, text in enumerate(texts, 1)])

    return build

"""docs/explanation/reachable.md names every target above the best measurement, with the wiki's numbers and a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kopt_kb.analysis.roofline.ceilings import Ceiling, best_bandwidth, best_known, compute_ceiling, memory_ceiling
from kopt_kb.analysis.roofline.targets import TARGET_FACTOR
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.quantity.readable import percent, said
from kopt_kb.wiki.registry import Platform, Registry

LARGE = 1 << 33
"""Bytes of a work that no cache holds."""


def roofs(part: Platform) -> Iterator[tuple[str, Ceiling, Quantity | None]]:
    """Yield each roof of a product that somebody may have measured."""
    for pattern in ("copy", "read"):
        yield f"dram {pattern}", memory_ceiling(part, pattern, LARGE), best_bandwidth(part, "dram", pattern)
    measured = [dict(row.axes) for row in part.rows("measured_compute")]
    for dtype, engine in sorted({(axes["dtype"], axes["engine"]) for axes in measured}):
        documented = part.rows("peak_compute", dtype=dtype, engine=engine, sparsity="dense")
        if any(row.kind == "value" for row in documented):
            best = best_known(part, "measured_compute", dtype=dtype, engine=engine)
            yield f"{dtype} {engine}", compute_ceiling(part, dtype, engine), best


def test_the_table_is_that_of_the_wiki(repo_root: Path) -> None:
    """No product more or less; documented and measured value, share and row are the wiki's; each has a verdict."""
    registry, found = Registry.open(), []
    for name in registry.platforms():
        for roof, ceiling, best in roofs(registry.platform(name)):
            if best is None or not isinstance(ceiling.roof, Quantity) or ceiling.roof.si * TARGET_FACTOR <= best.si:
                continue
            share = percent(float(best.si / ceiling.roof.si))
            place = str(best.citations()[0].location)
            found.append([str(name), roof, said(ceiling.roof), said(best), share, place])
    text = (repo_root / "docs" / "explanation" / "reachable.md").read_text()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")
    ]
    assert [row[:6] for row in rows[1:]] == found
    assert all(row[6].startswith(("holds", "wanting")) for row in rows[1:])

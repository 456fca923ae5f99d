"""A cited table for agent-flow's projector, which grounds each peak "from a named source" where it has no calculator.

Read in NVIDIA/TensorRT-LLM, agent-flow/agent_flow/workflows/perf_analyze/sol_methodology.py: the file `peaks.json`
belongs to a skill that open builds do not carry, no reader of it is public, and a file made by hand is forbidden there.
So this is a page to be quoted, not that file.
"""

from __future__ import annotations

import re

from kopt_kb.wiki.collect import Collection, ProductPeaks, cited_key
from kopt_kb.wiki.foreign_row import ForeignRow, foreign_row
from kopt_kb.wiki.tables import split_cells, table

__all__ = ["read", "recognises", "render"]

_HEADER = ("Peak", "Value", "Unit", "Grade", "Source", "Document")
_METRICS = (
    "peak_compute", "memory_bandwidth", "memory_capacity", "l2_capacity", "l2_bandwidth", "llc_capacity",
    "link_bandwidth", "host_bandwidth", "sm_count", "sm_clock", "board_power", "measured_bandwidth", "measured_compute",
    "measured_latency", "measured_launch",
)  # fmt: skip
_HEAD = """# Hardware peaks with sources

Written by `kb export peaks --for agent-flow` from {data}. A named source for each hardware peak of a projection; it is
not `sol_work/peaks.json`. Rates with `sparsity=dense` are the denominators of dense kernels. `measured_*` rows are
measurements and no ceilings. UNKNOWN: nobody documents it, so no projection may rest on it.
"""


def _section(product: ProductPeaks) -> list[str]:
    one = product.identity
    rows = []
    for peak in product.peaks:
        if peak.row.metric in _METRICS:
            row = peak.row
            notes = product.footnotes.get(row.path, {})
            document = "; ".join(f"{notes[s.id].title}, {s.locator}" for s in row.sources) or f"= {row.note('formula')}"
            rows.append((f"`{row.key}`", row.value, row.unit, row.grade, peak.cite, document))
    unknown = [row for row in product.without if row.metric in _METRICS and row.kind == "unknown"]
    lines = [f"## {one.platform} ({one.vendor} {one.sku}, {one.arch}, {one.target})", "", *table(_HEADER, rows)]
    lines += [f"- UNKNOWN `{row.key}`: {row.note('reason')}" for row in unknown]
    return [*lines, ""] if unknown else lines


def render(found: Collection) -> dict[str, str]:
    """Return the page."""
    lines = [_HEAD.format(data=found.data)]
    for one in found.products:
        lines += _section(one)
    return {"hardware_peaks.md": "\n".join(lines)} if found.products else {}


def recognises(text: str) -> bool:
    """Whether a text is of this form."""
    return f"| {' | '.join(_HEADER)} |" in text


def read(text: str, where: str) -> list[ForeignRow]:
    """Return the rows of a page."""
    platform, rows = "", []
    for number, line in enumerate(text.splitlines(), 1):
        heading = re.match(r"## (\S+) \(", line)
        platform = heading[1] if heading else platform
        cells = split_cells(line)
        key = cited_key(cells[4]) if cells is not None and len(cells) == len(_HEADER) else None
        if cells is not None and key is not None:
            fields = {"platform": platform, "metric": key, "value": cells[1], "unit": cells[2]}
            rows.append(foreign_row(fields, f"{where}:{number}"))
    return rows

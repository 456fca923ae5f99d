"""Every table says what its columns are: by their heads, or by a legend below."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from kopt_kb.cli.kit.columns import COLUMNS, legend
from kopt_kb.cli.kit.judged_text import _LEGEND

PLAIN = {
    "Action", "Architecture", "GFLOP/s", "Latency us", "Masked", "Platform", "Product", "Rows", "Status", "TFLOPS", "Target",
    "Vendor", "Version", "after", "before", "bound", "bottleneck", "category", "change", "citation", "claim", "code",
    "configuration", "decision", "grade", "kernel", "key", "kind", "cause", "launches", "level", "limiter", "measured",
    "median", "median of a launch", "met", "metric", "N", "occupancy", "platform", "problem", "product", "rate",
    "registers", "roof", "round", "shape", "share", "target", "time", "times as fast", "type", "unit", "value", "what",
    "backend", "line", "max_ms", "mean_ms", "median_ms", "min_ms", "part", "runs", "test", "achieved", "conditions that differ", "most gain", "headroom", "GB/s", "who",
}  # fmt: skip
"""Heads that need no word."""
BELOW = {
    "memory.py": {"TFLOPS %", "GB/s %"},  # latency, rates and their shares of the roofs are geometric means
    "roofline_text.py": {"documented", "measured", "reachable", "at target", "basis", "yours", "of roof", "slower", "least"},
    "audit.py": {"paired", "noise"}, "bench_record.py": {"NEW"},
    "profile_timeline.py": {"gap", "at"},  # under "longest gaps"
    "profile_text.py": {*_LEGEND, "stall", "hits", "latency", "address", "instruction", "source", "reasons", "waits for"},
    "profile_page.py": set(), "roofline_page.py": {"at the roof", "at the target"},
}  # fmt: skip
"""Module → heads that a text of its own explains."""


def _heads(path: Path) -> Iterator[str]:
    """Yield the words of tuples and lists that begin a table: assigned to rows, head, judged, _HEAD or _COLUMNS."""
    for node in ast.walk(ast.parse(path.read_text())):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        names = {one.id for one in targets if isinstance(one, ast.Name)}
        value = getattr(node, "value", None)
        if names & {"rows", "judged", "lines"} and isinstance(value, ast.List) and value.elts:
            value = value.elts[0] if isinstance(value.elts[0], ast.Tuple | ast.List) else None
        elif not names & {"head", "_HEAD", "_COLUMNS"}:
            continue
        if isinstance(value, ast.Tuple | ast.List):
            words = [one.value for one in value.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            yield from (
                words if len(words) == len([one for one in value.elts if not isinstance(one, ast.Starred)]) else ()
            )


def test_every_head_is_plain_or_told(repo_root: Path) -> None:
    """A new column gets its word in `COLUMNS`, and its table prints it."""
    for path in sorted((repo_root / "kopt_kb/cli").glob("*.py")):
        heads = set(_heads(path)) - BELOW.get(path.name, set())
        assert heads <= PLAIN | set(COLUMNS), (path.name, heads - PLAIN - set(COLUMNS))
        if heads & set(COLUMNS):
            assert "legend(" in path.read_text(), (path.name, heads & set(COLUMNS))


def test_a_legend() -> None:
    """In the order of the columns; nothing of those that say it themselves."""
    assert legend(("shape", "quads", "OLD")) == f"{COLUMNS['quads']}; {COLUMNS['OLD']}"
    assert legend(("shape", "quads"), "quads") == ""

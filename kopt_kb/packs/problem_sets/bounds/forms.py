"""A table of bounds as JSON, CSV or Markdown; every form has the same numbers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

from kopt_kb.packs.problem_sets.bounds.bound import BoundTable, ProblemBound
from kopt_kb.quantity.readable import duration

__all__ = ["FORMS", "as_csv", "as_json", "as_markdown"]

_COLUMNS = (
    "problem", "kind", "floor_s", "warm_floor_s", "judged_floor_s", "memory_s", "products_s", "read_bytes",
    "weight_bytes", "written_bytes", "state_written_bytes", "given_bytes", "storage", "products_counted",
    "products_not_counted", "basis", "operations", "reason", "notes",
)  # fmt: skip
_MEANING = """Seconds below which no correct answer can be, correct for every content of its inputs.

- floor: by the file's own check, caches flushed before each run. Weights are known before the clock starts and cost
  nothing; what is written may stay in the caches, in each of them.
- warm: the caches may hold inputs too. judged: weights are inputs of each check.
- kind: `products` (7/8 squared of 2mnk on the fastest admissible route at the highest clock), `bytes`, `none` (nothing
  could be shown to take time), `refused`.
"""


def as_json(table: BoundTable) -> str:
    """Return the table as a JSON document."""
    return json.dumps(table.to_json(), indent=1) + "\n"


def as_csv(table: BoundTable) -> str:
    """Return the table as CSV, times in seconds, lists joined by `; `."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("platform", *_COLUMNS))
    for one in table.rows:
        writer.writerow((table.platform, *_cells(one)))
    return text.getvalue()


def _cells(one: ProblemBound) -> list[object]:
    flops = [f"{name} {amount} {engine}" for name, found in (one.operations or {}).items()
             for engine, amount in found.items()]  # fmt: skip
    return [
        one.problem, one.kind, one.floor_s, one.warm_floor_s, one.judged_floor_s, one.memory_s, one.products_s,
        one.read_bytes, one.weight_bytes, one.written_bytes, one.state_written_bytes, one.given_bytes, one.storage,
        *one.products, "; ".join(one.basis), "; ".join(flops), one.reason, "; ".join(one.notes),
    ]  # fmt: skip


def as_markdown(table: BoundTable) -> str:
    """Return the table as Markdown for people: times with three digits, and the rows they rest on."""
    lines = [f"# Bounds on {table.platform}", "", _MEANING]
    lines.append("| problem | floor | kind | warm | judged | read | written | storage |")
    lines.append("|---|--:|---|--:|--:|--:|--:|---|")
    for one in table.rows:
        times = [duration(value) if value else "0" for value in (one.floor_s, one.warm_floor_s, one.judged_floor_s)]
        cells = (one.problem, times[0], one.kind, times[1], times[2], str(one.read_bytes), str(one.written_bytes))
        lines.append("| " + " | ".join((*cells, one.storage or one.reason.replace("|", "/"))) + " |")
    lines += ["", f"Traced by torch {table.torch}. Times rest on:", "", *(f"- `{one}`" for one in table.citations)]
    return "\n".join(lines) + "\n"


FORMS: dict[str, Callable[[BoundTable], str]] = {".json": as_json, ".csv": as_csv, ".md": as_markdown}
"""Suffix of a file to its form."""

"""Triton's stored autotune results: `KERNEL.autotune.json` of its cache, every configuration with its times.

What Triton takes is the configuration whose first time, the median, is least; rows keep the file's order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.tuned_table import Setting, TunedRow, TunedTable

__all__ = ["FORM", "is_triton_autotune", "read_triton_autotune", "serves_triton_autotune", "write_triton_autotune"]

FORM = "triton-autotune"
_END = ".autotune.json"
_MS = "ms"


def is_triton_autotune(name: str, head: bytes) -> bool:
    """Return whether a file is such a result, by its name."""
    return name.endswith(_END) and head.lstrip()[:1] == b"{"


def read_triton_autotune(data: bytes, path: Path) -> TunedTable:
    """Return the results of a file; raises `BadInput` where it is cut off, or a result is none."""
    where = str(path)
    try:
        document = json.loads(data, object_pairs_hook=lambda pairs: _once(pairs, where))
    except (ValueError, RecursionError) as error:
        what = f"is no whole JSON: {error}"
        raise BadInput(what, where=where, fix="delete it, Triton tunes again", code="KB116") from error
    key = document.get("key") if isinstance(document, dict) else None
    results = document.get("configs_timings") if isinstance(document, dict) else None
    if not isinstance(key, list) or not isinstance(results, list) or not results:
        what = "has no key with configs_timings"
        raise BadInput(what, where=where, fix="delete it, Triton tunes again", code="KB116")
    rows = tuple(_row(number, one, where) for number, one in enumerate(results))
    name = path.name.removesuffix(_END)
    facts = {"key": json.dumps(key)}
    return TunedTable(FORM, path.name, "", facts, rows, data, kernel=name, engine="triton")


def write_triton_autotune(table: TunedTable) -> bytes:
    """Return the bytes of results: those of their file where it says the same, else as Triton writes them."""
    if isinstance(table.layout, bytes):
        before = read_triton_autotune(table.layout, Path(table.file))
        if (before.facts, before.rows) == (table.facts, table.rows):
            return table.layout
    results = [[_config(row), json.loads(row.facts[_MS])] for row in table.rows]
    return json.dumps({"key": json.loads(table.facts["key"]), "configs_timings": results}).encode()


def serves_triton_autotune(table: TunedTable, extents: Mapping[str, int]) -> TunedRow | None:  # noqa: ARG001 - one key
    """Return the configuration that Triton takes: the first of least median."""
    return min(table.rows, key=lambda row: json.loads(row.facts[_MS]))


def _once(pairs: list[tuple[str, object]], where: str) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadInput(f"{twice} stands twice", where=where, fix="delete it, Triton tunes again", code="KB116")
    return found


def _row(number: int, result: object, where: str) -> TunedRow:
    config, times = result if isinstance(result, list) and len(result) == 2 else (None, None)
    values = times if isinstance(times, list) else [times]
    is_timed = bool(values) and all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
    if not isinstance(config, dict) or not isinstance(config.get("kwargs"), dict) or not is_timed:
        what = f"result {number} is no configuration with its times"
        raise BadInput(what, where=where, fix="delete it, Triton tunes again", code="KB116")
    settings: dict[str, Setting] = {
        **config["kwargs"],
        **{name: one for name, one in config.items() if name != "kwargs"},
    }
    facts = {_MS: json.dumps(times), "kwargs": json.dumps(list(config["kwargs"])), "order": json.dumps(list(config))}
    return TunedRow(str(number), settings, facts=facts)


def _config(row: TunedRow) -> dict[str, object]:
    inner = json.loads(row.facts["kwargs"])
    order = json.loads(row.facts["order"])
    return {
        name: {one: row.settings[one] for one in inner} if name == "kwargs" else row.settings[name] for name in order
    }

"""Program run in a short-lived child: some actions of an `.ncu-rep` in, one JSON line an action out.

It stands alone (standard library and `ncu_report`), because the library never gives memory back and may crash on
damaged files. Nothing that names a host, a user or a source file leaves it.
"""

from __future__ import annotations

import json
import sys
from typing import Any, NotRequired, TextIO, TypedDict

__all__ = ["ActionLine", "main"]

_SKIPPED = ("breakdown:", "group:", "pmsampling:")
_OPCODES = "sass__inst_executed_per_opcode"
_TEXT_KIND, _FLOAT_KINDS, _WHOLE_KINDS = 2, (3, 4), (5, 6)
_MISSING_EXIT = 3
_SOL_RULE = "SOLBottleneck"


class ActionLine(TypedDict):
    """One action; `names` and `units` of its values stand in the first line of their table."""

    range: int
    action: int
    name: str
    demangled: str
    workload: int
    values: list[float | int | str]
    rules: list[list[Any]]
    opcodes: dict[str, float]
    table: int
    names: NotRequired[list[str]]
    units: NotRequired[list[str]]


def main(path: str, start: int, stop: int, out: TextIO) -> int:
    """Write actions `start` to `stop` of a report as JSON lines, then a line with the number of all actions.

    Returns:
        The exit status.
    """
    try:
        import ncu_report
    except ImportError:
        return _MISSING_EXIT
    try:
        context = ncu_report.load_report(path)
    except (RuntimeError, OSError, ValueError) as error:
        out.write(json.dumps({"failed": type(error).__name__}) + "\n")
        return 0
    tables: dict[tuple[str, ...], int] = {}
    units: dict[str, str] = {}
    actions = 0
    for range_index in range(context.num_ranges()):
        one_range = context.range_by_idx(range_index)
        for index in range(one_range.num_actions()):
            if start <= actions < stop:
                _write(out, ncu_report, one_range.action_by_idx(index), (range_index, index), tables, units)
            actions += 1
    out.write(json.dumps({"end": actions}) + "\n")
    return 0


def _write(
    out: TextIO,
    library: Any,
    action: Any,
    place: tuple[int, int],
    tables: dict[tuple[str, ...], int],
    known: dict[str, str],
) -> None:
    """Write one action; `known` has the units of metrics seen so far, which the library gives in base units."""
    names, values = [], []
    for name in action.metric_names():
        if name.startswith(_SKIPPED):
            continue
        metric = action.metric_by_name(name)
        value = None if metric is None else _value(metric)
        if value is not None:
            names.append(name)
            values.append(value)
            if name not in known:
                known[name] = metric.unit() or ""
    key = tuple(names)
    new = key not in tables
    line: ActionLine = {
        "range": place[0],
        "action": place[1],
        "name": action.name(library.IAction.NameBase_FUNCTION) or "",
        "demangled": action.name(library.IAction.NameBase_DEMANGLED) or "",
        "workload": action.workload_type(),
        "values": values,
        "rules": _rules(action),
        "opcodes": _opcodes(action),
        "table": tables.setdefault(key, len(tables)),
    }
    if new:
        line["names"], line["units"] = names, [known[one] for one in names]
    out.write(json.dumps(line) + "\n")


def _value(metric: Any) -> float | int | str | None:
    kind = metric.kind()
    if kind == _TEXT_KIND:
        return str(metric.as_string())
    if kind in _FLOAT_KINDS:
        return float(metric.as_double())
    if kind in _WHOLE_KINDS:
        return int(metric.as_uint64())
    return None


def _rules(action: Any) -> list[list[Any]]:
    found: list[list[Any]] = []
    for rule in action.rule_results_as_dicts():
        message = rule.get("rule_message") or {}
        speedup = rule.get("speedup_estimation") or {}
        found.append(
            [
                rule.get("rule_identifier", ""),
                rule.get("section_identifier", ""),
                message.get("title", ""),
                message.get("type", 0),
                speedup.get("speedup"),
                speedup.get("type"),
                message.get("message", "") if rule.get("rule_identifier") == _SOL_RULE else "",
            ]
        )
    return found


def _opcodes(action: Any) -> dict[str, float]:
    metric = action.metric_by_name(_OPCODES)
    if metric is None or not metric.has_correlation_ids():
        return {}
    names = metric.correlation_ids()
    if names.kind() != _TEXT_KIND:
        return {}
    return {names.as_string(one): metric.as_double(one) for one in range(metric.num_instances())}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.stdout))

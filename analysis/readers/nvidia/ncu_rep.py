"""Reader of `.ncu-rep`: checks the frames, lets a child process load the report, turns its lines into profiles."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, get_args

from kopt_kb.analysis.profile import (
    Collector,
    Dim3,
    KernelProfile,
    ProfiledLaunch,
    RawMetric,
    ReportPlace,
    ReportSource,
    StoredRule,
)
from kopt_kb.analysis.profile.launch import RuleKind
from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.units import base_unit
from kopt_kb.analysis.readers.nvidia.ncu_child import ActionLine
from kopt_kb.analysis.readers.nvidia.ncu_children import child_lines, result_parts
from kopt_kb.analysis.readers.nvidia.ncu_frames import MAGIC, tool_version
from kopt_kb.analysis.readers.nvidia.ncu_labels import sol_title
from kopt_kb.analysis.readers.nvidia.ncu_launch import launch_of
from kopt_kb.analysis.readers.nvidia.ncu_packed import ZSTD_MAGIC, is_packed
from kopt_kb.analysis.readers.nvidia.ncu_source import with_hot_spots

__all__ = ["NCU_REP", "read_ncu_rep"]

_FORMAT = "ncu-rep"
_KERNEL_WORKLOAD = 0
_metric = partial(tuple.__new__, RawMetric)  # without a call of Python for each of thousands of metrics
_KINDS: tuple[RuleKind, ...] = get_args(RuleKind)
_SCOPES = {1: "local", 2: "global"}
_AGAIN = "copy or record the report again"


def read_ncu_rep(path: Path) -> Iterator[KernelProfile]:
    """Yield the profiles of an `.ncu-rep` report, or of one packed as `.ncu-repz`.

    Raises:
        ReportError: The magic is missing, the file is truncated or damaged, it holds no action, or the child
            fails, runs out of memory or time.
        MissingTool: The package ncu-report is not installed.
    """
    collector = Collector(ReportSource(str(path), _FORMAT, "ncu", "nvidia", tool_version(path)))
    notes: list[str] = []
    actions = 0
    for launch, note in _launches(path):
        collector.add(launch)
        actions += 1
        if note and note not in notes:
            notes.append(note)
    if actions == 0:
        packed = is_packed(path)
        raise ReportError(
            "a file packed by zstd that is no .ncu-repz with a kernel" if packed else "the report holds no kernel",
            where=path,
            fix="unpack it with zstd -d" if packed else "check the kernel filter of the recording",
            code="KB205",
        )
    yield from collector.profiles(*notes)


def _is_rep(head: ReportHead) -> bool:
    return head.data.startswith((MAGIC, ZSTD_MAGIC))


NCU_REP = Reader(_FORMAT, "ncu .ncu-rep or .ncu-repz", _is_rep, read_ncu_rep, with_hot_spots)


def _launches(path: Path) -> Iterator[tuple[ProfiledLaunch, str]]:
    parts = result_parts(path)
    read = 0
    for lines in child_lines(path, parts):
        tables: dict[int, _Table] = {}
        ended: int | None = None
        for text in lines:
            line = _parsed(text, path)
            if "failed" in line:
                raise ReportError("damaged: ncu_report can't load it", where=path, fix=_AGAIN)
            ended = line.get("end")
            if ended is None:
                if "names" in line:
                    tables[line["table"]] = _table(line)
                read += 1
                yield _launch(line, tables[line["table"]], path)
        if ended is None:
            raise ReportError("damaged: ncu_report gave up on it", where=path, fix=_AGAIN)
        if parts[-1].announced and ended != parts[-1].stop:
            raise ReportError(f"damaged: {parts[-1].stop} results announced, {ended} found", where=path, fix=_AGAIN)
    if parts[-1].announced and read != parts[-1].stop:
        raise ReportError(f"damaged: {parts[-1].stop} results announced, {read} read", where=path, fix=_AGAIN)


@dataclass(frozen=True, slots=True)
class _Table:
    """Names and base units of the values of actions, and the values that are scaled, by place."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    scaled: tuple[tuple[int, int, int], ...]

    def metrics(self, values: list[float | int | str]) -> dict[str, RawMetric]:
        """Return finite metrics by name; raises ValueError for more or fewer values than names."""
        for at, times, over in self.scaled:
            value = values[at]
            if not isinstance(value, str):
                values[at] = value * times / over
        found = dict(zip(self.names, map(_metric, zip(values, self.units, strict=True)), strict=True))
        odd = [name for name, one in found.items() if not isinstance(one.value, str) and not math.isfinite(one.value)]
        for name in odd:
            del found[name]
        return found


def _table(line: ActionLine) -> _Table:
    scaled = [base_unit(unit) for unit in line["units"]]
    scales = tuple((at, one.times, one.over) for at, one in enumerate(scaled) if one.times != one.over)
    return _Table(tuple(line["names"]), tuple(one.unit for one in scaled), scales)


def _parsed(text: str, path: Path) -> Any:
    try:
        line = json.loads(text)
    except ValueError as error:
        raise ReportError("damaged: ncu_report gave up on it", where=path, fix=_AGAIN) from error
    if not isinstance(line, dict):
        raise ReportError("damaged: ncu_report gave up on it", where=path, fix=_AGAIN)
    return line


def _launch(line: ActionLine, table: _Table, path: Path) -> tuple[ProfiledLaunch, str]:
    raw = table.metrics(line["values"])
    place = ReportPlace(str(path), f"range {line['range']} action {line['action']}")
    if not line["name"]:
        raise ReportError(f"damaged: the launch at {place.at} has no name", where=path, fix=_AGAIN)
    note = ""
    if line["workload"] != _KERNEL_WORKLOAD:
        raw = {name: metric for name, metric in raw.items() if not name.startswith("launch__")}
        note = "the report profiles a range or graph: launch shape and occupancy limits are left out"
    stated = ProfiledLaunch(
        id=f"{line['range']}/{line['action']}",
        name=line["name"],
        demangled=line["demangled"],
        place=place,
        device=_text(raw.get("device__attribute_display_name")),
        target=_target(raw),
        grid=_extents(raw, "launch__grid_dim_"),
        block=_extents(raw, "launch__block_dim_"),
        rules=tuple(_rule(one) for one in line["rules"]),
    )
    return launch_of(stated, raw, line["opcodes"]), note


def _text(metric: RawMetric | None) -> str:
    return metric.value if metric is not None and isinstance(metric.value, str) else ""


def _target(raw: dict[str, RawMetric]) -> str:
    parts = [raw.get(f"device__attribute_compute_capability_{one}") for one in ("major", "minor")]
    numbers = [one.value for one in parts if one is not None and not isinstance(one.value, str)]
    return f"sm_{numbers[0]:.0f}{numbers[1]:.0f}" if len(numbers) == len(parts) else ""


def _extents(raw: dict[str, RawMetric], stem: str) -> Dim3 | None:
    parts = [raw.get(f"{stem}{axis}") for axis in "xyz"]
    numbers = [int(one.value) for one in parts if one is not None and not isinstance(one.value, str)]
    return Dim3(*numbers) if len(numbers) == len(parts) else None


def _rule(line: list[Any]) -> StoredRule:
    rule, section, title, kind, speedup_pct, scope, message = line
    known = _KINDS[kind] if isinstance(kind, int) and 0 <= kind < len(_KINDS) else "none"
    return StoredRule(rule, section, title or sol_title(message), known, speedup_pct, _SCOPES.get(scope))  # type: ignore[arg-type]

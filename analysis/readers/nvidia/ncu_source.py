"""Stall samples by instruction out of an `.ncu-rep`, each with its source line and what it waits for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from kopt_kb.analysis.ir.machine.producers import producer_of
from kopt_kb.analysis.profile import HotSpot, KernelProfile
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.nvidia import ncu_source_child
from kopt_kb.analysis.readers.nvidia.ncu_children import child_lines, result_parts
from kopt_kb.base.wire import JSON

__all__ = ["with_hot_spots"]

_RUNNING = frozenset({"selected", "not_selected"})
_UNKNOWN_CODE = "???"
_NONE = "the report holds no stall samples by instruction: record with --set full or --section SourceCounters"


def with_hot_spots(path: Path, profiles: Iterator[KernelProfile]) -> Iterator[KernelProfile]:
    """Yield profiles with the hot spots of their first launch that was sampled; one without says so in a note.

    Raises:
        ReportError: The child fails on the report.
        MissingTool: The package ncu-report is not installed.
    """
    sampled = _sampled(path)
    for profile in profiles:
        spots = next((sampled[one.id] for one in profile.launches if one.id in sampled), ())
        yield replace(profile, hot_spots=spots, notes=profile.notes if spots else (*profile.notes, _NONE))


def _sampled(path: Path) -> dict[str, tuple[HotSpot, ...]]:
    found: dict[str, tuple[HotSpot, ...]] = {}
    for lines in child_lines(path, result_parts(path), ncu_source_child.__file__):
        for text in lines:
            try:
                line = json.loads(text)
            except ValueError as error:
                raise ReportError("damaged: ncu_report gave up on it", where=path) from error
            if "code" in line:
                found[line["id"]] = _spots(line["code"])
    return found


def _spots(code: list[list[JSON]]) -> tuple[HotSpot, ...]:
    listing = [str(one[1]) for one in code]
    found = [_spot(code, listing, at) for at, one in enumerate(code) if one[5]]
    return tuple(sorted(found, key=lambda one: (-one.stall_cycles, one.address)))


def _spot(code: list[list[JSON]], listing: list[str], at: int) -> HotSpot:
    address, text, file, line, executed, samples = code[at]
    counted: Mapping[str, int] = samples if isinstance(samples, dict) else {}  # type: ignore[assignment]
    stalled = {reason: count for reason, count in counted.items() if reason not in _RUNNING}
    first = max(stalled, key=lambda one: stalled[one], default="")
    waited = producer_of(listing, at, first) if first else None
    return HotSpot(
        address=_whole(address),
        instruction="" if text == _UNKNOWN_CODE else str(text).strip(),
        hits=_whole(executed),
        latency_cycles=sum(counted.values()),
        stall_cycles=sum(stalled.values()),
        source=f"{file}:{line}" if file else "",
        unit="samples",
        reasons=dict(sorted(stalled.items(), key=lambda one: -one[1])),
        waits_for="" if waited is None else _place(code, waited),
    )


def _place(code: list[list[JSON]], at: int) -> str:
    address, text, file, line = code[at][:4]
    source = f" ({file}:{line})" if file else ""
    return f"{str(text).strip()} at {_whole(address):#x}{source}"


def _whole(value: JSON) -> int:
    return value if isinstance(value, int) else 0

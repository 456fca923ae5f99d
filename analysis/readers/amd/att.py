"""Reader of rocprofv3's advanced thread trace: costs of single instructions of one dispatch.

The trace covers the waves of one compute unit a shader engine, so nothing in it is scaled to the device: profiles hold
hot spots and no amounts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from kopt_kb.analysis.ir.machine.producers import producer_of
from kopt_kb.analysis.profile import HotSpot, KernelProfile, ReportPlace, ReportSource
from kopt_kb.analysis.readers.amd.amd_csv import csv_rows, folded, header_of, whole_in
from kopt_kb.analysis.readers.amd.amd_names import plain_name
from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.json_stream import JsonStream
from kopt_kb.analysis.readers.common.sqlite import text_of, whole_of

__all__ = ["ATT", "read_att"]

_FORMAT = "rocprofv3-att"
_COLUMNS = frozenset({"vaddr", "instruction", "hitcount", "latency", "stall"})
_CODE = "code.json"
_FILES = "filenames.json"
_CODE_CELLS = 10
_DISPATCH = re.compile(r"dispatch_(\d+)")
_SAMPLED = "instruction costs of traced waves only: they are not scaled to the device"
_MAX_FILES_BYTES = 1 << 20


def read_att(path: Path) -> Iterator[KernelProfile]:
    """Yield one profile of a stats CSV or of a `ui_output_*` folder, hot spots by falling stall.

    Rows whose instruction is a comment name a kernel; the first is the profile's name.

    Raises:
        ReportError: A row is damaged, or no instruction is there.
    """
    table = path / _CODE if path.is_dir() else path
    notes: list[str] = []
    spots, names = _of_code(table) if path.is_dir() else _of_stats(table, notes.append)
    if not spots:
        raise ReportError(
            "the trace holds no instruction", where=table, fix="trace with --att and a kernel that runs", code="KB205"
        )
    name = names[0] if names else path.name
    dispatch = _DISPATCH.search(path.name)
    yield KernelProfile(
        name=name,
        demangled=plain_name(name),
        source=ReportSource(str(path), _FORMAT, "rocprofv3", "amd", _decoder(path) if path.is_dir() else None),
        place=ReportPlace(str(table), f"dispatch {dispatch[1]}" if dispatch else "row 1"),
        launch_count=1,
        metrics={},
        target=_target(path) if path.is_dir() else "",
        hot_spots=tuple(
            sorted(_with_causes(spots), key=lambda one: (-one.stall_cycles, -one.latency_cycles, one.address))
        ),
        notes=(_SAMPLED, *(f"the trace also covers {one}" for one in names[1:]), *notes),
    )


def _with_causes(spots: list[HotSpot]) -> list[HotSpot]:
    """Return instructions of a listing in address order, those that stall with the operation they wait for."""
    ordered = sorted(spots, key=lambda one: one.address)
    listing = [one.instruction for one in ordered]
    found = []
    for at, one in enumerate(ordered):
        waited = producer_of(listing, at) if one.stall_cycles else None
        cause = "" if waited is None else f"{listing[waited]} at {ordered[waited].address:#x}"
        found.append(replace(one, waits_for=cause))
    return found


def _of_stats(path: Path, on_cut: Callable[[str], None]) -> tuple[list[HotSpot], list[str]]:
    rows = csv_rows(path, on_cut)
    header = [folded(one) for one in next(rows, (0, []))[1]]
    at = {name: index for index, name in reversed(list(enumerate(header)))}
    if not at.keys() >= _COLUMNS:
        raise ReportError("no thread-trace statistics", where=path, line=1, code="KB204")
    spots: list[HotSpot] = []
    names: list[str] = []
    for line, cells in rows:
        text = cells[at["instruction"]].strip()
        if text.startswith(";"):
            names.append(text.lstrip("; ").strip())
            continue
        numbers = [whole_in(cells[at[one]], path, line) for one in ("vaddr", "hitcount", "latency", "stall")]
        address, hits, latency, stall = (0 if one is None else one for one in numbers)
        spots.append(HotSpot(address, text, hits, latency, stall))
    return spots, names


def _of_code(path: Path) -> tuple[list[HotSpot], list[str]]:
    """Read `code.json`: rows of instruction, -, line, source, code object, address, hits, latency, stall, idle."""
    if not path.is_file():
        raise ReportError(
            "the folder has no code.json", where=path, fix="give the stats CSV beside the folder", code="KB204"
        )
    spots: list[HotSpot] = []
    names: list[str] = []
    with JsonStream(path) as stream:
        for key in stream.members():
            if key != "code":
                stream.skip()
                continue
            for _ in stream.elements():
                row = stream.value()
                if not isinstance(row, list) or len(row) < _CODE_CELLS - 1 or not isinstance(row[0], str):
                    raise stream.fault("a damaged row of code")
                if row[0].startswith(";"):
                    names.append(row[0].lstrip("; ").strip())
                elif whole_of(row[5]) is not None:
                    spots.append(_spot(row, stream))
        stream.finish()
    return spots, names


def _spot(row: list[Any], stream: JsonStream) -> HotSpot:
    numbers = [whole_of(one) for one in row[5:9]]
    address, hits, latency, stall = (0 if one is None else one for one in numbers)
    if None in numbers:
        raise stream.fault("a damaged row of code")
    return HotSpot(address, row[0], hits, latency, stall)


def _facts(folder: Path) -> dict[str, object]:
    path = folder / _FILES
    if not path.is_file() or path.stat().st_size > _MAX_FILES_BYTES:
        return {}
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ReportError("damaged JSON", where=path, fix="trace the kernel again") from error
    return found if isinstance(found, dict) else {}


def _decoder(folder: Path) -> str | None:
    version = text_of(_facts(folder).get("version"))
    return f"decoder {version}" if version else None


def _target(folder: Path) -> str:
    name = text_of(_facts(folder).get("gfxv")) or text_of(_facts(folder).get("gfxip"))
    return name if name.startswith("gfx") else ""


def _is_trace(head: ReportHead) -> bool:
    if head.is_folder:
        return (head.path / _CODE).is_file() and (head.path / _FILES).is_file()
    return set(header_of(head.text)) >= _COLUMNS


ATT = Reader(_FORMAT, "rocprofv3 thread trace (ATT)", _is_trace, read_att)

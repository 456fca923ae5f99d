"""Reader of rocprofv3 JSON output: walked twice, names first, then dispatches, in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from kopt_kb.analysis.profile import Dim3, KernelProfile, ReportSource
from kopt_kb.analysis.profile.amd_counters import AmdDevice
from kopt_kb.analysis.readers.amd.amd_collect import AmdCollector
from kopt_kb.analysis.readers.amd.amd_devices import device_of_agent
from kopt_kb.analysis.readers.amd.amd_dispatch import DispatchShape
from kopt_kb.analysis.readers.amd.amd_store import DispatchStore
from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.json_stream import JsonStream
from kopt_kb.analysis.readers.common.sqlite import text_of, whole_of

__all__ = ["ROCPROFV3_JSON", "read_rocprofv3_json"]

_FORMAT = "rocprofv3-json"
_ROOT = "rocprofiler-sdk-tool"
_GPU = 2
_MAX_SHAPES = 1 << 16
_REGISTERS = {
    "arch_vgpr_count": "registers_per_thread",
    "accum_vgpr_count": "accum_registers_per_thread",
    "sgpr_count": "scalar_registers_per_wave",
}
_Entry: TypeAlias = dict[str, Any]
"""An entry as the tool wrote it; whoever takes it apart meets KeyError or TypeError in a damaged one."""
_SIZES = {"group_segment_size": "shared_block_bytes", "private_segment_size": "scratch_bytes_per_thread"}


@dataclass(slots=True)
class _Process:
    """Names of one process of the document."""

    devices: dict[int, AmdDevice] = field(default_factory=dict)
    kernels: dict[int, tuple[str, tuple[tuple[str, float], ...]]] = field(default_factory=dict)
    counters: dict[int, str] = field(default_factory=dict)
    shapes: dict[tuple[Any, ...], DispatchShape] = field(default_factory=dict)

    def shape(self, info: _Entry, record: _Entry) -> DispatchShape:
        """Return the configuration of a `dispatch_info`; raises KeyError or TypeError for a damaged one."""
        axes = tuple(info[kind][axis] for kind in ("workgroup_size", "grid_size") for axis in "xyz")
        found = {**info, **record}
        counts = tuple((metric, whole_of(found.get(name))) for name, metric in (*_REGISTERS.items(), *_SIZES.items()))
        key = (info["kernel_id"], info["agent_id"]["handle"], axes, counts)
        known = self.shapes.get(key)
        if known is None:
            if len(self.shapes) >= _MAX_SHAPES:
                self.shapes.clear()
            name, registers = self.kernels[info["kernel_id"]]
            sizes = {**dict(registers), **{metric: float(value) for metric, value in counts if value is not None}}
            device = self.devices.get(info["agent_id"]["handle"], AmdDevice())
            known = self.shapes[key] = DispatchShape(
                name, device, _extents(axes[3:]), _extents(axes[:3]), extra=tuple(sizes.items())
            )
        return known


def _extents(values: tuple[Any, ...]) -> Dim3 | None:
    x, y, z = (whole_of(one) for one in values)
    return Dim3(x, y, z) if x and y and z else None


def read_rocprofv3_json(path: Path) -> Iterator[KernelProfile]:
    """Yield the profiles of a rocprofv3 JSON document.

    Raises:
        ReportError: The text is damaged or cut (with its place), names are missing, or no kernel was dispatched.
    """
    processes = _names(path)
    collector = AmdCollector(ReportSource(str(path), _FORMAT, "rocprofv3", "amd"))
    store = DispatchStore(collector)
    with JsonStream(path) as stream:
        for number, process in zip(_processes(stream), processes, strict=True):
            for section in stream.members():
                if section == "buffer_records":
                    _dispatches(stream, store, process, number, path)
                elif section == "callback_records":
                    _counted(stream, store, process, number, path)
                else:
                    stream.skip()
    store.flush()
    if collector.empty:
        raise ReportError(
            "the document holds no kernel dispatch", where=path, fix="record with --kernel-trace", code="KB205"
        )
    yield from collector.profiles()


def _processes(stream: JsonStream) -> Iterator[int]:
    for key in stream.members():
        if key != _ROOT:
            stream.skip()
            continue
        for number, _ in enumerate(stream.elements()):
            yield number
    stream.finish()


def _names(path: Path) -> list[_Process]:
    processes: list[_Process] = []
    with JsonStream(path) as stream:
        for _ in _processes(stream):
            process = _Process()
            processes.append(process)
            for section in stream.members():
                _take_names(stream, section, process)
    return processes


def _take_names(stream: JsonStream, section: str, process: _Process) -> None:
    if section not in {"agents", "kernel_symbols", "counters"}:
        stream.skip()
        return
    for _ in stream.elements():
        entry = stream.value()
        try:
            if section == "agents":
                if entry["type"] == _GPU:
                    process.devices[entry["id"]["handle"]] = device_of_agent(entry)
            elif section == "counters":
                process.counters[entry["id"]["handle"]] = text_of(entry["name"])
            else:
                process.kernels[entry["kernel_id"]] = _symbol(entry)
        except (KeyError, TypeError) as error:
            raise stream.fault(f"a damaged entry of {section}") from error


def _symbol(entry: _Entry) -> tuple[str, tuple[tuple[str, float], ...]]:
    names = ("formatted_kernel_name", "demangled_kernel_name", "kernel_name")
    shown = next((text for one in names if (text := text_of(entry.get(one)))), f"kernel {entry['kernel_id']}")
    counts = ((metric, whole_of(entry.get(name))) for name, metric in _REGISTERS.items())
    return shown, tuple((metric, float(value)) for metric, value in counts if value is not None)


def _dispatches(stream: JsonStream, store: DispatchStore, process: _Process, number: int, path: Path) -> None:
    for kind in stream.members():
        if kind != "kernel_dispatch":
            stream.skip()
            continue
        for _ in stream.elements():
            entry = stream.value()
            try:
                _open(entry["dispatch_info"], entry, {}, store, process, number, path)
            except (KeyError, TypeError) as error:
                raise stream.fault("a damaged kernel dispatch") from error


def _counted(stream: JsonStream, store: DispatchStore, process: _Process, number: int, path: Path) -> None:
    for kind in stream.members():
        if kind != "counter_collection":
            stream.skip()
            continue
        for _ in stream.elements():
            entry = stream.value()
            try:
                data = entry["dispatch_data"]
                values = _values(entry["records"], process)
                _open(data["dispatch_info"], data, values, store, process, number, path, entry)
            except (KeyError, TypeError) as error:
                raise stream.fault("a damaged counter record") from error


def _values(records: list[_Entry], process: _Process) -> dict[str, float]:
    """Add up the instances of each counter."""
    found: dict[str, float] = {}
    for record in records:
        name, value = process.counters[record["counter_id"]["handle"]], float(record["value"])
        if math.isfinite(value):
            found[name] = found.get(name, 0.0) + value
    return found


def _open(  # noqa: PLR0913, PLR0917 - one record of two kinds of sections
    info: _Entry,
    times: _Entry,
    values: dict[str, float],
    store: DispatchStore,
    process: _Process,
    number: int,
    path: Path,
    record: _Entry | None = None,
) -> None:
    dispatch = info["dispatch_id"]
    if whole_of(dispatch) is None:
        raise TypeError("the dispatch id is no count")
    place = f"process {number} dispatch {dispatch}"
    held = store.open(str(number), dispatch, process.shape(info, record or {}), str(path), place)
    start, end = whole_of(times.get("start_timestamp")), whole_of(times.get("end_timestamp"))
    if start is not None and end is not None:
        held.span(start, end)
    for name, value in values.items():
        held.count(name, value)


def _is_json(head: ReportHead) -> bool:
    text = head.text[:4096].lstrip()
    return text.startswith("{") and f'"{_ROOT}"' in text


ROCPROFV3_JSON = Reader(_FORMAT, "rocprofv3 JSON", _is_json, read_rocprofv3_json)

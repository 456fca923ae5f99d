"""Reader of proton's trees (`.hatchet`): times of kernels summed by call path, packed by gzip or not.

The file is a list: roots of the tree, then the devices. A kernel is a node with a device and a time; nodes of one name
are added up over the paths that lead to them. The file has no starts, so nothing is known of idle time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kopt_kb.analysis.profile import KernelProfile, ReportPlace, ReportSource
from kopt_kb.analysis.profile.kernel_profile import DurationStats
from kopt_kb.analysis.profile.timeline import Trace
from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.json_stream import JsonStream

__all__ = ["HATCHET", "read_hatchet"]

_FORMAT = "proton-hatchet"
_MAX_DEPTH = 400
_SECONDS = {"time (ns)": 1e-9, "time (us)": 1e-6, "time (ms)": 1e-3, "time (s)": 1.0}
_SUMS_ONLY = "proton keeps sums: a time is the mean of its launches, and idle time is unknown"
_MARKS = (b'"frame"', b'"metrics"')


@dataclass(slots=True)
class _Sum:
    launches: int = 0
    total_s: float = 0.0


@dataclass(slots=True)
class _Tree:
    """Kernels found so far by device type, device and name."""

    sums: dict[tuple[str, str, str], _Sum] = field(default_factory=dict)
    targets: dict[tuple[str, str], str] = field(default_factory=dict)

    def node(self, name: str, metrics: Any) -> None:
        """Count a node that has a device and a time."""
        if not isinstance(metrics, dict) or "device_id" not in metrics:
            return
        for word, unit_s in _SECONDS.items():
            value, count = metrics.get(word), metrics.get("count", 1)
            if isinstance(value, (int, float)) and isinstance(count, int) and 0 < count < 1 << 53 and value > 0:
                key = (str(metrics.get("device_type", "")), str(metrics["device_id"]), name)
                held = self.sums.setdefault(key, _Sum())
                held.launches += count
                held.total_s += value * unit_s

    def device(self, kind: str, value: Any) -> None:
        """Take what the last element of the list says about devices of a type."""
        if isinstance(value, dict):
            for number, facts in value.items():
                arch = facts.get("arch") if isinstance(facts, dict) else None
                if isinstance(arch, str):
                    self.targets[kind, number] = f"sm_{arch}" if arch.isdigit() else arch


def read_hatchet(path: Path) -> Trace:
    """Return the kernels of a tree.

    Raises:
        ReportError: The file is damaged, nests too deep, or has no kernel with a time.
    """
    tree = _Tree()
    with JsonStream(path) as stream:
        for _ in stream.elements():
            _walk(stream, tree, 0)
    if not tree.sums:
        raise ReportError(
            "a proton tree without times of kernels",
            where=path,
            fix="record with proton.start(...) of its default backend",
            code="KB205",
        )
    vendor = "amd" if all(kind in {"HIP", "ROCM"} for kind, _, _ in tree.sums) else "nvidia"
    source = ReportSource(str(path), _FORMAT, "proton", vendor)  # type: ignore[arg-type]
    return Trace(source, tuple(_profile(source, tree, key, one) for key, one in tree.sums.items()))


def _walk(stream: JsonStream, tree: _Tree, depth: int) -> None:
    """Take one element: a node with its children, or the devices."""
    if depth > _MAX_DEPTH:
        raise stream.fault("values nested too deep")
    name, metrics = "", None
    for key in stream.members():
        if key == "children" and stream.peek() == "[":
            for _ in stream.elements():
                _walk(stream, tree, depth + 1)
        elif key == "frame":
            frame = stream.value()
            name = str(frame.get("name", "")) if isinstance(frame, dict) else ""
        elif key == "metrics":
            metrics = stream.value()
        else:
            tree.device(key, stream.value())
    tree.node(name or "unnamed", metrics)


def _profile(source: ReportSource, tree: _Tree, key: tuple[str, str, str], sum_: _Sum) -> KernelProfile:
    kind, device, name = key
    mean_s = sum_.total_s / sum_.launches
    return KernelProfile(
        name=name,
        demangled=name,
        source=source,
        place=ReportPlace(source.file, f"device {device}, kernel {name}"),
        launch_count=sum_.launches,
        metrics={"duration_s": mean_s},
        durations=DurationStats(sum_.launches, sum_.total_s, mean_s, mean_s, mean_s),
        target=tree.targets.get((kind, device), ""),
        notes=(_SUMS_ONLY,),
    )


def _is_hatchet(head: ReportHead) -> bool:
    start = head.unpacked.lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"[") and all(mark in start for mark in _MARKS) and b'"traceEvents"' not in start


def _profiles(path: Path) -> Iterator[KernelProfile]:
    yield from read_hatchet(path).profiles


HATCHET = Reader(_FORMAT, "proton tree (.hatchet)", _is_hatchet, _profiles, trace=read_hatchet)

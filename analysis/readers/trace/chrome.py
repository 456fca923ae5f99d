"""Reader of Chrome traces with GPU events: PyTorch's profiler (Kineto) and Triton's proton, packed by gzip or not.

Events are read one by one, in any order; what belongs together (a launch call and its kernel) is joined by the
correlation number that both carry. Times are microseconds in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kopt_kb.analysis.profile import Dim3, KernelProfile, ReportSource
from kopt_kb.analysis.profile.events import LARGEST_NS, NO_LAUNCH, EventLog, TimedKind, kind_of
from kopt_kb.analysis.profile.timeline import EventKind, Trace
from kopt_kb.analysis.readers.common.base import Reader, ReportHead
from kopt_kb.analysis.readers.common.errors import ReportError
from kopt_kb.analysis.readers.common.json_stream import JsonStream

__all__ = ["CHROME_TRACE", "Watch", "chrome_log", "read_chrome_trace"]

Watch = Callable[[str, Mapping[str, object], tuple[int, int]], None]
"""Called for each complete event that is no Python frame, with its category in small letters, start and end in ns."""

_FORMAT = "chrome-trace"
_NS_PER_US = 1000
_LABEL_CHARS = 64
_CATEGORIES: Mapping[str, EventKind] = {
    "kernel": "kernel", "gpu_memcpy": "copy", "memcpy": "copy", "gpu_memset": "fill", "memset": "fill"
}  # fmt: skip
_RUNTIME = frozenset({"cuda_runtime", "cuda_driver", "runtime", "hip_runtime", "hip_driver"})
_LAUNCHES = re.compile(r"launch|memcpy|memset|graph", re.IGNORECASE)
_WAITS = "Synchronize"
_DIRECTION = re.compile(r"Memcpy (\w+)|(Memset)|Copy(\w+)")
_METRICS = (("registers per thread", "registers_per_thread"), ("shared memory", "shared_block_bytes"))
_MARKS = (b'"traceEvents"', b'"deviceProperties"', b'"ph"')
_UNWATCHED = "python_function"


@dataclass(slots=True)
class _Reading:
    """What is known so far of one file."""

    log: EventLog
    devices: dict[str, str] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    kinds: dict[tuple[object, ...], int] = field(default_factory=dict)
    tool: str = "chrome trace"
    amd: bool = False
    unreadable: int = 0
    backwards: int = 0
    watch: Watch | None = None

    def take(self, event: Any) -> None:
        """Take one element of `traceEvents`."""
        if not isinstance(event, dict) or event.get("ph") != "X":
            return
        category = event.get("cat")
        word = category.lower() if isinstance(category, str) else ""
        kind = _CATEGORIES.get(word)
        is_work = kind is not None or word in _RUNTIME
        if not is_work and (self.watch is None or word == _UNWATCHED):
            return
        span = _span(event)
        if span is None:
            self.unreadable += kind is not None
            return
        if span[1] < span[0]:
            self.backwards += kind is not None
            return
        if self.watch is not None:
            self.watch(word, event, span)
            if not is_work:
                return
        args = event.get("args")
        details: Mapping[str, object] = args if isinstance(args, dict) else {}
        if kind is not None:
            self._work(event, kind, details, span)
        else:
            self._call(str(event.get("name", "")), details, span)

    def _work(
        self, event: Mapping[str, object], kind: EventKind, details: Mapping[str, object], span: tuple[int, int]
    ) -> None:
        name = str(event.get("name") or "unnamed")
        if "call_stack" in details:
            self.tool = "proton"
        number = details.get("device", event.get("pid", "-"))
        grid, block = details.get("grid"), details.get("block")
        device = self.log.device(_label(number))
        key = (name, device, str(grid), str(block))
        known = self.kinds.get(key)
        if known is None:
            known = self.kinds[key] = self.log.kind(_kind(kind, name, device, details))
        stream = self.log.stream(_label(details.get("stream", event.get("tid", "-"))))
        amount = details.get("bytes")
        if kind in {"copy", "fill"} and isinstance(amount, int):
            self.log.moved(known, amount)
        self.log.add(device, known, stream, *span, call=_correlation(details))

    def _call(self, name: str, details: Mapping[str, object], span: tuple[int, int]) -> None:
        self.amd = self.amd or name.startswith("hip")
        if _WAITS in name:
            self.log.wait(*span)
        elif _LAUNCHES.search(name):
            self.log.launch(_correlation(details), *span)

    def about(self, key: str, value: Any) -> None:
        """Take a member beside the events: the devices, or the rank of a distributed run."""
        if key == "deviceProperties" and isinstance(value, list):
            self.tool = "torch.profiler"
            for one in value:
                if isinstance(one, dict):
                    label = _label(one.get("id"))
                    self.devices[label] = str(one.get("name", ""))
                    self.targets[label] = _target(one)
        if key == "distributedInfo" and isinstance(value, dict) and "rank" in value:
            self.log.rank = _label(value["rank"])

    def finished(self, path: Path) -> EventLog:
        """Return what was read, with devices named."""
        known = {label: (name, self.targets[label]) for label, name in self.devices.items() if label in self.log.labels}
        alike = {(name, self.targets[label]) for label, name in self.devices.items()}
        if len(alike) == 1:  # ROCm numbers the devices of events otherwise than their properties
            known = dict.fromkeys(self.log.labels, *alike)
        self.amd = self.amd or any("AMD" in name for name, _ in known.values())
        for label, (name, target) in known.items():
            self.log.device(label, name, "" if self.amd else target)
        if self.unreadable:
            self.log.notes[f"{self.unreadable} GPU event(s) without usable times: left out"] = None
        if self.backwards:
            self.log.notes[f"{self.backwards} event(s) end before they start: left out"] = None
        self.log.source = ReportSource(str(path), _FORMAT, self.tool, "amd" if self.amd else "nvidia")
        return self.log


def read_chrome_trace(path: Path) -> Trace:
    """Return kernels and devices of a trace.

    Raises:
        ReportError: The file is damaged, or has no GPU event.
    """
    return chrome_log(path).trace()


def chrome_log(path: Path, watch: Watch | None = None) -> EventLog:
    """Return the events of the GPUs; `watch` sees those of the host besides. Raises as `read_chrome_trace` does."""
    reading = _Reading(EventLog(ReportSource(str(path), _FORMAT, "", "nvidia")), watch=watch)
    with JsonStream(path) as stream:
        if stream.peek() == "[":
            _events(stream, reading)
        else:
            for key in stream.members():
                if key == "traceEvents" and stream.peek() == "[":
                    _events(stream, reading)
                elif key in {"deviceProperties", "distributedInfo"}:
                    reading.about(key, stream.value())
                else:
                    stream.skip()
    if reading.log.empty:
        raise ReportError(
            f"a Chrome trace whose {lost} GPU event(s) have no usable times"
            if (lost := reading.unreadable + reading.backwards)
            else "a Chrome trace without GPU kernels or copies",
            where=path,
            fix="record with torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
            code="KB205",
        )
    return reading.finished(path)


def _events(stream: JsonStream, reading: _Reading) -> None:
    for _ in stream.elements():
        reading.take(stream.value())


def _span(event: Mapping[str, object]) -> tuple[int, int] | None:
    start, length = event.get("ts"), event.get("dur", 0)
    if not isinstance(start, (int, float)) or not isinstance(length, (int, float)):
        return None
    try:
        begin, taken = round(start * _NS_PER_US), round(length * _NS_PER_US)
    except (ValueError, OverflowError):  # no number, or one without an end
        return None
    return (begin, begin + taken) if abs(begin) < LARGEST_NS and abs(begin + taken) < LARGEST_NS else None


def _label(value: object) -> str:
    return str(value)[:_LABEL_CHARS]


def _correlation(details: Mapping[str, object]) -> int:
    value = details.get("correlation")
    return value if isinstance(value, int) and 0 <= value < 1 << 62 else NO_LAUNCH


def _kind(kind: EventKind, name: str, device: int, details: Mapping[str, object]) -> TimedKind:
    if kind in {"copy", "fill"}:
        match = _DIRECTION.match(name)
        return TimedKind(kind, next(filter(None, match.groups()), name) if match else name, device)
    facts = ((metric, details.get(word)) for word, metric in _METRICS)
    metrics = tuple((metric, float(one)) for metric, one in facts if isinstance(one, int) and 0 <= one < 1 << 53)
    grid, block = _extents(details.get("grid")), _extents(details.get("block"))
    return TimedKind(kind_of(name), name, device, grid=grid, block=block, metrics=metrics)


def _extents(value: object) -> Dim3 | None:
    if not isinstance(value, list) or len(value) != len(Dim3._fields):
        return None
    return Dim3(*value) if all(isinstance(one, int) and 0 < one < 1 << 32 for one in value) else None


def _target(properties: Mapping[str, object]) -> str:
    major, minor = properties.get("computeMajor"), properties.get("computeMinor")
    nvidia = isinstance(major, int) and isinstance(minor, int) and "AMD" not in str(properties.get("name"))
    return f"sm_{major}{minor}" if nvidia else ""


def _is_chrome(head: ReportHead) -> bool:
    start = head.unpacked.lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith((b"{", b"[")) and any(mark in start for mark in _MARKS)


def _profiles(path: Path) -> Iterator[KernelProfile]:
    yield from read_chrome_trace(path).profiles


CHROME_TRACE = Reader(
    _FORMAT, "Chrome trace of torch.profiler or proton", _is_chrome, _profiles, trace=read_chrome_trace
)

"""One launch as a report describes it: place, shape, raw counters and normalised metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

from kopt_kb.analysis.profile.families import Vendor
from kopt_kb.base.wire import Wire
from kopt_kb.quantity import Exactness

__all__ = ["Dim3", "HotSpot", "ProfiledLaunch", "RawMetric", "ReportPlace", "ReportSource", "RuleKind", "StoredRule"]

RuleKind = Literal["none", "ok", "optimization", "warning", "error"]


class Dim3(NamedTuple):
    """Extents along x, y and z."""

    x: int
    y: int = 1
    z: int = 1

    @property
    def size(self) -> int:
        """The product of the extents."""
        return self.x * self.y * self.z


class RawMetric(NamedTuple):
    """A counter as the tool names it, turned into base units.

    Attributes:
        value: Number in `unit`, or the tool's text for a setting.
        unit: Base unit (`s`, `Hz`, `B`, `B/s`, `%`, …); the tool's own word where it is no physical unit.
    """

    value: float | str
    unit: str


@dataclass(frozen=True, slots=True)
class ReportSource(Wire):
    """The report that profiles were read from.

    Attributes:
        file: Path as the caller gave it.
        format: Stable id of the reader, such as `ncu-rep`, `ncu-csv-raw`, `rocpd`.
        tool: Program that measured: `ncu`, `rocprof`, `rocprofv3`, `rocprof-compute`.
        vendor: Maker of the device.
        tool_version: Version of that program, None when the report doesn't say.
    """

    file: str
    format: str
    tool: str
    vendor: Vendor
    tool_version: str | None = None


@dataclass(frozen=True, slots=True)
class ReportPlace:
    """Where in a report a launch stands.

    Attributes:
        file: File of a report that may be a folder of files.
        at: `line 12`, `row 3`, `range 0 action 2`, `dispatch 17`.
    """

    file: str
    at: str

    @property
    def text(self) -> str:
        """`file, at`."""
        return f"{self.file}, {self.at}"

    def __str__(self) -> str:
        """`file, at`."""
        return self.text


@dataclass(frozen=True, slots=True)
class StoredRule(Wire):
    """One verdict that the profiler itself stored in its report.

    Attributes:
        rule: Identifier, such as `SOLBottleneck`.
        section: Section identifier or title.
        title: Title of the message; empty when the rule has none.
        kind: Type of the message.
        speedup_pct: The tool's estimated speed-up, None when it gives none.
        scope: Whether that estimate is of the whole kernel ("global") or a part ("local").
    """

    rule: str
    section: str
    title: str
    kind: RuleKind
    speedup_pct: float | None = None
    scope: Literal["local", "global"] | None = None


@dataclass(frozen=True, slots=True)
class HotSpot(Wire):
    """One instruction with its sampled or traced cost (ATT, source pages); never scaled to the whole GPU.

    Attributes:
        address: Virtual address or program counter.
        instruction: Disassembly.
        hits: Times it was executed in the traced waves.
        latency_cycles: Cycles it took there.
        stall_cycles: Cycles, or samples, of those it was stalled.
        source: File and line it was compiled from, empty when unknown.
        unit: What the costs count: `cycles` of a trace or `samples` of a sampler.
        reasons: Samples by stall reason, the largest first; empty for traces.
        waits_for: The operation it waits for, with its place; empty when the listing doesn't show it.
    """

    address: int
    instruction: str
    hits: int
    latency_cycles: int
    stall_cycles: int
    source: str = ""
    unit: Literal["cycles", "samples"] = "cycles"
    reasons: Mapping[str, int] = field(default_factory=dict)
    waits_for: str = ""


@dataclass(frozen=True, slots=True)
class ProfiledLaunch(Wire):
    """One launch (ncu action, AMD dispatch).

    Attributes:
        id: Identifier in the report.
        name: Kernel name as the report prints it.
        place: Where it stands.
        demangled: Full name with parameters, equal to `name` when the report has one name only.
        device: Name of the device, empty when unknown.
        target: Compiler target such as `sm_90` or `gfx942`, empty when unknown.
        grid: Blocks along each axis (AMD work-items already divided by the block).
        block: Threads of a block along each axis.
        metrics: Normalised metrics by vocabulary id; what was not collected has no entry.
        bounds: Ids whose value is only a lower or upper bound.
        raw: The tool's counters by their verbatim names.
        rules: Verdicts the tool stored.
        notes: What a reader should know of this launch.
    """

    id: str
    name: str
    place: ReportPlace
    demangled: str = ""
    device: str = ""
    target: str = ""
    grid: Dim3 | None = None
    block: Dim3 | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, Exactness] = field(default_factory=dict)
    raw: Mapping[str, RawMetric] = field(default_factory=dict)
    rules: tuple[StoredRule, ...] = ()
    notes: tuple[str, ...] = ()

    WIRE: ClassVar = ("id", "place=place.text", "grid", "block", "duration_s")
    """Metrics of one launch and raw counters stay in Python."""

    @property
    def duration_s(self) -> float | None:
        """Time on the GPU, None when the report has no usable one."""
        return self.metrics.get("duration_s")

"""Events that describe a workspace: what it is for, which values it registered, what it aims at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from kopt_kb.base.wire import JsonMap, NonNegativeInt, Number, Seq, Sha256, Text, Wire
from kopt_kb.launch.candidate.machine import HOST

__all__ = [
    "AGGREGATE",
    "BenchStarted",
    "CitationRef",
    "EnvironmentRecorded",
    "EventData",
    "FileAdopted",
    "MemoryNoted",
    "NoiseMeasured",
    "NoteAdded",
    "ProfileRead",
    "ReachableMeasured",
    "SpecRow",
    "SpecsRegistered",
    "Target",
    "TargetSet",
    "UnknownRow",
    "WikiState",
    "WorkspaceCreated",
]


class EventData(Wire):
    """Base of every event's data; `kind` is its name in the journal, `blobs` its fields that name a blob, of packs."""

    __slots__ = ()
    kind: ClassVar[str]
    blobs: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True)
class WikiState(Wire):
    """The wiki a workspace was made from.

    Attributes:
        root: Folder or package the pages came from.
        pages: Page path below the root → sha256 of the page's bytes.
    """

    root: Text
    pages: Mapping[str, Sha256]


@dataclass(frozen=True, slots=True)
class WorkspaceCreated(EventData):
    """The first event of every workspace.

    Attributes:
        name: Name given by the user, without the folder's prefix.
        platform: Exact platform id.
        problem: Op, shapes, dtypes and tolerances as the problem layer wrote them.
        kernel: Blob of the kernel or PyTorch logic the workspace starts from; null on the route roofline.
        wiki: The wiki and the hashes of its pages.
        versions: Program → version (kopt-kb, python, ...); `views`: edition of the words of rendered blocks.
        kernel_test: Blob of test_kernel.py; null where there is none, or an earlier release did not keep it.
        written: File → sha256 of what kb wrote into it that no event renders: .gitignore, and the text outside of the
            README's blocks; null of an earlier release.
    """

    kind: ClassVar[str] = "workspace_created"
    name: Text
    platform: Text
    problem: JsonMap
    kernel: Sha256 | None
    wiki: WikiState
    versions: Mapping[str, str]
    kernel_test: Sha256 | None = None
    written: Mapping[str, Sha256] | None = None


@dataclass(frozen=True, slots=True)
class CitationRef(Wire):
    """Where a row stood when it was registered.

    Attributes:
        path: Page path below the wiki's root.
        line: Line of the row, from 1.
        row_sha256: Hash of the row's content as the wiki contract defines it (12 or more hex digits).
    """

    path: Text
    line: Seq
    row_sha256: Text


@dataclass(frozen=True, slots=True)
class SpecRow(Wire):
    """One registered value.

    Attributes:
        key: Metric with its axes, as in citations.
        value: Value as printed on the page.
        unit: Unit as printed; empty for tokens.
        si: Exact value in the SI unit, or null for tokens.
        grade: The row's grade.
        citation: Where the row stands.
        source: Document and locator as text; empty for derived rows.
    """

    key: Text
    value: Text
    unit: str
    si: Number | None
    grade: Text
    citation: CitationRef
    source: str


@dataclass(frozen=True, slots=True)
class UnknownRow(Wire):
    """A value that was needed and that nobody publishes.

    Attributes:
        key: Metric with its axes.
        reason: Why it is unknown.
        citation: The UNKNOWN row, or null when the page has none.
        placeholder: What the user put in its place, never an input of a target; null without one.
    """

    key: Text
    reason: Text
    citation: CitationRef | None
    placeholder: str | None = None


@dataclass(frozen=True, slots=True)
class SpecsRegistered(EventData):
    """The hardware values this workspace may use."""

    kind: ClassVar[str] = "specs_registered"
    rows: tuple[SpecRow, ...]
    unknown: tuple[UnknownRow, ...]


AGGREGATE = "aggregate"
"""Quantity of the condition over all shapes."""


@dataclass(frozen=True, slots=True)
class Target(Wire):
    """One Stop Condition.

    Attributes:
        quantity: What is compared.
        op: The comparison the measured value has to satisfy.
        value: The limit, exact, in `unit`.
        unit: Unit of the limit; empty for a ratio.
        basis: Key of the row (or name of the condition) the limit comes from.
        factor: Share of the basis, exact.
        grades: Grades of all rows the limit rests on.
        shape: The shape the condition is for; null for the aggregate.
    """

    WIRE: ClassVar = ("shape", "quantity", "op", "value", "unit", "basis", "factor", "grades")
    quantity: Text
    op: Literal[">=", "<="]
    value: Number
    unit: str
    basis: Text
    factor: Number
    grades: tuple[Text, ...]
    shape: str | None = None


@dataclass(frozen=True, slots=True)
class TargetSet(EventData):
    """The targets from here on.

    Attributes:
        work: Counts of the work, as the problem layer wrote them.
        ceiling_keys: Keys of the rows used as ceilings.
        bound: The limiting roof; "mixed" when the shapes differ.
        targets: All conditions, per shape and aggregate.
        supersedes: Event whose targets these replace, or null.
        reason: Why they were set.
        by: Who set them.
    """

    kind: ClassVar[str] = "target_set"
    work: JsonMap
    ceiling_keys: tuple[Text, ...]
    bound: Literal["compute", "memory", "balanced", "mixed", "unknown"]
    targets: tuple[Target, ...]
    supersedes: Seq | None
    reason: Text
    by: Text


@dataclass(frozen=True, slots=True)
class EnvironmentRecorded(EventData):
    """The machine that measurements refer to.

    Attributes:
        device: Name the driver prints.
        uuid: Identity of the device; null where the driver gives none.
        driver: Driver version, or null.
        clocks: Clock settings, unit in each name.
        versions: Program → version.
        harness: Hash of the measuring code.
        product: Platform id of the product that has this name; empty when no page knows it. Null in journals of earlier
            releases, where nobody looked, or where a project ran on a machine without a GPU.
    """

    kind: ClassVar[str] = "environment_recorded"
    device: Text
    uuid: str | None
    driver: str | None
    clocks: JsonMap
    versions: Mapping[str, str]
    harness: Sha256
    product: str | None = None

    def is_other_than(self, platform: str) -> bool:
        """Return whether it is not known to be a product: another one, a name without a page, a host without GPU."""
        return self.product not in {None, platform} or self.device.startswith(HOST)


@dataclass(frozen=True, slots=True)
class BenchStarted(EventData):
    """A kernel is measured outside any round; runs and records of this candidate belong to no round.

    Attributes:
        bench: Name of the bench, by which its runs and records call the candidate.
        kernel: Blob that is measured.
        version: The version whose snapshot it is; null for the kernel as it stood.
        machine: Where; records of the bench name this event as their environment.
    """

    kind: ClassVar[str] = "bench_started"
    bench: Text
    kernel: Sha256
    version: NonNegativeInt | None
    machine: EnvironmentRecorded


@dataclass(frozen=True, slots=True)
class NoiseMeasured(EventData):
    """How much the same kernel varies: n medians of one shape, and the smallest gain that counts."""

    kind: ClassVar[str] = "noise_measured"
    shape: Text
    n: NonNegativeInt
    median_s: float
    mad_s: float
    floor_pct: float
    run: Text


COPY_PROBE, PRODUCT_PROBE = "copy of the same bytes", "torch.mm of the same shape"
"""Probes that nothing was seen to beat; any other is a kernel of the package, which another may."""


@dataclass(frozen=True, slots=True)
class ReachableMeasured(EventData):
    """What a machine gives for the amount of one shape, beside its target and never a value of the wiki.

    Attributes:
        shape: Shape of the problem.
        probe: What was timed, `none` where nothing can stand for the roof.
        roof: Roof it is about.
        rate_si: Bytes or operations a second; null where it was not measured.
        median_s: Median time of the probe.
        n: Timed runs.
        run: Run that timed it; empty without one.
        environment: Event of the machine.
        reason: Why there is no rate; empty where there is.
    """

    kind: ClassVar[str] = "reachable_measured"
    shape: Text
    probe: Text
    roof: Text
    rate_si: float | None
    median_s: float | None
    n: NonNegativeInt
    run: str
    environment: Seq
    reason: str

    @property
    def is_unbeaten(self) -> bool:
        """Whether the probe is one that nothing was seen to beat."""
        return self.probe in {COPY_PROBE, PRODUCT_PROBE}


@dataclass(frozen=True, slots=True)
class ProfileRead(EventData):
    """A profiler's report and the verdict on it.

    Attributes:
        report: Blob of the report.
        tool: What recorded it.
        kernel: Blob that it was taken of.
        code: Class and limiter; ncu's class in journals of earlier releases.
        evidence: A kernel each: what the rules say and the metrics behind it.
        name: Name of the report in profiles/; empty where it has none.
    """

    kind: ClassVar[str] = "profile_read"
    report: Sha256
    tool: Text
    kernel: Sha256 | None
    code: Text
    evidence: tuple[JsonMap, ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class NoteAdded(EventData):
    """A finding in words; the text is a blob."""

    kind: ClassVar[str] = "note_added"
    topic: Literal["search", "tip", "pitfall", "user"]
    text: Sha256
    by: Text


@dataclass(frozen=True, slots=True)
class MemoryNoted(EventData):
    """Words added to one version's memory; `text` is the blob of the entry's JSON."""

    kind: ClassVar[str] = "memory_noted"
    version: NonNegativeInt
    field: Literal["search_log", "pitfalls_and_fixes", "open_directions", "references", "risks_and_rollback"]
    text: Sha256
    by: Text


@dataclass(frozen=True, slots=True)
class FileAdopted(EventData):
    """A person's edit of a rendered file or block became part of the record."""

    kind: ClassVar[str] = "file_adopted"
    path: Text
    block: str | None
    blob: Sha256
    by: Text

"""What tools say of a candidate: a profiler's report, and its code compiled for the platform without a GPU."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.analysis.ir.machine.targets import Progress, evaluate_targets
from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.analysis.rules.classify import classify
from kopt_kb.analysis.rules.verdict import Verdict
from kopt_kb.base.errors import KoptError, MissingTool
from kopt_kb.base.wire import JSON, canonical
from kopt_kb.launch.candidate.answers import ReportEvidence
from kopt_kb.launch.compile.request import OpCase
from kopt_kb.launch.counts import limits
from kopt_kb.launch.counts.pruning import PruneOptions, Removed, prune
from kopt_kb.launch.counts.static_profile import compile_kernel
from kopt_kb.launch.kernel.declared import kernel_name
from kopt_kb.launch.machine.report_file import unpack_report
from kopt_kb.problem.shapes import Shape, format_shape
from kopt_kb.problem.work import Work
from kopt_kb.sandbox.deadline import left_s
from kopt_kb.tuning.decision import GateResult
from kopt_kb.wiki.registry import Platform
from kopt_kb.workspace.journal.setup_events import ProfileRead

__all__ = ["IsaEvidence", "ReportOrigin", "ResourceGate", "read_evidence", "worst_progress"]

_NAME = 80
"""Characters of a kernel's name in the gate's word; the event has it whole."""

_SHOWN = (
    "memory_sol_pct", "sm_sol_pct", "dram_sol_pct", "achieved_occupancy_pct", "registers_per_thread", "waves_per_sm",
    "duration_s",
)  # fmt: skip
_COMPILE_S = 60.0
"""Seconds that one compilation may take."""


@dataclass(frozen=True, slots=True)
class ReportOrigin:
    """Where a report comes from.

    Attributes:
        report: Its blob.
        kernel: Blob of the candidate it was taken of.
        name: Its name in profiles/; empty: it has none.
        platform: The product, whose roofs the verdict is held against; None: roofs are left out.
        work: Useful work of the shape, for a report of one kernel.
    """

    report: str
    kernel: str
    name: str = ""
    platform: Platform | None = None
    work: Work | None = None


def read_evidence(result: ReportEvidence, taken: ReportOrigin) -> tuple[GateResult, ProfileRead | None]:
    """Return the gate's word and the record of a profiling run: what the rules say of each kernel, the longest first.

    Copies and fills that the runtime launches by itself come last: a program that is profiled whole has them.

    The event's code is the class and the limiter of the first.
    """
    with tempfile.TemporaryDirectory(prefix="kb-ncu-") as folder:
        try:
            path = unpack_report(result.report, Path(folder))
            profiles = sorted(read_profiles(path), key=_first)
            own = sum(one.role != "runtime" for one in profiles)
            work = taken.work if own == 1 else None
            verdicts = [classify(one, taken.platform, work if one.role != "runtime" else None) for one in profiles]
        except KoptError as error:
            said = str(error).replace(str(Path(folder) / "report"), "the report")  # its place is gone by then
            return GateResult("evidence", "unavailable", said[:300]), None
    if not profiles:
        return GateResult("evidence", "unavailable", "the report has no kernel"), None
    judged = tuple(_judged_kernel(one, verdict, result.shape) for one, verdict in zip(profiles, verdicts, strict=True))
    code = f"{verdicts[0].bottleneck}: {verdicts[0].limiter}"
    event = ProfileRead(taken.report, profiles[0].source.tool, taken.kernel, code, judged, taken.name)
    return GateResult("evidence", "pass", f"{profiles[0].function[:_NAME]}: {code}"), event


def _first(profile: KernelProfile) -> tuple[bool, float]:
    """Return what sorts kernels: the longest first, and what the runtime launches by itself behind them."""
    return profile.role == "runtime", -_total_s(profile)


def _total_s(profile: KernelProfile) -> float:
    return profile.durations.total_s if profile.durations is not None else 0.0


def _judged_kernel(profile: KernelProfile, verdict: Verdict, shape: str) -> Mapping[str, JSON]:
    """Return what a profile's event says of a kernel; all other metrics are in the report's blob."""
    metrics: dict[str, JSON] = {name: float(profile.metrics[name]) for name in _SHOWN if name in profile.metrics}
    return {
        "kernel": profile.name, "shape": shape, "launches": profile.launch_count, "total_s": _total_s(profile),
        "sol_class": profile.sol_class, "metrics": metrics, "verdict": verdict.to_json(),
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class ResourceGate:
    """Judges a source on all shapes of a problem; unavailable without triton, a target, or declared launches."""

    platform: Platform
    shapes: tuple[Shape, ...]
    dtype: str

    def __call__(self, source: bytes, ends_at: float = math.inf) -> GateResult:
        """Return pass, fail with the number and the limit it breaks, or unavailable.

        Raises:
            TimeoutError: It is not judged by that moment of `time.monotonic`.
        """
        shapes = {format_shape(shape): shape for shape in self.shapes}
        with tempfile.TemporaryDirectory(prefix="kb-limits-") as folder:
            file = Path(folder) / kernel_name(source)
            file.write_bytes(source)
            cases = {text: OpCase(str(file), shape, self.dtype, {}) for text, shape in shapes.items()}
            try:
                pruned = prune(
                    {"shape": list(cases)},
                    lambda config: cases[str(config["shape"])],
                    self.platform.identity.target,
                    limits.limits_of(self.platform),
                    PruneOptions(min(len(cases), os.cpu_count() or 1), _COMPILE_S, ends_at=ends_at),
                )
                left_s(ends_at)  # what the end cut off is no fault of the source
            except (MissingTool, KoptError) as error:
                return GateResult("limits", "unavailable", str(error)[:300])
        return _judged(pruned.removed)

    def instructions(self, source: bytes, ends_at: float = math.inf) -> IsaEvidence | None:
        """Return how far the compiled code is from each ISA target, the worst shape's number; None where it can't be.

        Without Triton, a disassembler or a target that it knows nothing is said.

        Raises:
            TimeoutError: It is not read by that moment of `time.monotonic`.
        """
        from kopt_kb.launch.compile.pool import CompilePool

        by_shape: dict[str, list[dict[str, JSON]]] = {}
        judged: list[Progress] = []
        with tempfile.TemporaryDirectory(prefix="kb-isa-") as folder:
            file = Path(folder) / kernel_name(source)
            file.write_bytes(source)
            try:
                # One warm worker: what a worker imports takes longer than a shape.
                with CompilePool(time_limit_s=_COMPILE_S, ends_at=ends_at) as pool:
                    for shape in self.shapes:
                        case = OpCase(str(file), shape, self.dtype, {})
                        for kernel in compile_kernel(case, self.platform.identity.target, pool=pool):
                            targets = evaluate_targets(kernel.scan)
                            by_shape.setdefault(format_shape(shape), []).append(
                                {"kernel": kernel.name, "targets": [progress.to_json() for progress in targets]}
                            )
                            judged += targets
            except (MissingTool, KoptError):
                left_s(ends_at)  # nor is what it cut off a kernel that can't be read
                return None
        return IsaEvidence(canonical(by_shape), worst_progress(judged)) if judged else None


@dataclass(frozen=True, slots=True)
class IsaEvidence:
    """What scans of compiled code say: a report of every kernel and shape, and the worst number of each target."""

    report: bytes
    evidence: tuple[Mapping[str, JSON], ...]


def worst_progress(judged: Iterable[Progress]) -> tuple[Mapping[str, JSON], ...]:
    """Return metric, value and whether it is met for each target that applies to some kernel."""
    worst: dict[str, Progress] = {}
    for progress in judged:
        known = worst.get(progress.target.id)
        if progress.value is None:
            continue
        sign = 1 if progress.target.relation == "at_least" else -1
        if known is None or known.value is None or sign * progress.value < sign * known.value:
            worst[progress.target.id] = progress
    return tuple(
        {"metric": name, "value": progress.value, "met": progress.status == "met"} for name, progress in worst.items()
    )


def _judged(removed: tuple[Removed, ...]) -> GateResult:
    """Return fail for what can't launch; spills are said, not forbidden; what could not be judged is unavailable."""
    texts = {refused.reason: f"{refused.config['shape']}: {refused.detail}"[:300] for refused in removed}
    for reason in ("shared_memory", "cannot_launch", "compiler"):
        if reason in texts:
            return GateResult("limits", "fail", texts[reason])
    other = next((text for reason, text in texts.items() if reason != "spills"), "")
    if other:
        return GateResult("limits", "unavailable", other)
    return GateResult("limits", "pass", texts.get("spills", ""))

"""The limits gate of replayed candidates: code objects of their records against sourced limits, before any replay."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kopt_kb.analysis.ir.machine.model import IsaScan
from kopt_kb.analysis.ir.machine.operands import executed_types
from kopt_kb.analysis.ir.machine.scan import scan_text
from kopt_kb.analysis.ir.machine.targets import Progress, evaluate_targets
from kopt_kb.analysis.occupancy.limits import Limits
from kopt_kb.analysis.roofline.executed import ExecutedFloor, executed_floor
from kopt_kb.base.errors import KoptError, MissingTool
from kopt_kb.base.wire import JSON, canonical
from kopt_kb.launch.compile.disassemble import sass_of
from kopt_kb.launch.counts.launch_limits import launch_refusal, narrow_matrix
from kopt_kb.launch.judge.makers import Made
from kopt_kb.launch.record.judge import stored
from kopt_kb.problem.work import Work
from kopt_kb.sandbox.deadline import left_s
from kopt_kb.tuning.decision import GateResult
from kopt_kb.tuning.evidence import IsaEvidence, worst_progress
from kopt_kb.wiki.registry import Platform

__all__ = ["RecordGate"]

MakeRecords = Callable[[bytes, float], Mapping[str, Made]]
"""Returns shape → what became of a source's record by a moment; raises `TimeoutError`."""


@dataclass(slots=True)
class RecordGate:
    """Judges a source by what its launches would load; what is not recorded is left to the build gate.

    Attributes:
        recorded: Makes records, or finds them.
        limits: Sourced limits of the product.
        dtype: Storage type of the problem.
        operands: The problem's option of that name: the narrowest operands of a matrix instruction.
        platform: The product, at whose rates read code is held; None: it is not held.
        scans: Code object → instructions of its kernels; None: they could not be read.
    """

    recorded: MakeRecords
    limits: Limits
    dtype: str
    operands: str = "tolerance"
    platform: Platform | None = None
    scans: dict[str, tuple[IsaScan, ...] | None] = field(default_factory=dict)

    def __call__(self, source: bytes, ends_at: float = math.inf) -> GateResult:
        """Return pass, fail with the number and the limit it breaks, or unavailable.

        Raises:
            TimeoutError: The records are not made by that moment of `time.monotonic`.
        """
        try:
            for shape, made in self.recorded(source, ends_at).items():
                if made.record is None or made.record.not_replayable:
                    why = f"not recorded: {made.error}" if made.record is None else made.record.not_replayable
                    return GateResult("limits", "unavailable", f"{shape}: {why}"[:300])
                record, code = stored(made.folder)
                found = launch_refusal(record, code, self.limits)
                found = found or narrow_matrix(self._scanned(made), self.dtype, self.operands)
                if found:
                    return GateResult("limits", "fail", f"{shape}: {found}"[:300])
        except KoptError as error:
            return GateResult("limits", "unavailable", str(error)[:300])
        return GateResult("limits", "pass")

    def instructions(self, source: bytes, ends_at: float = math.inf) -> IsaEvidence | None:
        """Return how far the recorded code is from each ISA target; None where it can't be read.

        Raises:
            TimeoutError: It is not read by that moment of `time.monotonic`.
        """
        by_shape: dict[str, list[dict[str, JSON]]] = {}
        judged: list[Progress] = []
        for shape, made in self.recorded(source, ends_at).items():
            left_s(ends_at)
            for scan in self._scanned(made):
                targets = evaluate_targets(scan)
                by_shape.setdefault(shape, []).append(
                    {"kernel": scan.kernel, "targets": [progress.to_json() for progress in targets]}
                )
                judged += targets
        return IsaEvidence(canonical(by_shape), worst_progress(judged)) if judged else None

    def executed(self, source: bytes, works: Mapping[str, Work]) -> dict[str, ExecutedFloor]:
        """Return shape → the floor of its work by the code that was recorded; without what can't be read."""
        found = {shape: executed_types(self._scanned(made)) for shape, made in self.recorded(source, math.inf).items()}
        product = self.platform
        return {
            shape: executed_floor(works[shape], product, types)
            for shape, types in found.items()
            if types is not None and product is not None and shape in works
        }

    def _scanned(self, made: Made) -> tuple[IsaScan, ...]:
        """Return the instructions of the kernels that a record launches, each code object read once."""
        if made.record is None or not made.record.target.startswith("sm_"):
            return ()
        _, code = stored(made.folder)
        entries: dict[str, set[str]] = {}
        for step in made.record.launches:
            entries.setdefault(step.code, set()).add(step.entry)
        scans: list[IsaScan] = []
        for digest, names in entries.items():
            if digest not in self.scans:
                self.scans[digest] = _scan(code(digest))
            scans += [one for one in self.scans[digest] or () if one.kernel in names]
        return tuple(scans)


def _scan(code: bytes) -> tuple[IsaScan, ...] | None:
    try:
        return scan_text(sass_of(code), where="record")
    except (MissingTool, KoptError):
        return None

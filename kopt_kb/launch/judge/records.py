"""Launch records checked, as the loop checks them: a warm judge replays, another process compares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.launch.judge.device import DeviceJudging
from kopt_kb.launch.judge.judges import Starting, fit_for_a_contest
from kopt_kb.launch.judge.judging import ReplayTried
from kopt_kb.launch.kernel.declared import packaged_reference as reference_of
from kopt_kb.launch.kernel.judgement import trials_of
from kopt_kb.launch.kernel.op_options import problem_options
from kopt_kb.launch.record.judge import load_record
from kopt_kb.problem.ops import definition

__all__ = ["Replayed", "packaged_reference", "replay_record"]


@dataclass(frozen=True, slots=True)
class Replayed(Wire):
    """The check of a record by replay.

    Attributes:
        record: Folder of the record.
        label: What was recorded.
        trust: `replayed`: the recorded file's Python ran in no process that judged.
        passed: Whether every check passed.
        problem: Why not; empty when it passed.
        rel_l2_err: ‖out − ref‖₂ / ‖ref‖₂, the largest of all checks; null without a comparable result.
        checks: Replays, each on fresh inputs.
        tried: What was found of each; after the first that failed there are no more.
    """

    record: str
    label: str
    trust: str
    passed: bool
    problem: str
    rel_l2_err: float | None
    checks: int
    tried: tuple[ReplayTried, ...] = ()


def packaged_reference(folder: Path) -> Path:
    """Return the package's file of the operation that a record names; raises `BadInput` when there is none."""
    record = load_record(folder)
    path = reference_of(record.op)
    if path is None:
        what = f"no reference for the operation {record.op!r}" if record.op else "a call has no reference of its own"
        raise BadInput(
            what, where=str(folder), fix="give --reference FILE with make_inputs and reference", code="KB451"
        )
    if record.options is not None:
        said = problem_options(path.read_bytes(), record.op, {}, str(path))
        asked = dict(definition(record.op).read_options(record.options).items)
        for name, value in said.items():
            if asked.get(name, value) != value:
                what = f"the record computes {name}={asked[name]}, and the package's {record.op} {name}={value}"
                fix = "give --reference FILE whose reference() computes that"
                raise BadInput(what, where=str(folder), fix=fix, code="KB451")
    return path


def replay_record(
    folder: Path, reference: Path, *, checks: int = 3, inputs: Sequence[str] = (), starting: Starting | None = None
) -> Replayed:
    """Replay a record of an op file on the GPU and compare with the float64 reference on fresh inputs.

    Args:
        folder: The record's folder.
        reference: File whose `make_inputs` and `reference` judge.
        checks: How many inputs as drawn, each from the system's entropy.
        inputs: Names of the trials that come before them; none: all that the operation declares.
        starting: How judge and reference are started; None: as processes of this package.

    Raises:
        BadInput: There is no usable record, it is of no op file, it can't be replayed at all, or a trial is unknown.
        FindingError: The reference can't be computed, which is no fault of the record.
        MissingTool: No GPU, or cuda-bindings or torch is not installed.
    """
    record = fit_for_a_contest(folder)
    trials_of(record.op, inputs)
    judging = DeviceJudging(starting, trials=inputs, at_once=1)
    try:
        judging.machine()
        found = judging.check(folder, reference, checks, math.inf)
    finally:
        judging.close()
    ran = sum(not one.skipped for one in found.tried)
    return Replayed(
        str(folder), record.label, "replayed", not found.problem, found.problem, found.rel_l2_err, ran, found.tried
    )

"""Launch records checked: a judge child replays, another one compares.

The judge loads code objects through the driver and imports no candidate. The reference process makes
the inputs and holds the float64 result; it never sees the recorded file.
"""

from __future__ import annotations

import json
import secrets
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kopt_kb.errors import BadInput, FindingError, KoptError, MissingTool
from kopt_kb.kernels.declared import packaged_reference as reference_of
from kopt_kb.kernels.judgement import trials_of
from kopt_kb.kernels.record.judge import MAX_RECORD_BYTES, Job, Verdict, load_record
from kopt_kb.kernels.record.model import LaunchRecord
from kopt_kb.kernels.record.reference import Compare, Distance, Other, Prepare, Prepared
from kopt_kb.owned import owned_folder
from kopt_kb.problem.trials import RANDOM, Trial
from kopt_kb.process import Child, Limits, environment, run
from kopt_kb.wire import Wire, canonical, parse, read

__all__ = ["Replayed", "Tried", "packaged_reference", "replay_record"]

_REPLAY_S, _REFERENCE_S = 300.0, 300.0
"""Seconds that a replay, and one answer of the reference may take."""


@dataclass(frozen=True, slots=True)
class Tried(Wire):
    """One replay and what was found of it.

    Attributes:
        inputs: Name of the trial, with `, second run` for the one that follows from the first.
        seed: What the inputs follow from; drawn from the system's entropy for this replay alone.
        passed: Whether the result was right; also where the trial says nothing.
        problem: Why not; empty when it was.
        rel_l2_err: ‖out − ref‖₂ / ‖ref‖₂; null without a comparable result.
        block_err: The same of the worst part of a row, less what rounding of its terms explains.
        element_err: Largest error of an element as a share of the largest of its row, less likewise.
        relation_err: Distance of a second run from what the first demands of it.
        skipped: Why the trial says nothing about this operation.
    """

    inputs: str
    seed: int
    passed: bool
    problem: str = ""
    rel_l2_err: float | None = None
    block_err: float | None = None
    element_err: float | None = None
    relation_err: float | None = None
    skipped: str = ""


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
    tried: tuple[Tried, ...] = ()


def packaged_reference(folder: Path) -> Path:
    """Return the package's file of the operation that a record names; raises `BadInput` when there is none."""
    record = load_record(folder)
    path = reference_of(record.op)
    if path is None:
        what = f"no reference for the operation {record.op!r}" if record.op else "a call has no reference of its own"
        raise BadInput(
            what, where=str(folder), fix="give --reference FILE with make_inputs and reference", code="KB451"
        )
    return path


def replay_record(folder: Path, reference: Path, *, checks: int = 3, inputs: Sequence[str] = ()) -> Replayed:
    """Replay a record of an op file on the GPU and compare with the float64 reference on fresh inputs.

    Args:
        folder: The record's folder.
        reference: File whose `make_inputs` and `reference` judge.
        checks: How many inputs as drawn, each from the system's entropy.
        inputs: Names of the trials that come after them; none: all that the operation declares.

    Raises:
        BadInput: There is no usable record, it is of no op file, it can't be replayed at all, or a trial is unknown.
        FindingError: The reference can't be computed, which is no fault of the record.
        MissingTool: No GPU, or cuda-bindings or torch is not installed.
    """
    from kopt_kb.runners.replay.judges import fit_for_a_contest

    record = fit_for_a_contest(folder)
    named = [one for one in trials_of(record.op, inputs) if one is not RANDOM]
    tried: list[Tried] = []
    with _reference() as ask, owned_folder("kb-replay-") as scratch:
        for trial in (*(RANDOM for _ in range(checks)), *named):
            tried.extend(_Replays(ask, folder, record, reference, scratch).of(trial))
            if not tried[-1].passed:
                break
    problem = next((f"{one.inputs}: {one.problem}" for one in tried if one.problem), "")
    errors = [one.rel_l2_err for one in tried if one.rel_l2_err is not None]
    worst = max(errors, default=None)
    ran = tuple(tried)
    return Replayed(str(folder), record.label, "replayed", not problem, problem, worst, _ran(ran), ran)


def _ran(tried: Sequence[Tried]) -> int:
    return sum(not one.skipped for one in tried)


class _Asker:
    """Asks the reference process one line at a time."""

    def __init__(self, asked: IO[bytes], said: IO[bytes]) -> None:
        self._asked, self._said = asked, said

    def line(self, what: Wire) -> bytes:
        """Return the answer to one question; raises `FindingError` when the process is gone."""
        with suppress(BrokenPipeError):
            self._asked.write(canonical(what.to_json()) + b"\n")
            self._asked.flush()
        if not select.select([self._said], [], [], _REFERENCE_S)[0]:
            late = f"the reference took longer than {_REFERENCE_S:g} s"
            raise FindingError(late, where="kb verify", fix="verify a smaller shape", code="KB453")
        said = self._said.readline(MAX_RECORD_BYTES)
        if not said:
            raise FindingError("the reference process ended without an answer", where="kb verify", code="KB453")
        return said


@contextmanager
def _reference() -> Iterator[_Asker]:
    command = [sys.executable, "-P", "-m", "kopt_kb.kernels.record.reference"]
    child = Child(command, env=environment(ours=True), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    asked, said = child.process.stdin, child.process.stdout
    try:
        if asked is not None and said is not None:
            yield _Asker(asked, said)
    finally:
        child.end()
        for pipe in (asked, said):
            with suppress(BrokenPipeError):
                if pipe is not None:
                    pipe.close()


@dataclass(frozen=True, slots=True)
class _Replays:
    """The replays of one record, against one reference process."""

    ask: _Asker
    folder: Path
    record: LaunchRecord
    reference: Path
    scratch: Path

    def of(self, trial: Trial) -> Iterator[Tried]:
        """Yield what was found of each run of a trial, up to the first that failed."""
        seed = secrets.randbelow(2**31)
        for part in range(trial.parts):
            found = self._one(trial, part, seed)
            name = f"{trial.name}, second run" if part else trial.name
            yield Tried(
                name, seed, not found.problem, found.problem, found.rel_l2_err, found.block_err, found.element_err,
                found.relation_err, found.skipped,
            )  # fmt: skip
            if found.problem or found.skipped:
                return

    def _one(self, trial: Trial, part: int, seed: int) -> Distance:
        record, where = self.record, str(self.reference)
        what = Prepare(where, record.shape, record.dtype, seed, str(self.scratch), trial.name, record.op, part)
        prepared = read(Prepared, json.loads(self.ask.line(what)), where="the reference")
        if prepared.error:
            raise BadInput(f"the reference fails: {prepared.error}", where=where, code="KB453")
        if prepared.skipped:
            return Distance(None, "", skipped=prepared.skipped)
        if len(prepared.files) != len(record.inputs):
            what_differs = f"{len(record.inputs)} inputs, the reference {len(prepared.files)}"
            return Distance(None, f"the launcher has {what_differs}")
        names = [one.view.buffer for one in record.inputs]
        job = Job(str(self.folder), dict(zip(names, prepared.files, strict=True)), str(self.scratch))
        verdict = _replayed(job)
        if verdict.missing:
            fix = "run on a machine with a GPU and kopt-kb[gpu]"
            raise MissingTool(verdict.missing, where="kb verify", fix=fix, code="KB122")
        if verdict.error or verdict.touched:
            return Distance(None, verdict.error or "; ".join(verdict.touched))
        files = [str(self.scratch / f"{number}.bin") for number in range(len(record.outputs))]
        others = tuple(Other(file, view) for file, view in zip(files[1:], record.outputs[1:], strict=True))
        answer = self.ask.line(Compare(files[0], record.outputs[0], others))
        found = read(Distance, json.loads(answer), where="the reference")
        if found.unable:
            raise FindingError(f"the reference fails: {found.unable}", where=where, code="KB453")
        return found


def _replayed(job: Job) -> Verdict:
    command = [sys.executable, "-P", "-m", "kopt_kb.kernels.record.judge"]
    limits = Limits(wall_s=_REPLAY_S, printed_bytes=MAX_RECORD_BYTES)
    done = run(command, env=environment(ours=True), limits=limits, feed=canonical(job.to_json()))
    if done.passed == "hang":
        return Verdict(error=f"the replay ran longer than {_REPLAY_S:g} s: a kernel hangs")
    try:
        return read(Verdict, parse(done.stdout, where="the replay"), where="the replay")
    except KoptError:
        return Verdict(error=f"the replay ended with {done.code}: {done.last_line[:200]}")

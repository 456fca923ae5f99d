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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kopt_kb.errors import BadInput, FindingError, KoptError, MissingTool
from kopt_kb.kernels.declared import packaged_file
from kopt_kb.kernels.record.bounds import unfit_result
from kopt_kb.kernels.record.judge import MAX_RECORD_BYTES, Job, Verdict, load_record
from kopt_kb.kernels.record.model import LaunchRecord
from kopt_kb.kernels.record.reference import Compare, Distance, Prepare, Prepared
from kopt_kb.owned import owned_folder
from kopt_kb.process import Child, Limits, environment, run
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.registry import Platform
from kopt_kb.wire import Wire, canonical, parse, read

__all__ = ["Replayed", "device_facts", "packaged_reference", "replay_record"]

_REPLAY_S, _REFERENCE_S = 300.0, 300.0
"""Seconds that a replay, and one answer of the reference may take."""


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
        checks: Fresh inputs that were tried.
    """

    record: str
    label: str
    trust: str
    passed: bool
    problem: str
    rel_l2_err: float | None
    checks: int


_FACTS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "multi_processor_count": ("sm_count", {}),
    "warp_size": ("warp_size", {}),
    "max_threads_per_multi_processor": ("threads_per_sm", {}),
    "max_threads_per_block": ("threads_per_block", {}),
    "regs_per_multiprocessor": ("registers_per_sm", {"file": "gpr"}),
    "shared_memory_per_multiprocessor": ("shared_memory_per_sm", {}),
    "shared_memory_per_block_optin": ("shared_memory_per_block", {"mode": "optin"}),
    "shared_memory_per_block": ("shared_memory_per_block", {"mode": "static"}),
    "L2_cache_size": ("l2_capacity", {}),
}
"""Attribute of torch's device properties → the row of the wiki that says it."""


def device_facts(platform: Platform) -> dict[str, int]:
    """Return what the wiki knows of torch's device properties for a product; UNKNOWN rows are left out."""
    facts = {}
    for name, (metric, axes) in _FACTS.items():
        value = platform.get(metric, **axes)
        if isinstance(value, Quantity) and value.si.denominator == 1:
            facts[name] = value.si.numerator
    return facts


def packaged_reference(folder: Path) -> Path:
    """Return the package's file of the operation that a record names; raises `BadInput` when there is none."""
    record = load_record(folder)
    path = packaged_file(record.op)
    if path is None:
        what = f"no reference for the operation {record.op!r}" if record.op else "a call has no reference of its own"
        raise BadInput(
            what, where=str(folder), fix="give --reference FILE with make_inputs and reference", code="KB451"
        )
    return path


def replay_record(folder: Path, reference: Path, *, checks: int = 3) -> Replayed:
    """Replay a record of an op file on the GPU and compare with the float64 reference on fresh inputs.

    Args:
        folder: The record's folder.
        reference: File whose `make_inputs` and `reference` judge.
        checks: How many fresh inputs, each from the system's entropy.

    Raises:
        BadInput: There is no usable record, it is of no op file, or it can't be replayed at all.
        MissingTool: No GPU, or cuda-bindings or torch is not installed.
    """
    record = load_record(folder)
    if not record.op:
        raise BadInput(
            "a call has no reference to compare with", where=str(folder), fix="record an op file", code="KB451"
        )
    why_not = record.not_replayable or unfit_result(record)
    if why_not:
        raise BadInput(f"not replayable: {why_not}", where=str(folder), code="KB452")
    worst: float | None = None
    problem = ""
    with _reference() as ask, owned_folder("kb-replay-") as scratch:
        for _ in range(checks):
            distance = _one_check(ask, folder, record, reference, scratch)
            problem = problem or distance.problem
            if distance.rel_l2_err is not None:
                worst = max(worst or 0.0, distance.rel_l2_err)
    return Replayed(str(folder), record.label, "replayed", not problem, problem, worst, checks)


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


def _one_check(ask: _Asker, folder: Path, record: LaunchRecord, reference: Path, scratch: Path) -> Distance:
    seed = secrets.randbelow(2**31)
    what = Prepare(str(reference), record.shape, record.dtype, seed, str(scratch))
    prepared = read(Prepared, json.loads(ask.line(what)), where="the reference")
    if prepared.error:
        raise BadInput(f"the reference fails: {prepared.error}", where=str(reference), code="KB453")
    if len(prepared.files) != len(record.inputs) or len(record.outputs) != 1:
        what_differs = f"{len(record.inputs)} inputs and {len(record.outputs)} outputs"
        return Distance(None, f"the launcher has {what_differs}, the reference {len(prepared.files)} and 1")
    names = [one.view.buffer for one in record.inputs]
    verdict = _replayed(Job(str(folder), dict(zip(names, prepared.files, strict=True)), str(scratch)))
    if verdict.missing:
        fix = "run on a machine with a GPU and kopt-kb[gpu]"
        raise MissingTool(verdict.missing, where="kb verify", fix=fix, code="KB122")
    if verdict.error or verdict.touched:
        return Distance(None, verdict.error or "; ".join(verdict.touched))
    answer = ask.line(Compare(str(scratch / "0.bin"), record.outputs[0]))
    return read(Distance, json.loads(answer), where="the reference")


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

"""Launch records made and checked: a maker child records without a GPU, a judge child replays, a third one compares.

The maker runs the user's code and is trusted with nothing: it answers with bytes in the record's schema, under size
and time limits. The judge loads code objects through the driver and imports no candidate. The reference process makes
the inputs and holds the float64 result; it never sees the recorded file.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from kopt_kb.error_codes import Code, cause_of
from kopt_kb.errors import BadInput, FindingError, KoptError, MissingTool
from kopt_kb.kernels.declared import packaged_file
from kopt_kb.kernels.record.bounds import MAX_CODE_BYTES, check_code, check_record, unfit_result
from kopt_kb.kernels.record.judge import MAX_RECORD_BYTES, OBJECTS, RECORD, Job, Verdict, load_record
from kopt_kb.kernels.record.model import LaunchRecord
from kopt_kb.kernels.record.reference import Compare, Distance, Prepare, Prepared
from kopt_kb.kernels.record.request import Answer, OpRequest, Request
from kopt_kb.owned import owned_folder
from kopt_kb.process import Child, Limits, environment, run
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.registry import Platform
from kopt_kb.wire import Wire, canonical, parse, read

__all__ = ["NotRecordedError", "Replayed", "device_facts", "make_record", "packaged_reference", "replay_record"]

_MAKER = (sys.executable, "-P", "-m", "kopt_kb.kernels.record.maker")
_MAKER_S, _REPLAY_S, _REFERENCE_S = 300.0, 300.0, 300.0
"""Seconds that a maker, a replay, and one answer of the reference may take."""


class NotRecordedError(FindingError):
    """The launcher could not be recorded; `what` is the launcher's own trouble."""

    code = "KB445"


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


def make_record(request: Request, out: Path) -> LaunchRecord:
    """Record a launcher in a child process and store the record; the folder must not exist.

    Args:
        request: What to record; its `folder` is replaced by one of the maker's own.
        out: Where `record.json` and `objects/` go.

    Raises:
        BadInput: `out` exists, or the request names something that is not there.
        NotRecordedError: The launcher fails, launches nothing, or answers with what is no record.
        MissingTool: Triton or torch is not installed.
    """
    if out.exists():
        raise BadInput("exists already", where=str(out), fix="name a new folder; nothing is overwritten", code="KB113")
    with owned_folder("kb-record-") as made:
        answer = _answer(replace(request, folder=str(made)), made)
        if answer.refusal is not None:
            refusal = answer.refusal
            kind = MissingTool if refusal.code == "KB120" else NotRecordedError
            raise kind(refusal.what, where=refusal.where, fix=refusal.fix, code=_cause(refusal.code))
        record = answer.record
        if record is None:
            raise NotRecordedError("the maker answered nothing", where="kb record")
        check_record(record, "the maker's answer")
        _asked_for(record, request)
        _store(record, made, out)
    return record


def _asked_for(record: LaunchRecord, request: Request) -> None:
    """Refuse a record that claims another problem than the one that was asked for."""
    what = request.what
    asked = (what.shape, what.dtype) if isinstance(what, OpRequest) else ((), "")
    op_of_a_call = bool(record.op) and not isinstance(what, OpRequest)
    if (record.shape, record.dtype) != asked or record.target != request.target or op_of_a_call:
        claimed = f"{record.op} {record.shape} {record.dtype} for {record.target}".strip()
        raise NotRecordedError(f"the maker answers for another problem: {claimed}", where="kb record")


def _cause(word: str) -> Code:
    """Return the code that a maker gave as the cause; one that does not exist is the launcher's failure too."""
    try:
        return cause_of(word)
    except ValueError:
        return NotRecordedError.code


def _answer(request: Request, cache: Path) -> Answer:
    env = environment({"TRITON_CACHE_DIR": str(cache / "cache"), "CUDA_VISIBLE_DEVICES": ""}, ours=True)
    limits = Limits(wall_s=_MAKER_S, printed_bytes=MAX_RECORD_BYTES)
    done = run(_MAKER, env=env, limits=limits, feed=canonical(request.to_json()))
    if done.passed == "hang":
        raise NotRecordedError(f"the launcher ran longer than {_MAKER_S:g} s", where="kb record")
    if done.code or done.passed:
        why = f"more than {MAX_RECORD_BYTES} bytes" if done.passed == "limit" else done.last_line[:200] or "no message"
        raise NotRecordedError(f"the maker ended with {done.code}: {why}", where="kb record")
    return read(Answer, parse(done.stdout, where="the maker's answer"), where="the maker's answer")


def _store(record: LaunchRecord, made: Path, out: Path) -> None:
    """Write the record with its code objects, whose bytes are hashed again: the maker only claimed their names."""
    partial = out.with_name(f".{out.name}.{secrets.token_hex(4)}")
    (partial / OBJECTS).mkdir(parents=True)
    try:
        for digest, size in record.codes.items():
            source = made / digest
            if source.is_symlink() or not source.is_file() or source.stat().st_size > MAX_CODE_BYTES:
                raise NotRecordedError(f"no code object {digest[:12]}", where="kb record", code="KB455")
            code = source.read_bytes()
            if len(code) != size or hashlib.sha256(code).hexdigest() != digest:
                raise NotRecordedError(
                    f"code object {digest[:12]} is not what its name says", where="kb record", code="KB455"
                )
            check_code(code, record.target, "the maker's answer")
            (partial / OBJECTS / digest).write_bytes(code)
        (partial / RECORD).write_bytes(canonical(record.to_json()) + b"\n")
        partial.rename(out)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


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

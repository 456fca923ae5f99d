"""A problem made of a launcher and one call of it: recorded without a GPU, its work counted from what it launches."""

from __future__ import annotations

import base64
import hashlib
import re
import struct
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import prod
from pathlib import Path

from kopt_kb.analysis.ir.triton.model import IrError
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import parse, read
from kopt_kb.launch.counts.counting import CountedKernel, count_compilation, work_of
from kopt_kb.launch.judge.makers import Makers
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.launch.problems.called import CalledTable, CallGiven
from kopt_kb.launch.problems.capsule import problem_name, reference_file
from kopt_kb.launch.problems.described import StatedProblem
from kopt_kb.launch.record.model import LaunchRecord, TensorAddress, TensorMapArg
from kopt_kb.launch.record.request import CallRequest, MakerRequest, TensorArgument
from kopt_kb.launch.record.statics import STATICS, Statics
from kopt_kb.launch.record.written import written_parameters
from kopt_kb.problem.counts import ByteCount, Count, FlopCount
from kopt_kb.problem.dtypes import DTYPES, Engine, Format, dtype_of, format_of
from kopt_kb.problem.ops import OPS
from kopt_kb.problem.own import OwnProblem
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.shapes import format_shape, parse_shape
from kopt_kb.problem.table import ProblemTable, RecordedTensor, StatedTensor, Workload
from kopt_kb.problem.tolerances import Tolerance, tolerance_of
from kopt_kb.problem.work import Work
from kopt_kb.sandbox.owned import owned_folder

__all__ = ["problem_of_call"]

SOURCE = "call"
"""Form of the problem, as workspaces name it."""

_CALL_S = 60.0
"""Seconds that one call may take to be recorded: a launcher that never ends is refused."""
_STRUCT = {"int64": "q", "int32": "i", "int16": "h", "int8": "b", "uint8": "B", "bool": "?"}


def problem_of_call(
    source: bytes,
    file: str,
    call: CallGiven,
    device: RecordTarget,
    tolerance: Tolerance | None = None,
    makers: Makers | None = None,
) -> StatedProblem:
    """Return the problem that a call makes of a launcher's file: the version given is its reference.

    Args:
        source: The file, which stands alone.
        file: Its name.
        call: The call.
        device: For what it is recorded.
        tolerance: Limits that the user gives; None: of the widest rounding among its types.
        makers: Warm ones; None: new ones, for this call alone.

    Raises:
        BadInput: The call can't be made of these arguments, or nothing is launched.
        NotRecordedError: The launcher fails, with its own trouble.
        MissingTool: Triton, torch or a package of the file's is not installed.
    """
    if not call.tensors:
        fix = "give tensors by their layout, such as fp16[1024,4096]"
        raise BadInput("the call has no tensor", where=f"--call {call.function}", fix=fix, code="KB102")
    record, told = _recorded(source, file, call, device, makers)
    counted = _counted(told)
    storage = _storage(call)
    limits = tolerance or _limits(storage, record)
    written, changed = _results(record, told, counted, call)
    if not _returns(record) and not written and not changed:
        fix = "give a function that returns a tensor, or writes one of its arguments"
        raise BadInput(f"{call.function} leaves no result", where=file, fix=fix, code="KB447")
    given = CalledTable(_table(call, storage), written, changed, returns=_returns(record))
    name, form, shape = given.table.name, given.table.form, parse_shape(next(iter(given.table.workloads)))
    said = {"problem": f"{call.function} of {file}: the version given is the reference"}
    text = reference_file(source.decode(), "own_version.OwnVersion", given.to_json(), limits, said)
    work = replace(_work(record, counted, storage), op=name, shape=shape)
    own = OwnProblem(
        source=SOURCE, file=file, form="x".join(form), reference=hashlib.sha256(text).hexdigest(), origin="recorded",
        works=(work,), notes=_notes(record, counted, (*written, *changed), told),
        configurations={one.entry: told.tuned.get(one.entry, ()) for one in record.launches},
        entry=call.function,
        results=_count(record) or len(written) + len(changed),
    )  # fmt: skip
    return StatedProblem(Problem.of_own(name, own, storage, limits), text)


def _table(call: CallGiven, storage: str) -> ProblemTable:
    """Return the arguments of a call; the problem's shape is that of the first tensor."""
    named = problem_name(call.function.rpartition(".apply")[0] or call.function)
    shape = next(iter(call.tensors.values())).shape or (1,)
    return ProblemTable(
        f"{named}_call" if named in OPS else named, tuple(f"D{number}" for number in range(len(shape))), {},
        tuple(_stated(one, call) for one in call.arguments), (), {format_shape(shape): _workload(call)}, storage,
        call.function.partition(".")[0], entry=call.function,
    )  # fmt: skip


def _recorded(
    source: bytes, file: str, call: CallGiven, device: RecordTarget, makers: Makers | None
) -> tuple[LaunchRecord, Statics]:
    with owned_folder("kb-call-") as folder:
        path = folder / Path(file).name
        path.write_bytes(source)
        what = CallRequest(f"{path}:{call.function}", dict(call.arguments))  # type: ignore[arg-type] # what a call takes
        request = MakerRequest(what, device.target, device.device, device.facts, "", statics=True)
        with nullcontext(makers) if makers is not None else Makers(1, wall_s=_CALL_S) as some:
            record = some.make(request, folder / "record").stored()
        statics = folder / "record" / STATICS
        told = read(Statics, parse(statics.read_bytes(), where=STATICS), where=STATICS)
    if record.not_replayable and not _only_values(record.not_replayable):
        fix = "call a function that leaves that to its caller, or state the problem in a problem.toml"
        raise BadInput(f"a replay can't do what it does: {record.not_replayable}", where=file, fix=fix, code="KB444")
    return record, told


def _only_values(reason: str) -> bool:
    """Return whether a record is refused only since values of its tensors were given, which a problem fills in."""
    return reason == "values of tensors were given, which a replay does not fill in"


# ---- what the arguments are ------------------------------------------------------------------------


def _format(argument: TensorArgument, where: str = "") -> Format:
    known = format_of(argument.dtype)
    if known is None:
        raise BadInput(f"unknown dtype {argument.dtype!r}", where=where, fix="for example fp16", code="KB061")
    return known


def _storage(call: CallGiven) -> str:
    """Return the floating type of most bytes among the tensors, else the type of most bytes."""
    sizes: dict[str, int] = {}
    for name, one in call.tensors.items():
        known = _format(one, name)
        sizes[known.dtype] = sizes.get(known.dtype, 0) + known.bits * (prod(one.shape) or 1)
    floats = {name: size for name, size in sizes.items() if name in DTYPES and dtype_of(name).kind != "int"}
    return max(floats.items(), key=lambda pair: pair[1])[0] if floats else "int32"


def _limits(storage: str, record: LaunchRecord) -> Tolerance:
    """Return the widest limits among the types of the tensors given and returned."""
    kinds = {known.dtype for one in record.outputs if (known := format_of(one.dtype)) is not None}
    names = {storage, *(kinds & DTYPES.keys())}
    widest = max((tolerance_of(one) for one in names), key=lambda one: one.rel_l2_err)
    return replace(widest, reason=f"equal to the version given, within the rounding of both: {widest.reason}")


def _stated(name: str, call: CallGiven) -> StatedTensor:
    one = call.arguments[name]
    if not isinstance(one, TensorArgument):
        return StatedTensor(name, None)
    low, high = call.ranges.get(name, (None, None))
    return StatedTensor(name, one.shape, _format(one, name).torch, "normal", low, high, one.strides)


def _workload(call: CallGiven) -> Workload:
    scalars, held = {}, {}
    for name, one in call.arguments.items():
        if not isinstance(one, TensorArgument):
            scalars[name] = list(one) if isinstance(one, tuple) else one
        elif one.values is not None:
            held[name] = _held(name, one)
    return Workload(scalars, held)


def _held(name: str, one: TensorArgument) -> RecordedTensor:
    kind = _format(one, name).torch
    if kind not in _STRUCT or one.values is None:
        fix = "values are given to tensors of integers, others are drawn"
        raise BadInput(f"{name} has values of type {kind}", where="--call", fix=fix, code="KB081")
    data = struct.pack(f"={len(one.values)}{_STRUCT[kind]}", *map(int, one.values))
    return RecordedTensor(kind, one.shape, base64.b64encode(data).decode())


# ---- what it does ----------------------------------------------------------------------------------


def _returns(record: LaunchRecord) -> bool:
    """Return whether results lie in memory of their own; a launcher that returns none is said to return its inputs."""
    return _count(record) > 0


def _count(record: LaunchRecord) -> int:
    """Return how many tensors a call returns that it was not given."""
    given = {one.view.buffer for one in record.inputs}
    return sum(one.buffer not in given for one in record.outputs)


def _results(
    record: LaunchRecord, told: Statics, counted: Sequence[CountedKernel], call: CallGiven
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the arguments that the launches write alone and whole, and those that they write besides."""
    writes, reads = set[str](), set[str]()
    irs = {one.code: one.compilation.ttir for one in told.launches}
    for launch in record.launches:
        ttir = irs.get(launch.code, "")
        into, of = written_parameters(ttir), written_parameters(_loads_as_stores(ttir))
        for argument in launch.arguments:
            if isinstance(argument, TensorAddress | TensorMapArg):
                name = argument.name.partition(".")[0]
                writes |= {argument.view.buffer} if name in into else set()
                reads |= {argument.view.buffer} if name in of else set()
    found = [name for name in call.tensors if name in writes]
    sizes = {one.name: one.size_bytes for one in record.buffers}
    amount = counted[0].kernel.written.compulsory if len(counted) == 1 else None
    whole = amount is not None and amount.exactness == "exact" and len(found) == 1
    alone = [one for one in found if whole and one not in reads and amount is not None and amount.value == sizes[one]]
    return tuple(alone), tuple(one for one in found if one not in alone)


def _loads_as_stores(ttir: str) -> str:
    """Return IR in which loads are written as stores: what reads a parameter is asked like what writes one."""
    kept = [line for line in ttir.splitlines() if not re.search(r"\btt\.(descriptor_)?store\b", line)]
    return re.sub(r"\btt\.(descriptor_)?load\b", r"tt.\1store", "\n".join(kept))


def _counted(told: Statics) -> list[CountedKernel]:
    """Return the count of each different launch; raises `BadInput` with the kernel and the line of the IR."""
    found = []
    for one in told.launches:
        try:
            found.append(count_compilation(one.compilation))
        except IrError as error:
            raise error.restated(fix="kb roofline has closed forms, problem.toml states work") from error
    return found


def _work(record: LaunchRecord, counted: Sequence[CountedKernel], storage: str) -> Work:
    """Return the operations of all launches, and the bytes of the call: of one launch its own, else its buffers'."""
    works = [work_of(one, storage) for one in counted]
    if len(record.launches) == 1:
        return works[0]
    useful: dict[tuple[str, Engine], Count] = {}
    for work in works:
        for one in work.flops:
            useful[one.dtype, one.engine] = useful.get((one.dtype, one.engine), Count(0)) + one.useful
    given = {one.view.buffer for one in record.inputs}
    used = {one.view.buffer for each in record.launches for one in each.arguments if isinstance(one, TensorAddress)}
    results = {one.buffer for one in record.outputs}
    sizes = {one.name: one.size_bytes for one in record.buffers}
    read_bytes = sum(sizes[one] for one in given & used)
    written = sum(sizes[one] for one in results)
    return Work(
        op="", shape=(), dtype=storage,
        flops=tuple(FlopCount(dtype, engine, amount) for (dtype, engine), amount in useful.items()),
        bytes=(
            ByteCount("dram", "read", Count(read_bytes, "upper")),
            ByteCount("dram", "write", Count(written, "upper")),
        ),
        definitions=(
            ("flops", f"operations of the IR of {len(record.launches)} launches"),
            ("bytes", "the tensors that the launches are given, and the results, each once"),
        ),
    )  # fmt: skip


def _notes(
    record: LaunchRecord, counted: Sequence[CountedKernel], results: Sequence[str], told: Statics
) -> tuple[str, ...]:
    """Return what was decided in place of what a call does not show."""
    notes = ["there is no reference: the version given is, so another version is right where it gives the same"]
    if results and not _returns(record):
        notes.append(f"it returns no tensor of its own: its results are what it writes, {', '.join(results)}")
    if len(record.launches) > 1:
        notes.append(f"{len(record.launches)} launches: bytes between them are not counted")
    if any(one.mode != "exact" for one in counted):
        notes.append("counted from shapes alone: masks and addresses were not followed")
    for kernel, known in told.tuned.items():
        if len(known) > 1:
            notes.append(f"{kernel} has {len(known)} configurations of its own; the first that fits is the baseline")
    return tuple(notes)

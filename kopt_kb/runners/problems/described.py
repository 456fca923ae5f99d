"""A problem that was read becomes one that can be tuned: a child with torch says its shapes, results and work."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from kopt_kb.error_codes import cause_of
from kopt_kb.errors import BadInput, KoptError, MissingTool
from kopt_kb.kernels.problems.question import Described, OneShape, ReferenceRequest
from kopt_kb.owned import owned_folder
from kopt_kb.problem.counts import ByteCount, Count, FlopCount, SpecialCount
from kopt_kb.problem.dtypes import Engine, dtype_of
from kopt_kb.problem.extents import whole
from kopt_kb.problem.own import OwnProblem
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.shapes import Shape, format_shape
from kopt_kb.problem.work import Work
from kopt_kb.process import ChildLimits, environment, run
from kopt_kb.runners.problems.capsule import Capsule, Formulas
from kopt_kb.wire import canonical, parse, read

__all__ = ["StatedProblem", "describe", "stated_problem"]

_WALL_S, _MEMORY_BYTES = 300.0, 24 << 30
_SAID_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class StatedProblem:
    """A problem with all that is known of it.

    Attributes:
        problem: What is tuned.
        reference: Its reference file.
        shapes: Tensors and counts of each shape, in order.
    """

    problem: Problem
    reference: bytes
    shapes: tuple[OneShape, ...]


def stated_problem(capsule: Capsule) -> StatedProblem:
    """Return the problem of what was read, its work as stated or else as counted.

    Raises:
        BadInput: Its own code fails, or its work can neither be counted nor is stated.
        MissingTool: torch, or a package that the problem imports, is not installed.
    """
    found = describe(capsule)
    notes = [*capsule.notes, *_notes(capsule, found)]
    works = tuple(_work(capsule, one) for one in found)
    own = OwnProblem(
        source=capsule.source,
        file=capsule.file,
        form="x".join(capsule.form or _names(len(found[0].shape))),
        reference=hashlib.sha256(capsule.text).hexdigest(),
        origin="declared" if capsule.work is not None else "counted",
        works=works,
        workloads=capsule.workloads,
        notes=tuple(notes),
        results=max(len(one.outputs) for one in found),
    )
    return StatedProblem(Problem.of_own(capsule.name, own, capsule.dtype, capsule.tolerance), capsule.text, found)


def describe(capsule: Capsule) -> tuple[OneShape, ...]:
    """Return what a child finds of each shape; raises as `stated_problem`."""
    with owned_folder("kb-problem-") as folder:
        path = folder / "reference.py"
        path.write_bytes(capsule.text)
        asked = ReferenceRequest(str(path), capsule.shapes, capsule.dtype)
        command = [sys.executable, "-P", "-m", "kopt_kb.kernels.problems.describe"]
        limits = ChildLimits(wall_s=_WALL_S, resident_bytes=_MEMORY_BYTES, printed_bytes=_SAID_BYTES)
        own = environment({"CUDA_VISIBLE_DEVICES": ""}, ours=True)
        done = run(command, env=own, folder=folder, limits=limits, feed=canonical(asked.to_json()))
    if done.passed is not None or done.code:
        _refuse_ended(capsule, done.passed or "", done.last_line)
    try:
        found = read(Described, parse(done.stdout.splitlines()[-1], where="the problem"), where="the problem")
    except (KoptError, IndexError) as error:
        raise BadInput("its own code answers in place of what runs it", where=capsule.file, code="KB116") from error
    if found.what:
        kind = MissingTool if found.cause == "KB120" else BadInput
        raise kind(found.what, where=capsule.file, fix=found.fix, code=cause_of(found.cause))
    return found.shapes


def _refuse_ended(capsule: Capsule, passed: str, said: str) -> None:
    if "No module named 'torch'" in said:
        raise MissingTool("torch is not installed", where=capsule.file, fix="install kopt-kb[gpu]", code="KB120")
    reason = {"hang": f"takes longer than {_WALL_S:g} s", "oom": "takes too much memory", "limit": "prints too much"}
    raise BadInput(
        f"its reference {reason.get(passed, f'ends the process that runs it: {said[:200]}')}",
        where=capsule.file,
        fix="state a smaller problem",
        code="KB086",
    )


# ---- work ----------------------------------------------------------------------------------------


def _work(capsule: Capsule, shape: OneShape) -> Work:
    if capsule.work is not None:
        return _declared(capsule, capsule.work, shape.shape)
    return Work(
        op=capsule.name,
        shape=shape.shape,
        dtype=capsule.dtype,
        flops=shape.flops,
        bytes=shape.bytes,
        special=shape.special,
        definitions=(
            ("operation", f"the reference of {capsule.file} ({capsule.source})"),
            ("flops", _counted_text(shape)),
            ("bytes", "counted by torch's dispatcher: distinct bytes of the inputs that are read, and of the results"),
        ),
    )


def _counted_text(shape: OneShape) -> str:
    text = (
        "counted by torch's dispatcher: the reference's operations in the storage type; casts and copies count nothing"
    )
    if shape.uncounted:
        names = ", ".join(f"{name} ({count})" for name, count in shape.uncounted.items())
        text += f"; a lower bound, since these have no formula: {names}"
    return text


def _declared(capsule: Capsule, formulas: Formulas, shape: Shape) -> Work:
    names = dict(zip(capsule.form, shape, strict=True))
    for name, given in capsule.constants:
        names[name] = whole(given, names, capsule.file)

    def value(text: str) -> Count:
        return Count(whole(text, names, capsule.file, least=0))

    compute = dtype_of(formulas.compute).name if formulas.compute else _compute(capsule.dtype, formulas.engine)
    reason = f" ({formulas.source})" if formulas.source else ""
    engine: Engine = "matrix" if formulas.engine == "matrix" else "vector"
    special = (SpecialCount("any", compute, value(formulas.special)),) if formulas.special else ()
    return Work(
        op=capsule.name,
        shape=shape,
        dtype=capsule.dtype,
        flops=(FlopCount(compute, engine, value(formulas.flops)),),
        bytes=(ByteCount("dram", "read", value(formulas.read)), ByteCount("dram", "write", value(formulas.write))),
        special=special,
        definitions=(
            ("operation", f"the reference of {capsule.file}"),
            ("flops", f"declared in {capsule.file}: {formulas.flops}{reason}; {engine} engine, {compute}"),
            ("bytes", f"declared in {capsule.file}: {formulas.read} read, {formulas.write} written{reason}"),
            *((("special", f"declared in {capsule.file}: {formulas.special}"),) if special else ()),
        ),
    )


def _compute(storage: str, engine: str) -> str:
    from kopt_kb.problem.dtypes import vector_compute

    return storage if engine == "matrix" else vector_compute(dtype_of(storage))


def _notes(capsule: Capsule, shapes: Sequence[OneShape]) -> list[str]:
    """Return what could not be derived."""
    notes = []
    if capsule.work is not None:
        notes += _differences(capsule, shapes)
    else:
        uncounted = sorted({name for one in shapes for name in one.uncounted})
        if uncounted:
            notes.append(f"operations are a lower bound: no formula for {', '.join(uncounted)}")
        if any(not one.fake for one in shapes):
            notes.append("counted on the values of one draw: the reference's control flow depends on them")
        if any(count.compulsory.exactness == "upper" for one in shapes for count in one.bytes):
            notes.append("bytes read are an upper bound: a gather may skip some")
        notes += list(dict.fromkeys(one.note for one in shapes if one.note))
    results = {len(one.outputs) for one in shapes}
    if max(results) > 1:
        notes.append(f"{max(results)} results: each is held against its own reference")
    return notes


def _differences(capsule: Capsule, shapes: Sequence[OneShape]) -> list[str]:
    """Return where stated work is not what the reference was seen to do; an optimised algorithm may well do less."""
    notes = []
    for shape in shapes:
        work = _work(capsule, shape)
        stated = sum(flop.useful.value for flop in work.flops), work.compulsory_bytes()
        seen = sum(flop.useful.value for flop in shape.flops), sum(moved.compulsory.value for moved in shape.bytes)
        if stated != seen:
            counts = f"{stated[0]} and {seen[0]} operations, {stated[1]} and {seen[1]} bytes"
            notes.append(f"declared and counted differ on {format_shape(shape.shape)}: {counts}")
    return notes


def _names(rank: int) -> tuple[str, ...]:
    return tuple(f"D{number}" for number in range(rank))

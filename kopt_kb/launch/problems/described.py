"""A problem that was read becomes one that can be tuned: its work as its files declare it, else as a pack counts it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec

from kopt_kb.base.errors import BadInput
from kopt_kb.doors.absent import needs_pack
from kopt_kb.launch.problems.capsule import Capsule, Formulas
from kopt_kb.launch.problems.find import sources
from kopt_kb.launch.problems.question import OneShape
from kopt_kb.problem.counts import ByteCount, Count, FlopCount, SpecialCount
from kopt_kb.problem.dtypes import Engine, dtype_of, vector_compute
from kopt_kb.problem.extents import whole
from kopt_kb.problem.own import OwnProblem
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.shapes import Shape, format_shape
from kopt_kb.problem.work import Work

__all__ = ["StatedProblem", "stated_problem"]


@dataclass(frozen=True, slots=True)
class StatedProblem:
    """A problem with all that is known of it.

    Attributes:
        problem: What is tuned.
        reference: Its reference file.
    """

    problem: Problem
    reference: bytes


def stated_problem(capsule: Capsule, compute: str = "storage") -> StatedProblem:
    """Return the problem of what was read, its work as stated or else as counted.

    Args:
        capsule: What was read.
        compute: `tf32` counts products of fp32 operands on the matrix engine, as `--option compute=tf32` of a product.

    Raises:
        BadInput: Its own code fails, or its work can neither be counted nor is stated.
        MissingTool: Its work is not stated, and the counter or torch is not installed; or a package that it imports.
    """
    if compute == "tf32" and (capsule.dtype != "fp32" or capsule.work is not None):
        what = "its work is declared" if capsule.work is not None else f"its storage type is {capsule.dtype}"
        raise BadInput(f"compute=tf32 is of counted products of fp32 operands, and {what}", where=capsule.file,
                       fix="leave the option out", code="KB062")  # fmt: skip
    seen = _count(capsule, compute)
    stored = seen[0].stored if seen else ""
    if capsule.retyped is not None and stored and stored != capsule.dtype:
        again = capsule.retyped(stored)
        note = f"storage type {stored}: of the inputs themselves"
        return stated_problem(replace(again, notes=(*again.notes, note)), compute)
    rounded = ["products of fp32 operands are counted in tf32, as asked"] if compute == "tf32" else []
    own = OwnProblem(
        source=capsule.source,
        file=capsule.file,
        form="x".join(capsule.form or _names(len(seen[0].shape))),
        reference=hashlib.sha256(capsule.text).hexdigest(),
        origin="declared" if capsule.work is not None else "counted",
        works=_works(capsule, seen),
        workloads=capsule.workloads,
        notes=(*capsule.notes, *rounded, *_notes(capsule, seen)),
        results=max((len(one.outputs) for one in seen), default=capsule.results or 1),
    )
    return StatedProblem(Problem.of_own(capsule.name, own, capsule.dtype, capsule.tolerance), capsule.text)


def _count(capsule: Capsule, compute: str) -> tuple[OneShape, ...]:
    """Return what the first counter that is installed sees of each shape; nothing where declared work needs none."""
    count = next((source.count for source in sources() if source.count is not None), None)
    if capsule.work is not None and (count is None or find_spec("torch") is None):
        return ()
    if count is None:
        raise needs_pack("counting the work of a problem that declares none", "work_counter", capsule.file)
    return count(capsule, compute)


# ---- work ----------------------------------------------------------------------------------------


def _works(capsule: Capsule, seen: Sequence[OneShape]) -> tuple[Work, ...]:
    if capsule.work is not None:
        return tuple(_declared(capsule, capsule.work, shape) for shape in capsule.shapes)
    return tuple(_counted(capsule, one) for one in seen)


def _counted(capsule: Capsule, shape: OneShape) -> Work:
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
    return storage if engine == "matrix" else vector_compute(dtype_of(storage))


def _notes(capsule: Capsule, shapes: Sequence[OneShape]) -> list[str]:
    """Return what could not be derived."""
    notes = []
    if not shapes:
        return ["declared work was not held against a count: torch or the pack that counts is not installed"]
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
    for shape, work in zip(shapes, _works(capsule, shapes), strict=True):
        stated = sum(flop.useful.value for flop in work.flops), work.compulsory_bytes()
        seen = sum(flop.useful.value for flop in shape.flops), sum(moved.compulsory.value for moved in shape.bytes)
        if stated != seen:
            counts = f"{stated[0]} and {seen[0]} operations, {stated[1]} and {seen[1]} bytes"
            notes.append(f"declared and counted differ on {format_shape(shape.shape)}: {counts}")
    return notes


def _names(rank: int) -> tuple[str, ...]:
    return tuple(f"D{number}" for number in range(rank))

"""Reads a problem of one's own: `problem.toml` beside a Python file with the reference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_input, read_words
from kopt_kb.base.wire import Wire
from kopt_kb.launch.problems.capsule import (
    Capsule,
    Formulas,
    functions_in,
    problem_name,
    reference_file,
    self_contained,
)
from kopt_kb.launch.project.toml_file import TomlSource, read_source
from kopt_kb.problem.dtypes import dtype_of, format_of
from kopt_kb.problem.extents import whole
from kopt_kb.problem.shapes import Shape, format_shape, parse_shape
from kopt_kb.problem.table import DRAWS, ProblemTable, StatedTensor, Workload
from kopt_kb.problem.tolerances import Tolerance, tolerance_of

__all__ = ["FILE", "read_problem_toml"]

FILE = "problem.toml"
"""Name of the file, and of the form."""

_TABLES = ("problem", "constants", "inputs", "outputs", "work", "tolerance")


@dataclass(frozen=True, slots=True)
class _Head(Wire):
    name: str
    file: str
    form: str
    shapes: tuple[str, ...]
    dtype: str
    summary: str = ""
    reference: str = "reference"
    make_inputs: str = ""
    entry: str = ""


@dataclass(frozen=True, slots=True)
class _Work(Wire):
    flops: str
    read: str
    write: str
    engine: str = "vector"
    compute: str = ""
    special: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class _Limits(Wire):
    rel_l2_err: str
    max_abs_err_rel: str = ""
    reason: str = "stated in problem.toml"


def read_problem_toml(path: Path, dtype: str = "", shapes: tuple[str, ...] = ()) -> Capsule:
    """Return the problem of a file.

    Args:
        path: The TOML file.
        dtype: Storage type in place of the file's.
        shapes: Shapes in place of the file's.

    Raises:
        ProjectFileError: A table or key is missing, unknown or not as it has to be; with its line.
        BadInput: The Python file can't be used.
    """
    source = read_source(read_input(path, 1 << 20), str(path), _TABLES)
    head = source.read("problem", _Head)
    form = tuple(head.form.split("x"))
    bad = next((one for one in form if not one.isidentifier()), None)
    if bad is not None:
        raise source.refuse("problem", "form", f"has {bad!r}, which is no name", "write such as BxSxD")
    dims = tuple(parse_shape(one, head.form) for one in shapes or head.shapes)
    if not dims:
        raise source.refuse("problem", "shapes", "is empty", 'write such as ["8192x4096"]')
    storage = dtype_of(dtype or head.dtype).name
    python, make = _python(source, head, path)
    limits = _tolerance(source, storage)
    workloads = {format_shape(one): Workload() for one in dims}
    table = ProblemTable(
        problem_name(head.name), form, dict(source.tables["constants"]), _tensors(source, "inputs", form),
        _tensors(source, "outputs", form), workloads, storage, head.reference, make_inputs=make, entry=head.entry,
    )  # fmt: skip
    if not make and not table.inputs:
        fix = "add an [inputs] table, or a function make_inputs(shape, dtype, device, seed) to the file"
        raise source.refuse("inputs", "", "is empty, and the Python file makes none", fix)
    work = _work(source, dims, table)
    text = reference_file(python, "stated.Stated", table.to_json(), limits, {"problem": head.summary or head.name})
    return Capsule(
        FILE, problem_name(head.name), path.name, form, dims, storage, limits, text, work,
        tuple(table.constants.items()), results=len(table.outputs),
    )  # fmt: skip


def _python(source: TomlSource, head: _Head, path: Path) -> tuple[str, str]:
    """Return the Python of a problem, and the name of the function that makes its inputs, if there is one."""
    file = path.parent / head.file
    python = read_words(file, 1 << 20)
    names = functions_in(python, str(file))
    if head.reference not in names:
        raise source.refuse(
            "problem", "reference", f"names {head.reference}, which {head.file} lacks", "name a function"
        )
    self_contained(python, file)
    make = head.make_inputs or ("make_inputs" if "make_inputs" in names and not source.tables["inputs"] else "")
    if make and make not in names:
        raise source.refuse("problem", "make_inputs", f"names {make}, which {head.file} lacks", "name a function")
    return python, make


def _tensors(source: TomlSource, side: str, form: tuple[str, ...]) -> tuple[StatedTensor, ...]:
    found = []
    for name, value in source.tables[side].items():
        spec = {"shape": value} if isinstance(value, str) else value
        if not isinstance(spec, dict) or not isinstance(spec.get("shape"), str):
            raise source.refuse(
                side, name, "has no shape", f'write "{"x".join(form)}" or {{ shape = "…", dtype = "…" }}'
            )
        strange = set(spec) - {"shape", "dtype", "draw", "low", "high", "strides"}
        if strange:
            known = "shape, dtype, draw, low, high, strides"
            raise source.refuse(side, name, f"has {', '.join(sorted(strange))}", f"known: {known}")
        dtype, draw = spec.get("dtype"), spec.get("draw", "normal")
        if dtype is not None and (not isinstance(dtype, str) or format_of(dtype) is None):
            raise source.refuse(side, name, f"has the dtype {dtype!r}, which torch lacks", "for example bf16")
        if draw not in DRAWS:
            raise source.refuse(side, name, f"is drawn as {draw!r}", f"one of {', '.join(DRAWS)}")
        shape, strides = tuple(spec["shape"].split("x")), spec.get("strides")
        found.append(
            StatedTensor(
                name, shape, dtype, draw, spec.get("low"), spec.get("high"), None if strides is None else tuple(strides)
            )
        )
    return tuple(found)


def _work(source: TomlSource, dims: tuple[Shape, ...], table: ProblemTable) -> Formulas | None:
    """Return the formulas of a problem's work, tried on its shapes; None where it states none."""
    if not source.tables["work"]:
        return None
    found = source.read("work", _Work)
    if found.engine not in {"matrix", "vector"}:
        raise source.refuse("work", "engine", f"is {found.engine!r}", "write matrix or vector")
    for shape in dims:
        names = table.dims(shape)
        for key in ("flops", "read", "write", "special"):
            text = getattr(found, key)
            if text:
                whole(text, names, f"{source.where}:{source.line('work', key)}", least=0)
    fields = (found.flops, found.read, found.write, found.engine, found.compute, found.special, found.source)
    return Formulas(*fields)


def _tolerance(source: TomlSource, storage: str) -> Tolerance:
    usual = tolerance_of(storage)
    if not source.tables["tolerance"]:
        return usual
    stated = {key: str(value) for key, value in source.tables["tolerance"].items()}
    found = replace(source, tables={**source.tables, "tolerance": stated}).read("tolerance", _Limits)
    try:
        rel = Fraction(found.rel_l2_err)
        element = Fraction(found.max_abs_err_rel) if found.max_abs_err_rel else 5 * rel
        return Tolerance(rel, element, found.reason)
    except (ValueError, ZeroDivisionError, BadInput) as error:
        reason = error.what if isinstance(error, BadInput) else "is no number"
        raise source.refuse("tolerance", "rel_l2_err", reason, "for example 0.01") from error

"""A header with numbers put in: tensors, compiled entries, and a launcher's steps for one shape, type and target."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.cuda.cubin import Cubin, read_cubin
from kopt_kb.launch.cuda.given import code_given, read_given
from kopt_kb.launch.cuda.header import Header, LauncherStep, Tensor, read_header, source_text, split_argument
from kopt_kb.launch.cuda.languages import FunctionJob, made_of
from kopt_kb.launch.cuda.nvrtc import Compiled, compile_cuda, nvrtc_version
from kopt_kb.launch.cuda.tensor_maps import map_of
from kopt_kb.launch.kernel.declared import GIVEN
from kopt_kb.launch.kernel.integers import ExpressionError, holds, value_of
from kopt_kb.launch.record.model import (
    Argument,
    Copy,
    Fill,
    Launch,
    NullArg,
    ScalarArg,
    StructArg,
    TensorAddress,
    TensorView,
)
from kopt_kb.problem.dtypes import Format, format_of
from kopt_kb.problem.ops import OPS, definition, op_id
from kopt_kb.problem.shapes import check_shape, format_shape

__all__ = ["CudaPlan", "Program", "header_of", "label_of", "launch_of", "plan_of", "program_of", "steps_of"]

_PLACE = re.compile(r"\{(\w+)\}")
_FLOATS = {"fp16", "bf16", "fp32", "fp64"}
_SCALARS = _FLOATS | {"i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}
_TENSOR_MAP_BYTES = 128
_C_TYPES = {
    "fp64": "double", "fp32": "float", "fp16": "__half", "bf16": "__nv_bfloat16", "fp8e4nv": "__nv_fp8_e4m3",
    "fp8e5": "__nv_fp8_e5m2", "i64": "long long", "i32": "int", "i16": "short", "i8": "signed char",
    "u8": "unsigned char", "i1": "bool",
}  # fmt: skip
"""Triton's word for an element → CUDA C++'s."""


@dataclass(frozen=True, slots=True)
class CudaPlan:
    """A header for one problem.

    Attributes:
        header: Whose.
        names: What stands for each name of an expression.
        element: The problem's element type in C++.
        tensors: Name → where it lies: a buffer of its own.
        steps: Those that are done, with the expressions of a launch still as text.
    """

    header: Header
    names: Mapping[str, int]
    element: str
    tensors: Mapping[str, TensorView]
    steps: tuple[LauncherStep, ...]

    def text(self, text: str) -> str:
        """Return a text with `{name}` and `{T}` put in."""

        def put(match: re.Match[str]) -> str:
            if match[1] == "T":
                return self.element
            if match[1] not in self.names:
                raise self.refusal(
                    f"{{{match[1]}}} in {text!r} stands for nothing", f"known: T, {', '.join(self.names)}"
                )
            return str(self.names[match[1]])

        return _PLACE.sub(put, text)

    def value(self, text: str) -> int:
        """Return the value of an expression; raises `BadInput` that names it."""
        return _evaluated(lambda: value_of(text, self.names), text, self.header.where)

    def refusal(self, what: str, fix: str = "") -> BadInput:
        """Return an error that names the header's file."""
        return BadInput(what, where=self.header.where, fix=fix or "see the header", code="KB077")


@dataclass(frozen=True, slots=True)
class Program:
    """Machine code of a plan.

    Attributes:
        cubin: The code object.
        read: What it says of itself.
        symbols: Kernel as the header writes it → symbol.
        compiled: What the compiler gave; None for a code object that was given.
        versions: Compiler → version; empty for a code object that was given.
        dialects: IR of the compiler as text, by the dialect's name.
    """

    cubin: bytes
    read: Cubin
    symbols: Mapping[str, str]
    compiled: Compiled | None
    versions: Mapping[str, str] = field(default_factory=dict)
    dialects: Mapping[str, str] = field(default_factory=dict)


def header_of(file: Path) -> Header:
    """Return a file's header; raises `BadInput` when it has none."""
    if not file.is_file():
        raise BadInput("no such file", where=str(file), code="KB110")
    header = read_header(file)
    if header is None:
        fix = f"begin the file with /* kb … */, or write {file.stem}.toml beside it; kb record --help shows one"
        raise BadInput("nothing says how its kernels are launched", where=str(file), fix=fix, code="KB077")
    return header


def plan_of(
    header: Header, shape: tuple[int, ...], dtype: str, config: Mapping[str, object], facts: Mapping[str, int]
) -> CudaPlan:
    """Return the plan of a header for a problem.

    Args:
        header: As read.
        shape: Problem shape.
        dtype: Storage type.
        config: Tuning values over those of the header.
        facts: Properties of the device by torch's names, such as multi_processor_count.

    Raises:
        BadInput: Another shape or type than the header's, an unknown tuning value, an expression without a value.
    """
    format_ = format_of(dtype)
    if format_ is None or (header.dtypes and format_.dtype not in {_dtype(one) for one in header.dtypes}):
        fix = f"one of {', '.join(header.dtypes)}" if header.dtypes else "a storage type such as bf16"
        raise BadInput(f"the kernel is not for {dtype}", where=header.where, fix=fix, code="KB061")
    if strange := sorted(set(config) - {*header.config, *header.tuning_space}):
        fix = f"its tuning values: {', '.join(header.config) or 'none'}"
        raise BadInput(f"unknown tuning value {', '.join(strange)}", where=header.where, fix=fix, code="KB077")
    letters = _letters(header, shape)
    names: dict[str, int] = dict(zip(letters, shape[len(shape) - len(letters) :], strict=True))
    names |= {"elements": math.prod(shape), "element_bytes": format_.bits // 8, **facts, **header.config}
    names |= header.tuned.get(format_shape(shape), {})
    for name, value in config.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadInput(f"{name} is {value!r}, no whole number", where=header.where, code="KB077")
        names[name] = value
    for name, text in header.let.items():
        names[name] = _evaluated(lambda text=text: value_of(text, names), text, header.where)  # type: ignore[misc]
    buffers = _buffers(header)
    tensors = {name: _view(buffers[name], one, format_, names, header.where) for name, one in header.tensors.items()}
    steps = tuple(one for one in header.steps
                  if not one.when or _evaluated(lambda one=one: holds(one.when, names), one.when, header.where))  # type: ignore[misc] # fmt: skip
    return CudaPlan(header, names, _C_TYPES.get(format_.triton, format_.triton), tensors, steps)


def _buffers(header: Header) -> dict[str, str]:
    """Return tensor → buffer: results are `out`, `out1`, … in every record, the rest keeps its name."""
    results = [name for name, one in header.tensors.items() if one.role == "outputs"]
    named = {name: f"out{number or ''}" for number, name in enumerate(results)}
    found = {name: named.get(name, name) for name in header.tensors}
    if len(set(found.values())) != len(found):
        what = f"{', '.join(sorted(set(named.values())))} are the names of results in a record"
        raise BadInput(what, where=header.where, fix="call the other tensor something else", code="KB077")
    return found


def _dtype(name: str) -> str:
    found = format_of(name)
    return found.dtype if found is not None else name


def _letters(header: Header, shape: tuple[int, ...]) -> list[str]:
    known = header.op and header.op in {*OPS} | {"rmsnorm", "layernorm", "matmul"}
    form = header.form or (definition(op_id(header.op)).form if known else "")
    if not form:
        fix = 'write shape = "MxN" in the header'
        raise BadInput("nothing names the dimensions of a shape", where=header.where, fix=fix, code="KB077")
    try:
        check_shape(shape, form)
    except KoptError as error:
        raise BadInput(error.what, where=header.where, fix=error.fix, code="KB063") from error
    return [one for one in form.split("x") if one != "..."]


def _evaluated(work: Callable[[], int], text: str, where: str) -> int:
    try:
        return work()
    except ExpressionError as error:
        raise BadInput(f"{text!r}: {error}", where=where, fix=error.fix or "see the header", code="KB077") from error


def _view(name: str, tensor: Tensor, default: Format, names: Mapping[str, int], where: str) -> TensorView:
    held = format_of(tensor.dtype) if tensor.dtype else default
    shape = tuple(_evaluated(lambda text=text: value_of(text, names), text, where) for text in tensor.shape)  # type: ignore[misc]
    if held is None or any(extent < 0 for extent in shape):
        raise BadInput(f"{name} has shape {shape}", where=where, fix="extents are not negative", code="KB077")
    strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    return TensorView(name, 0, shape, strides, held.triton)


def program_of(plan: CudaPlan, file: Path, target: CompileTarget) -> Program:
    """Return the machine code of a plan's launches, compiled or as given.

    Raises:
        BadInput: A given code object lacks a kernel, or none of it is for the target.
        CompileFailed: The compiler refuses.
        MissingTool: A compiler or tool is not installed.
    """
    entries = list(dict.fromkeys(plan.text(one.what) for one in plan.steps if one.kind == "launch"))
    if not entries:
        raise plan.refusal("no launch is done for this shape", "write a `when` that holds")
    given = file.with_name(plan.header.code) if plan.header.code else file
    if given.suffix in GIVEN:
        cubin = code_given(given, target.name)
        made = Program(cubin, read_given(cubin, str(given)), {one: one for one in entries}, None)
    elif plan.header.language:
        made = _foreign(plan, file, target.arch, entries)
    elif not isinstance(target.arch, int):
        raise BadInput(f"CUDA C++ is not for {target.name}", where=str(file), fix="such as sm_90", code="KB106")
    else:
        options = [f"-D{name}={plan.text(text)}" for name, text in plan.header.defines.items()]
        compiled = compile_cuda(
            source_text(file), str(file), target.arch, entries=entries, options=[*options, *plan.header.flags]
        )
        read = read_cubin(compiled.cubin, str(file))
        made = Program(compiled.cubin, read, dict(compiled.symbols), compiled, {"nvrtc": nvrtc_version()})
    if missing := [name for name, symbol in made.symbols.items() if symbol not in made.read.entries]:
        fix = f"kernels here: {', '.join(sorted(made.read.entries)) or 'none'}"
        raise BadInput(f"no kernel {missing[0]!r}", where=str(given), fix=fix, code="KB081")
    return made


def _foreign(plan: CudaPlan, file: Path, arch: int | str, entries: Sequence[str]) -> Program:
    """Return the machine code of another language; its symbols may have the kernel's name among other words."""
    name, _, function = plan.header.function.rpartition(":")
    tensors = list(plan.tensors.values())
    place = file.with_name(name or file.name)
    found = made_of(plan.header.language, FunctionJob(place, function, tensors, plan.names, arch, entries))
    read = read_given(found.binary, str(file))
    symbols = {}
    for one in entries:
        inside = [symbol for symbol in read.entries if f"_{one}_" in f"_{symbol}_"]
        symbols[one] = inside[0] if len(inside) == 1 else one
    return Program(found.binary, read, symbols, found.compiled, found.versions, found.dialects)


def steps_of(plan: CudaPlan, program: Program, code: str) -> tuple[Fill | Copy | Launch, ...]:
    """Return a plan's steps as a launch record has them; raises `BadInput` where they don't fit the machine code."""
    return tuple(_step(plan, program, code, one) for one in plan.steps)


def _step(plan: CudaPlan, program: Program, code: str, step: LauncherStep) -> Fill | Copy | Launch:
    if step.kind == "fill":
        view = plan.tensors[step.what]
        return Fill(view, pattern_of(step.value, view.dtype, plan))
    if step.kind == "copy":
        return Copy(plan.tensors[step.what], plan.tensors[step.to])
    return launch_of(plan, program, code, step)


def launch_of(plan: CudaPlan, program: Program, code: str, step: LauncherStep) -> Launch:
    """Return one launch; raises `BadInput` where its arguments or block don't fit the kernel."""
    name = plan.text(step.what)
    entry = program.read.entries[program.symbols[name]]
    grid, block, cluster = (_three(plan, sizes) for sizes in (step.grid, step.block, step.cluster))
    arguments = tuple(_argument(plan, text) for text in step.arguments)
    sizes = [_size(argument) for argument in arguments]
    if list(entry.parameters) != sizes:
        what = f"{name} takes parameters of {list(entry.parameters)} bytes, the header gives {sizes}"
        raise plan.refusal(
            what, "give one argument for each, such as i64 N for a long long, or a list of members for a struct"
        )
    threads = math.prod(block)
    if entry.most_threads and (threads > entry.most_threads or (entry.required and threads != entry.most_threads)):
        what = f"{name} is compiled for blocks of {entry.most_threads} threads, the header launches {threads}"
        raise plan.refusal(what, "change block, or __launch_bounds__")
    if entry.cluster != (1, 1, 1) and cluster == (1, 1, 1):
        cluster = entry.cluster
    return Launch(
        code, entry.name, grid, block, cluster, plan.value(step.shared), arguments, cooperative=step.cooperative
    )


def _three(plan: CudaPlan, sizes: tuple[str, ...]) -> tuple[int, int, int]:
    found = [plan.value(text) for text in sizes]
    if min(found) < 1:
        raise plan.refusal(f"{', '.join(sizes)} is {found}", "every extent is at least 1")
    x, y, z = (*found, 1, 1)[:3]
    return x, y, z


def _argument(plan: CudaPlan, text: str | tuple[str, ...]) -> Argument:
    if not isinstance(text, str):
        return StructArg.laid_out([_simple(plan, one) for one in text], f"{{{', '.join(text)}}}")
    if split_argument(text)[0] == "map":
        try:
            return map_of(text, plan.tensors, plan.value)
        except ValueError as error:
            raise plan.refusal(str(error)) from error
    return _simple(plan, text)


def _simple(plan: CudaPlan, text: str) -> TensorAddress | ScalarArg | NullArg:
    kind, rest = split_argument(text)
    if not kind:
        return NullArg(rest) if rest == "null" else TensorAddress(plan.tensors[rest], rest)
    if kind not in _SCALARS:
        raise plan.refusal(f"{text!r} has no type of a number", f"such as i32 N; types: {', '.join(sorted(_SCALARS))}")
    return ScalarArg(kind, _real(plan, rest) if kind in _FLOATS else plan.value(rest), rest)


def _real(plan: CudaPlan, text: str) -> float:
    """Return a floating argument: a literal, `1 / expression`, `rsqrt(expression)` or a whole expression."""
    try:
        return float(text)
    except ValueError:
        pass
    if match := re.fullmatch(r"rsqrt\((.*)\)|1(?:\.0)?\s*/\s*(.*)", text):
        value = plan.value(match[1] or match[2])
        if value <= 0:
            raise plan.refusal(f"{text!r} divides by {value}")
        return value**-0.5 if match[1] else 1 / value
    return float(plan.value(text))


def _size(argument: Argument) -> int:
    if isinstance(argument, ScalarArg | StructArg):
        return argument.size_bytes
    return 8 if isinstance(argument, TensorAddress | NullArg) else _TENSOR_MAP_BYTES


def pattern_of(value: float, dtype: str, plan: CudaPlan) -> str:
    """Return the bytes of one element in hex, as a fill has them; raises `BadInput` for what the type can't hold."""
    form = format_of(dtype)
    size = (form.bits if form is not None else 0) // 8
    if not value:
        return "00" * size
    try:
        if dtype == "bf16":
            bits = struct.unpack("<I", struct.pack("<f", value))[0]
            return int((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).to_bytes(2, "little").hex()
        if dtype in {"fp16", "fp32", "fp64"}:
            return struct.pack({"fp16": "<e", "fp32": "<f", "fp64": "<d"}[dtype], value).hex()
        if not dtype.startswith("fp") and value == int(value):
            return int(value).to_bytes(size, "little", signed=value < 0).hex()
    except (OverflowError, ValueError, struct.error):
        pass
    raise plan.refusal(f"{value!r} is no {dtype}", "fill with a number that the type holds")


def label_of(file: Path, shape: tuple[int, ...], dtype: str) -> str:
    """Return how a record of an op file is called."""
    return f"{file.name} {format_shape(shape)} {dtype}"

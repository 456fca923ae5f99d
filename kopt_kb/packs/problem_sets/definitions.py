"""Reads definitions and workloads of SOL-ExecBench and FlashInfer-Bench: one schema, two ways to lay out a folder.

SOL-ExecBench has `definition.json` and `workload.jsonl` in a folder; FlashInfer-Bench has `definitions/**/NAME.json`
and `workloads/**/NAME.jsonl`, a workload being a trace without a solution.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_input, read_json, read_words
from kopt_kb.base.wire import JsonMap
from kopt_kb.launch.problems.capsule import Capsule, functions_in, problem_name, reference_file
from kopt_kb.problem.dtypes import format_of
from kopt_kb.problem.extents import whole_of
from kopt_kb.problem.shapes import Shape, format_shape
from kopt_kb.problem.table import Draw, ProblemTable, RecordedTensor, StatedTensor, Workload
from kopt_kb.problem.tolerances import Tolerance, tolerance_of

__all__ = ["DefinitionPlace", "read_definition"]

_MOST_HELD_BYTES = 4 << 20
"""Bytes of recorded inputs that a reference file may hold."""
_MOST_WORKLOADS = 64
_DEFAULT_RTOL = "1e-2"
"""Both benches' rtol where a workload states none."""


@dataclass(frozen=True, slots=True)
class DefinitionPlace:
    """Where a definition and its workloads are; `blobs` is what paths of recorded inputs start from."""

    source: str
    definition: Path
    workloads: Path
    blobs: tuple[Path, ...]


def read_definition(place: DefinitionPlace) -> Capsule:
    """Return the problem of a definition with its workloads as shapes.

    Raises:
        BadInput: A document is not as its schema says, the reference is no Python, or no workload can be used.
    """
    where = str(place.definition)
    data = _mapping(read_json(place.definition), where)
    name = str(data.get("name") or place.definition.stem)
    python = data.get("reference")
    if not isinstance(python, str) or "run" not in functions_in(python, f"{where} (reference)"):
        raise _bad("its reference has no function run", where)
    axes = _mapping(data.get("axes"), f"{where} (axes)")
    form = tuple(key for key, one in axes.items() if _mapping(one, where).get("type") == "var")
    constants: dict[str, int | str] = {key: one["value"] for key, one in axes.items() if one.get("type") == "const"}
    constants |= {key: one["expression"] for key, one in axes.items() if one.get("type") == "expr"}
    inputs, outputs = _tensors(data, "inputs", where), _tensors(data, "outputs", where)
    dtype = _storage(inputs, where)
    found = _Workloads(place, form, inputs)
    found.read()
    limits = _limits(dtype, found.rtols, place.source)
    table = ProblemTable(
        problem_name(name), form or ("one",), constants, inputs, outputs, found.by_shape, dtype, reference="run",
        custom=str(data.get("custom_inputs_entrypoint") or ""),
    )  # fmt: skip
    head = {f"{place.source} definition": name, "description": str(data.get("description") or "none")}
    text = reference_file(python, "stated.Stated", table.to_json(), limits, head)
    return Capsule(
        source=place.source,
        name=problem_name(name),
        file=place.definition.name,
        form=form or ("one",),
        shapes=tuple(found.shapes),
        dtype=dtype,
        tolerance=limits,
        text=text,
        constants=tuple(constants.items()),
        workloads=tuple(found.names),
        notes=tuple(found.notes),
    )


class _Workloads:
    """The workloads of a definition that can be used, by shape; the others are counted by reason."""

    def __init__(self, place: DefinitionPlace, form: Sequence[str], inputs: Sequence[StatedTensor]) -> None:
        self._place, self._form, self._inputs = place, form, inputs
        self._held_bytes = 0
        self.by_shape: dict[str, Workload] = {}
        self.shapes: list[Shape] = []
        self.names: list[str] = []
        self.rtols: list[Fraction] = []
        self.notes: list[str] = []

    def read(self) -> None:
        """Read them all; raises `BadInput` where none can be used."""
        where = str(self._place.workloads)
        left_out: dict[str, int] = {}
        for number, line in enumerate(read_words(self._place.workloads).splitlines(), 1):
            if not line.strip():
                continue
            reason = self._one(_line(line, f"{where}:{number}"), f"{where}:{number}")
            if reason:
                left_out[reason] = left_out.get(reason, 0) + 1
        self.notes += [f"{count} workload(s) left out: {reason}" for reason, count in left_out.items()]
        if not self.shapes:
            reasons = "; ".join(left_out) or "the file has none"
            raise BadInput(f"no workload can be used: {reasons}", where=where, code="KB116")

    def _one(self, data: JsonMap, where: str) -> str:
        """Take one workload; return why it is left out, or nothing."""
        if len(self.shapes) >= _MOST_WORKLOADS:
            return f"a workspace takes the first {_MOST_WORKLOADS}"
        axes = _mapping(data.get("axes"), f"{where} (axes)")
        shape = tuple(whole_of(axes.get(name), {}, f"{where}, axis {name}") for name in self._form) or (1,)
        text = format_shape(shape)
        if text in self.by_shape:
            return "another one has the same axes"
        scalars: dict[str, object] = {}
        held: dict[str, RecordedTensor] = {}
        asked = _mapping(data.get("inputs"), f"{where} (inputs)")
        for spec in self._inputs:
            name = spec.name
            one = _mapping(asked.get(name, {"type": "random"}), f"{where}, input {name}")
            if one.get("type") == "scalar":
                scalars[name] = one.get("value")
            elif one.get("type") == "safetensors":
                found = self._recorded(str(one.get("path", "")), str(one.get("tensor_key", "")))
                if isinstance(found, str):
                    return found
                held[name] = found
            elif spec.shape is None:
                return f"the scalar {name} has no value"
        self.by_shape[text] = Workload(scalars, held)
        self.shapes.append(shape)
        self.names.append(str(data.get("uuid", f"line {len(self.names) + 1}")))
        limits = data.get("tolerance") or {}
        self.rtols.append(Fraction(str(limits.get("max_rtol", _DEFAULT_RTOL))))
        return ""

    def _recorded(self, path: str, key: str) -> RecordedTensor | str:
        """Return a recorded tensor as a reference file holds it, or why it can't."""
        parts = Path(path).parts
        places = [root.joinpath(*parts[at:]) for root in self._place.blobs for at in range(len(parts))]
        file = next((one for one in places if one.is_file()), None)
        if file is None:
            return "its recorded inputs (safetensors) are not beside it"
        found = _safetensor(file, key)
        if isinstance(found, str):
            return found
        dtype, shape, data = found
        self._held_bytes += len(data)
        if self._held_bytes > _MOST_HELD_BYTES:
            return f"its recorded inputs are larger than {_MOST_HELD_BYTES} bytes"
        return RecordedTensor(dtype, tuple(shape), base64.b64encode(data).decode())


_SAFE = {
    "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool", "F64": "float64",
    "F32": "float32", "F16": "float16", "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
}  # fmt: skip


def _safetensor(path: Path, key: str) -> tuple[str, list[int], bytes] | str:
    """Return (dtype, shape, bytes) of a tensor in a safetensors file: a length, a JSON header, the data."""
    data = read_input(path)
    try:
        (length,) = struct.unpack_from("<Q", data)
        entry = json.loads(data[8 : 8 + length])[key]
        first, last = entry["data_offsets"]
        return _SAFE[entry["dtype"]], [int(one) for one in entry["shape"]], data[8 + length + first : 8 + length + last]
    except (struct.error, ValueError, KeyError, TypeError):
        return f"{path.name} holds no tensor {key} that can be read"


def _tensors(data: JsonMap, side: str, where: str) -> tuple[StatedTensor, ...]:
    found = []
    for name, one in _mapping(data.get(side), f"{where} ({side})").items():
        spec = _mapping(one, f"{where}, {name}")
        shape, dtype = spec.get("shape"), str(spec.get("dtype", ""))
        if format_of(dtype) is None:
            raise BadInput(f"{name} has the dtype {dtype!r}, which torch lacks", where=where, code="KB061")
        extents = None if shape is None else tuple(shape) if isinstance(shape, list) else (shape,)
        found.append(StatedTensor(str(name), extents, dtype, _drawn_as(str(name), extents)))
    return tuple(found)


def _drawn_as(name: str, shape: Sequence[object] | None) -> Draw:
    """Return how an input of such a name is drawn, so that results stay in the range of their type."""
    plain = name.rstrip("0123456789")
    if shape is not None and len(shape) > 1 and plain.endswith(("weight", "weights", "proj", "projs", "weight_matrix")):
        return "weight"
    if plain.endswith(("norm_weight", "layernorm_weight")):
        return "scale"
    if plain.endswith(("rstd", "std", "variance", "var")):
        return "positive"
    if plain in {"cos", "sin", "cos_cached", "sin_cached", "rope_cos", "rope_sin", "freqs_cos", "freqs_sin"}:
        return "angle"
    return "normal"


def _storage(inputs: Sequence[StatedTensor], where: str) -> str:
    """Return the storage type of a problem: that of its first tensor of a floating type, else of its first."""
    tensors = [one for one in inputs if one.shape is not None]
    floating = [one for one in tensors if "float" in str(one.dtype)]
    if not tensors:
        raise _bad("it has no tensor among its inputs", where)
    known = format_of(str((floating or tensors)[0].dtype))
    return known.dtype if known is not None and known.dtype in _STORAGE else "int32"


_STORAGE = ("fp64", "fp32", "fp16", "bf16", "fp8", "int32", "int8")


def _limits(dtype: str, rtols: Sequence[Fraction], source: str) -> Tolerance:
    rel = min(max(rtols), Fraction(1, 2))
    reason = f"the largest max_rtol of the {source} workloads, held by the norm; ten times that by an element of a row"
    return replace(tolerance_of(dtype), rel_l2_err=rel, max_abs_err_rel=min(10 * rel, Fraction(1, 2)), reason=reason)


def _line(text: str, where: str) -> JsonMap:
    try:
        data = _mapping(json.loads(text), where)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"is not JSON: {error}", where=where, fix="one workload a line", code="KB116") from error
    return _mapping(data["workload"], where) if "workload" in data else data


def _mapping(value: object, where: str) -> JsonMap:
    if not isinstance(value, dict):
        raise BadInput("is no JSON object", where=where, fix="docs/problems.md says what is read", code="KB116")
    return value


def _bad(what: str, where: str) -> BadInput:
    return BadInput(what, where=where, fix="docs/problems.md says what is read", code="KB116")

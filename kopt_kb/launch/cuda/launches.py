"""The launch record of a CUDA C++ file: no Python of anybody runs, the header says what is launched."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.cuda.header import Header
from kopt_kb.launch.cuda.plan import header_of, label_of, plan_of, program_of, steps_of
from kopt_kb.launch.record.code_request import CodeRequest
from kopt_kb.launch.record.model import (
    VERSION,
    Buffer,
    Copy,
    Fill,
    Input,
    LaunchRecord,
    Step,
    StructArg,
    TensorAddress,
    TensorMapArg,
    TensorView,
)
from kopt_kb.launch.record.request import MakerRequest, OpRequest
from kopt_kb.problem.ops import ALIASES

__all__ = ["record_cuda"]

_ALIGNMENT = 256
"""Bytes that a replay's allocations are aligned to."""

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_MOST_FILES = 512
_ROLES: dict[str, Literal["input", "output", "scratch", "zeroed"]] = {
    "inputs": "input",
    "outputs": "output",
    "scratch": "scratch",
    "zeroed": "zeroed",
}


def record_cuda(request: MakerRequest, what: OpRequest) -> LaunchRecord:
    """Return the record of a file on a shape; its code object is written into the request's folder.

    Raises:
        BadInput: The header does not fit the shape, the kernels, or itself.
        CompileFailed: The compiler refuses.
        MissingTool: NVRTC is not installed.
    """
    file, target = Path(what.file), CompileTarget.parse(request.target)
    header = header_of(file)
    plan = plan_of(header, what.shape, what.dtype, what.config, request.facts)
    program = program_of(plan, file, target)
    code = hashlib.sha256(program.cubin).hexdigest()
    steps = steps_of(plan, program, code)
    (Path(request.folder) / code).write_bytes(program.cubin)
    named = {role: [plan.tensors[name] for name, one in header.tensors.items() if one.role == role] for role in _ROLES}
    if not named["outputs"]:
        fix = 'write [outputs] with out = "[M, N]"'
        raise BadInput("the header has no outputs", where=header.where, fix=fix, code="KB077")
    return LaunchRecord(
        v=VERSION,
        label=label_of(file, what.shape, what.dtype),
        op=ALIASES.get(header.op, header.op),
        shape=what.shape,
        dtype=what.dtype,
        target=target.name,
        buffers=_buffers(named, steps),
        inputs=tuple(Input(one.buffer, one) for one in named["inputs"]),
        outputs=tuple(named["outputs"]),
        steps=steps,
        codes={code: len(program.cubin)},
        sources=_sources(file, header.function.rpartition(":")[0]),
        versions=program.versions,
        requests={code: _request(what, header)},
    )


def _request(what: OpRequest, header: Header) -> CodeRequest:
    """Return what the compiler was asked: the header says the rest."""
    asked = {"shape": list(what.shape), "dtype": what.dtype, "config": dict(what.config)}
    language = f"CUDA {header.language}" if header.language else "CUDA"
    return CodeRequest(language, str(Path(what.file).resolve()), "", "", constants=asked)


def _buffers(named: Mapping[str, Sequence[TensorView]], steps: Sequence[Step]) -> tuple[Buffer, ...]:
    """Return the buffers: all of the problem, and of the rest those that a step uses."""
    used = {view.buffer for step in steps for view in _views(step)}
    made = []
    for role, views in named.items():
        for one in views:
            kind = _ROLES[role]
            if kind in {"input", "output"} or one.buffer in used:
                made.append(Buffer(one.buffer, kind, max(one.end_bytes, 1), _ALIGNMENT, kind != "input"))
    return tuple(made)


def _views(step: Step) -> Iterator[TensorView]:
    if isinstance(step, Fill):
        yield step.view
    elif isinstance(step, Copy):
        yield from (step.source, step.target)
    else:
        for given in step.arguments:
            held = [one.value for one in given.members] if isinstance(given, StructArg) else [given]
            yield from (one.view for one in held if isinstance(one, TensorAddress | TensorMapArg))


def _sources(file: Path, other: str) -> dict[str, str]:
    """Return the file, header and another file beside it, and what it includes from its folder and below → sha256."""
    root, found = file.resolve().parent, dict[str, str]()
    left = [file.resolve(), file.resolve().with_suffix(".toml"), *([root / other] if other else [])]
    while left and len(found) < _MOST_FILES:
        one = left.pop()
        if not one.is_relative_to(root) or not one.is_file() or (name := one.relative_to(root).as_posix()) in found:
            continue
        content = one.read_bytes()
        found[name] = hashlib.sha256(content).hexdigest()
        if content[:4] != b"\x7fELF":
            left += [(one.parent / inner).resolve() for inner in _INCLUDE.findall(content.decode(errors="replace"))]
    return dict(sorted(found.items()))

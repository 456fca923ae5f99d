"""CUDA C++ compiled again from its file: nobody's Python runs either time, the header says what is compiled."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import Wire, read
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.cuda.plan import header_of, plan_of, program_of
from kopt_kb.launch.recompile.job import Outcomes, Recompiled, RecompileJob
from kopt_kb.launch.record.code_request import CodeRequest

__all__ = ["recompile_cuda"]


@dataclass(frozen=True, slots=True)
class _Asked(Wire):
    """What a file with a header is compiled for."""

    shape: tuple[int, ...]
    dtype: str
    config: Mapping[str, int] = field(default_factory=dict)


def recompile_cuda(job: RecompileJob, numbers: Sequence[int]) -> Outcomes:
    """Return what became of some requests of a job; their code objects go into its folder."""
    return {number: _again(job, number, job.requests[number]) for number in numbers}, {}


def _again(job: RecompileJob, number: int, request: CodeRequest) -> Recompiled:
    file = Path(request.file)
    if not any(file.resolve().is_relative_to(Path(one).resolve()) for one in job.roots):
        return Recompiled("", "outside", f"{file.name} is no file of the candidate's")
    try:
        header = header_of(file)
        if header.language:  # its function would run
            return Recompiled("", "language", f"{header.language} behind a header is not made again")
        asked = read(_Asked, dict(request.constants), where="request")
        plan = plan_of(header, asked.shape, asked.dtype, asked.config, job.facts)
        program = program_of(plan, file, CompileTarget.parse(job.target))
    except KoptError as error:
        return Recompiled("", "compiler", str(error)[:300])
    name = f"{number}.bin"
    (Path(job.folder) / name).write_bytes(program.cubin)
    return Recompiled(name, None, "", {str(file): hashlib.sha256(file.read_bytes()).hexdigest()})

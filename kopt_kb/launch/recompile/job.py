"""What the second compiler is asked, and what it answers: documents; code objects lie beside them as files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kopt_kb.base.wire import Wire
from kopt_kb.launch.record.code_request import CodeRequest, UnboundReason

__all__ = ["ANSWER", "Outcomes", "RecompileAnswer", "RecompileJob", "Recompiled"]

ANSWER = "answer.json"
"""Name of the answer in the job's folder."""


@dataclass(frozen=True, slots=True)
class RecompileJob(Wire):
    """Code objects to be made again.

    Attributes:
        requests: How each was compiled, as the recorder says.
        target: Such as sm_90.
        roots: Folders of the candidate's own files.
        device: Name of the product, for a language that asks.
        facts: Sourced properties of the device by torch's names, likewise.
        folder: Where code objects and the answer are written.
    """

    requests: tuple[CodeRequest, ...]
    target: str
    roots: tuple[str, ...]
    device: str
    facts: Mapping[str, int]
    folder: str


@dataclass(frozen=True, slots=True)
class Recompiled(Wire):
    """What became of one request.

    Attributes:
        output: File of the code object in the job's folder; empty: there is none.
        reason: Why there is none.
        detail: The same in words, with file and line where there is one.
        files: Path of each file that was read → sha256.
    """

    output: str = ""
    reason: UnboundReason | None = None
    detail: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecompileAnswer(Wire):
    """What became of the requests of a job, in order, and with which programs."""

    made: tuple[Recompiled, ...]
    versions: Mapping[str, str] = field(default_factory=dict)


Outcomes = tuple[Mapping[int, Recompiled], Mapping[str, str]]
"""Number of a request → what became of it, and program → version."""

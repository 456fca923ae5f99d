"""What a compile worker and its parent say to each other: documents with their length in front, code objects behind.

A frame is a line with two numbers, the bytes of a document and of what follows it, then the document as JSON, then the
code objects one after the other. A worker imports foreign files, so its parent reads within limits, and every member
by its type.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, Literal

from kopt_kb.base.error_codes import cause_of
from kopt_kb.base.errors import BadInput, KoptError, MissingTool
from kopt_kb.base.wire import Wire, parse, plain, read
from kopt_kb.launch.compile.request import Compilation, CompileFailed, CompileRequest, Listed

__all__ = [
    "HEAD_BYTES", "MAX_FRAME_BYTES", "Answered", "CompileOutcome", "asked", "outcome_of", "read_frame", "request_of",
    "said",
]  # fmt: skip

HEAD_BYTES = 64
"""A longer first line is none."""
MAX_FRAME_BYTES = 1 << 29
"""An answer of more bytes is refused: texts of the compiler and code objects of all kernels of a file."""

CompileOutcome = list[Compilation] | KoptError
"""What became of one request: its kernels, or the error that ended it."""

Answered = CompileOutcome | Listed
"""The same of any request: a listing has neither kernels nor an error."""


@dataclass(frozen=True, slots=True)
class _Failed(Wire):
    kind: Literal["bad input", "missing tool", "compile failed"]
    what: str
    where: str
    fix: str
    code: str


@dataclass(frozen=True, slots=True)
class _Answer(Wire):
    kernels: tuple[Compilation, ...] = ()
    binaries: tuple[int, ...] = ()
    failed: _Failed | None = None
    listed: Listed | None = None


_KINDS: dict[str, type[KoptError]] = {
    "bad input": BadInput,
    "missing tool": MissingTool,
    "compile failed": CompileFailed,
}


def _frame(document: Wire, *behind: bytes) -> bytes:
    text = json.dumps(plain(document), separators=(",", ":"), allow_nan=False).encode()
    return b"%d %d\n" % (len(text), sum(map(len, behind))) + text + b"".join(behind)


def asked(request: CompileRequest) -> bytes:
    """Return the frame of a request; raises `BadInput` where an argument has no document."""
    try:
        return _frame(request)
    except (TypeError, ValueError) as error:
        fix = "give numbers, texts, or types of Triton"
        what = f"an argument that can't be written down: {error}"
        raise BadInput(what, where=request.case.file, fix=fix, code="KB078") from error


def said(outcome: Answered) -> bytes:
    """Return the frame of an outcome."""
    if isinstance(outcome, KoptError):
        kind = next((name for name, one in _KINDS.items() if isinstance(outcome, one)), "bad input")
        failed = _Failed(kind, outcome.what, outcome.where, outcome.fix, outcome.error_code)  # type: ignore[arg-type]
        return _frame(_Answer(failed=failed))
    if isinstance(outcome, Listed):
        return _frame(_Answer(listed=outcome))
    binaries = [one.binary for one in outcome]
    return _frame(_Answer(tuple(outcome), tuple(map(len, binaries))), *binaries)


def read_frame(line: bytes, exactly: Callable[[int], bytes]) -> tuple[bytes, bytes]:
    """Return document and bytes of a frame.

    Args:
        line: Its first line, without the end.
        exactly: Returns the next so many bytes.

    Raises:
        ValueError: It is no frame, or larger than any may be.
    """
    sizes = [int(word) for word in line.decode("ascii").split(" ")]
    if len(sizes) != 2 or min(sizes) < 0 or sum(sizes) > MAX_FRAME_BYTES:
        raise ValueError(f"no frame: {line[:40]!r}")
    return exactly(sizes[0]), exactly(sizes[1])


def request_of(stream: BinaryIO) -> CompileRequest:
    """Return the next request; raises `EOFError` when there is none."""

    def exactly(count: int) -> bytes:
        data = stream.read(count)
        if len(data) < count:
            raise EOFError
        return data

    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    document, _ = read_frame(line[:-1], exactly)
    return read(CompileRequest, parse(document, where="request"), where="request")


def outcome_of(document: bytes, behind: bytes) -> Answered:
    """Return the outcome in a frame; raises `WireError` or `ValueError` for one that is none."""
    answer = read(_Answer, parse(document, where="the compiler's answer"), where="the compiler's answer")
    if answer.failed is not None:
        failed = answer.failed
        kind = _KINDS[failed.kind]
        return kind(failed.what, where=failed.where, fix=failed.fix, code=cause_of(failed.code))
    if answer.listed is not None:
        return answer.listed
    if sum(answer.binaries) != len(behind) or min(answer.binaries, default=0) < 0:
        raise ValueError("the code objects are not as long as they say")
    return [
        replace(one, binary=binary) for one, binary in zip(answer.kernels, _parts(behind, answer.binaries), strict=True)
    ]


def _parts(behind: bytes, sizes: Sequence[int]) -> list[bytes]:
    ends = [sum(sizes[: number + 1]) for number in range(len(sizes))]
    return [behind[end - size : end] for size, end in zip(sizes, ends, strict=True)]

"""Binds the code objects of launch records to their source: each is made again once, and compared.

Answers are kept by what they depend on, for as long as this process lives, and nobody else writes them.
"""

from __future__ import annotations

import hashlib
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kopt_kb.base.errors import KoptError
from kopt_kb.base.files import read_input
from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.doors.languages import language_of_file
from kopt_kb.launch.cuda.header import read_header
from kopt_kb.launch.kernel.declared import has_header
from kopt_kb.launch.recompile.job import ANSWER, RecompileAnswer, Recompiled, RecompileJob
from kopt_kb.launch.recompile.loadable import difference
from kopt_kb.launch.record.bounds import MAX_CODE_BYTES
from kopt_kb.launch.record.code_request import CodeRequest, UnboundReason
from kopt_kb.launch.record.judge import stored
from kopt_kb.launch.record.source import CodeBound, CodeSource
from kopt_kb.sandbox.caged import Cage, caged
from kopt_kb.sandbox.deadline import left_s
from kopt_kb.sandbox.owned import owned_folder
from kopt_kb.sandbox.process import ChildLimits, run

__all__ = ["Binder", "Origin", "RecordedCode", "codes_of", "named_truly"]

_CODE = "import sys; sys.path.append(sys.argv.pop(1)); from kopt_kb.launch.recompile.worker import main; main()"
_WALL_S, _MEMORY_BYTES, _ANSWER_BYTES = 600.0, 16 << 30, 16 << 20
_KEPT = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "ROCM_PATH", "TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH",
         "CUDA_HOME", "CUDA_PATH", "TZ")  # fmt: skip
"""Variables of this process that the second compiler gets; none comes from the request."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What records were made of.

    Attributes:
        target: Such as sm_90.
        roots: Folders of the candidate's own files.
        device: Name of the product, for languages that ask.
        facts: Sourced properties of the device by torch's names, likewise.
        digest: Of the candidate's source, which answers are kept by; empty: nothing is kept.
    """

    target: str
    roots: tuple[str, ...]
    device: str = ""
    facts: Mapping[str, int] | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True)
class RecordedCode:
    """A recorded code object, and how its recorder says it was compiled."""

    digest: str
    code: bytes
    request: CodeRequest | None


def codes_of(folder: Path) -> list[RecordedCode]:
    """Return the code objects of a stored record; raises `BadInput` where one is not what its name says."""
    record, code = stored(folder)
    asked = record.requests or {}
    return [RecordedCode(digest, code(digest), asked.get(digest)) for digest in record.codes]


class Binder:
    """Makes code objects again and remembers what came of each."""

    def __init__(self) -> None:
        self._known: dict[str, CodeBound] = {}

    def bound(self, codes: Sequence[RecordedCode], origin: Origin, ends_at: float = math.inf) -> list[CodeBound]:
        """Return the outcome of each code object, in order.

        Raises:
            TimeoutError: They are not made by that moment of `time.monotonic`.
        """
        found = [self._known.get(_key(one, origin)) for one in codes]
        new = {_key(one, origin): one for one, known in zip(codes, found, strict=True) if known is None}
        made = dict(zip(new, self._made([*new.values()], origin, ends_at), strict=True))
        if origin.digest:
            self._known |= made
        return [known or made[_key(one, origin)] for one, known in zip(codes, found, strict=True)]

    def _made(self, codes: Sequence[RecordedCode], origin: Origin, ends_at: float) -> list[CodeBound]:
        asked = [(one, one.request) for one in codes if one.request is not None]
        if not asked:
            return [_unasked(one) for one in codes]
        made: dict[int, CodeBound] = {}
        with owned_folder("kb-again-") as folder:
            answer = _answered([request for _, request in asked], origin, folder, ends_at)
            for (one, request), again in zip(asked, answer.made, strict=True):
                source = _compared(one, again, folder)
                files = {Path(name).name: digest for name, digest in again.files.items()}
                kernel = f"{request.language} {request.kernel}".strip()[:200]
                options, versions = dict(request.options), dict(answer.versions)
                made[id(one)] = CodeBound(one.digest, kernel, source, files, options, versions)
        return [made.get(id(one)) or _unasked(one) for one in codes]


def named_truly(bound: CodeBound, file: Path) -> CodeBound:
    """Return an outcome whose language is one that the file is in: a recorder may name one that nothing makes again."""
    if bound.source.reason != "language" or _is_unmade(file):
        return bound
    what = f"the record names {bound.kernel[:80]}, in which {file.name} is not"
    return replace(bound, source=CodeSource("unbound", "not_asked", what))


def _is_unmade(file: Path) -> bool:
    """Return whether a file is in a language whose code objects nothing makes again; it is read and never run."""
    if has_header(str(file)):
        header = read_header(file)
        return header is not None and bool(header.language)
    language = language_of_file(str(file))
    return language is not None and language.recompile is None


def _key(one: RecordedCode, origin: Origin) -> str:
    request = replace(one.request, file=Path(one.request.file).name) if one.request is not None else None
    asked = request.to_json() if request is not None else None
    return hashlib.sha256(canonical([origin.digest, origin.target, one.digest, asked])).hexdigest()


def _unasked(one: RecordedCode) -> CodeBound:
    return CodeBound(one.digest, "", CodeSource("unbound", "not_asked", "the record does not say how it was compiled"))


def _answered(requests: Sequence[CodeRequest], origin: Origin, folder: Path, ends_at: float) -> RecompileAnswer:
    """Return the second compiler's answer; where there is none, a refusal of each request."""
    inner, report = folder / "work", folder / "cage.json"
    inner.mkdir()
    job = RecompileJob(
        tuple(requests), origin.target, origin.roots, origin.device, origin.facts or {}, str(inner.resolve())
    )
    own = {name: value for name in _KEPT if (value := os.environ.get(name))}
    places = dict.fromkeys(("HOME", "TMPDIR"), str(inner)) | {"TRITON_CACHE_DIR": str(inner / "cache")}
    pinned = {"TRITON_ALWAYS_COMPILE": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1"}
    home = str(Path(__file__).resolve().parents[3])
    limits = ChildLimits(left_s(ends_at, _WALL_S), resident_bytes=_MEMORY_BYTES)
    done = run(
        caged([sys.executable, "-I", "-c", _CODE, home], Cage((str(inner),), str(report))),
        env={**own, **places, **pinned}, limits=limits, feed=canonical(job.to_json()),
    )  # fmt: skip
    if done.passed == "hang" and math.isfinite(ends_at):
        raise TimeoutError("the code objects are not made again in time")
    try:
        said = read_input(inner / ANSWER, _ANSWER_BYTES) if not done.code and not done.passed else b""
        answer = read(RecompileAnswer, parse(said, where="the second compiler"), where="the second compiler")
        if len(answer.made) == len(requests):
            return answer
        why = "another number of answers"
    except (KoptError, OSError) as error:
        why = done.passed or done.last_line[:200] or str(error)[:200]
    return RecompileAnswer(tuple(Recompiled("", "compiler", why) for _ in requests))


def _compared(one: RecordedCode, again: Recompiled, folder: Path) -> CodeSource:
    if not again.output:
        reason: UnboundReason = again.reason or "compiler"
        return CodeSource("unbound", reason, again.detail)
    path = folder / "work" / Path(again.output).name
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_CODE_BYTES:
        return CodeSource("unbound", "compiler", "no code object came back")
    found = difference(one.code, path.read_bytes())
    if found:
        return CodeSource("unbound", "differs", f"made again, it differs in {found}"[:300])
    return CodeSource("bound", None)

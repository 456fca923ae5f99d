"""Results of a project's kernel on this program's inputs: made here, computed by the project, compared here.

The inputs of every case are written before one command of the project computes them all; which of them are random and
which are against it the command is not told. The reference process compares: it draws each input a second time from its
seed and imports nothing that a candidate may change.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import Wire, WireError, parse, read
from kopt_kb.launch.candidate.answers import AnswerBasis, Check, JudgedOutput
from kopt_kb.launch.judge.channel import REFERENCE, Channel, ProcessChannel
from kopt_kb.launch.kernel.declared import packaged_reference
from kopt_kb.launch.kernel.judgement import trials_of
from kopt_kb.launch.project.bounded_read import UnreadableError, open_regular, read_bounded
from kopt_kb.launch.project.entries import unlike_benchmark
from kopt_kb.launch.project.running import Commands, RunningJob
from kopt_kb.launch.project.scratch import Scratch
from kopt_kb.launch.record.model import TensorView
from kopt_kb.launch.record.reference import CompareFile, Distance, Prepare, Prepared
from kopt_kb.problem.shapes import parse_shape
from kopt_kb.problem.trials import RANDOM

__all__ = ["CaseOutput", "Cases", "compare_again", "judged_outputs"]

_LIMIT_S = 300.0
"""Seconds that an answer of the reference may take."""

_MOST_BYTES, _MOST_SAID = 4 << 30, 1 << 16
"""Bytes of one result, and of what is said of it."""

_KEPT_BYTES, _KEPT_TOGETHER = 256 << 10, 2 << 20
"""Results up to this size are kept with the answer, and so many bytes of them, so that they can be compared again."""

_AGREES = 1e-6
"""Share by which a distance that is computed again may differ."""

BYTES, SAID, PROBLEM = "out.bin", "out.json", "problem.json"
"""Files of a case."""


@dataclass(frozen=True, slots=True)
class CaseOutput(Wire):
    """What a project says of a result: its extents and storage type; the bytes lie in C order beside it."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class _Case:
    shape: str
    trial: str
    part: int
    seed: int
    device: str
    name: str = ""


@dataclass(slots=True)
class Cases:
    """The cases of one check, and the process that judges them; a context manager that ends it.

    Args:
        file: File with make_inputs and reference.
        op: Operation.
        dtype: Storage type.
        reference: The process.
    """

    file: Path
    op: str
    dtype: str
    reference: Channel = field(default_factory=lambda: ProcessChannel(REFERENCE, "reference"))
    made: list[_Case] = field(default_factory=list)

    def __enter__(self) -> Cases:
        return self

    def __exit__(self, *_: object) -> None:
        self.reference.end()

    def prepare(self, case: _Case, folder: Path) -> Prepared:
        """Have the inputs of a case made in a folder; raises `KoptError` where the reference does not answer."""
        asked = Prepare(
            str(self.file), parse_shape(case.shape), self.dtype, case.seed, str(folder), trial=case.trial, op=self.op,
            part=case.part, device=case.device,
        )  # fmt: skip
        return self.reference.ask(asked, Prepared, _LIMIT_S)

    def write(self, shapes: Sequence[str], inputs: Path) -> str:
        """Write the inputs of all cases, a folder each; return why that can't be done, or nothing."""
        for number, case in enumerate(_planned(self.op, shapes)):
            folder = inputs / str(number)
            folder.mkdir(parents=True)
            made = self.prepare(case, folder)
            if made.error:
                return made.error
            if made.skipped:
                folder.rmdir()
                continue
            known = [
                {"file": Path(one).name, "shape": view.shape, "strides": view.strides, "dtype": view.dtype}
                for one, view in zip(made.files, made.views, strict=True)
            ]
            problem = {"op": self.op, "shape": parse_shape(case.shape), "dtype": self.dtype, "inputs": known}
            (folder / PROBLEM).write_text(json.dumps(problem), encoding="utf-8")
            self.made.append(replace(case, name=str(number)))
        return "" if self.made else "the reference has no inputs of these shapes"

    def compared(self, outputs: Path, scratch: Path, *, keep: bool) -> Check:
        """Return how the results that the project left compare with the reference.

        Args:
            outputs: Where they lie, a folder a case.
            scratch: A folder for inputs.
            keep: Whether bytes of results are worth keeping: whoever has this package can compare them again.
        """
        found: list[JudgedOutput] = []
        left = _KEPT_TOGETHER if keep else 0
        for case in self.made:
            one, problem = self._judged(case, outputs / case.name, scratch)
            if one is None or problem:
                where = f"{case.shape}, {case.trial}{', second run' if case.part else ''}"
                return Check(problem=f"{where}: {problem}", checks=len(found), outputs=tuple(found))
            size = (outputs / case.name / BYTES).stat().st_size
            if case.device == "cpu" and size <= min(left, _KEPT_BYTES):
                left -= size
                one = replace(one, content=base64.b64encode((outputs / case.name / BYTES).read_bytes()).decode())
            found.append(one)
        worst: dict[str, float] = {}
        for one in found:
            worst[one.shape] = max(worst.get(one.shape, 0.0), one.rel_l2_err or 0.0)
        return Check(
            passed=True, rel_l2_err=max(worst.values()), rel_l2_err_by_shape=worst, checks=len(found),
            outputs=tuple(found),
        )  # fmt: skip

    def _judged(self, case: _Case, folder: Path, scratch: Path) -> tuple[JudgedOutput | None, str]:
        try:
            view, sha = _kept(folder)
        except KoptError as error:
            return None, f"{error.where} {error.what}"
        return self.distance(case, view, folder / BYTES, sha, scratch)

    def distance(
        self, case: _Case, view: TensorView, data: Path, sha: str, scratch: Path
    ) -> tuple[JudgedOutput | None, str]:
        """Return how far a result is from the reference of its case, and what is wrong with it."""
        made = self.prepare(case, scratch)
        if made.error or made.skipped:
            return None, made.error or made.skipped
        found = self.reference.ask(CompareFile(str(data), view), Distance, _LIMIT_S)
        one = JudgedOutput(
            case.shape, case.trial, case.part, case.seed, case.device, sha, view.shape, view.dtype, found.rel_l2_err
        )
        return one, found.unable or found.problem


def _planned(op: str, shapes: Sequence[str]) -> Iterator[_Case]:
    """Yield the cases: the smallest shape on all inputs that the operation declares, others on random ones.

    The smallest is drawn and compared on the CPU, which can be done again on any machine.
    """
    smallest = min(shapes, key=lambda one: math.prod(parse_shape(one)))
    for shape in shapes:
        for trial in trials_of(op) if shape == smallest else (RANDOM,):
            seed = secrets.randbelow(2**31)
            for part in range(trial.parts):
                yield _Case(shape, trial.name, part, seed, "cpu" if shape == smallest else "")


def _kept(folder: Path) -> tuple[TensorView, str]:
    """Return view and hash of a result; raises `WireError` where there is none that may be read."""
    with _named(SAID):
        said = read(CaseOutput, parse(read_bounded(folder / SAID, _MOST_SAID), where=SAID), where=SAID)
    strides = [math.prod(said.shape[at + 1 :]) for at in range(len(said.shape))]
    try:
        view = TensorView("out", 0, said.shape, tuple(strides), said.dtype)
        needed = view.end_bytes
    except KeyError:
        raise WireError(f"has elements of {said.dtype}", where=SAID) from None
    with _named(BYTES), open_regular(folder / BYTES) as file:
        size = file.seek(0, 2)
        if min(said.shape, default=1) < 0 or size != needed or size > _MOST_BYTES:
            raise WireError(f"has {size} bytes, its shape needs {needed}", where=BYTES)
        file.seek(0)
        return view, hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _named(file: str) -> Iterator[None]:
    """Let what can't be read be said of a file of the case."""
    try:
        yield
    except UnreadableError as error:
        raise WireError(str(error), where=file) from None
    except OSError as error:
        raise WireError(f"can't be read: {error.strerror or error}", where=file) from None


def judged_outputs(commands: Commands, session: RunningJob, copy: Scratch) -> Check:
    """Have the project's kernel compute this program's inputs, and compare what it left.

    Raises:
        CommandFailedError: The command ran past a limit.
    """
    project, body = commands.copies.project, session.job.body
    own = commands.copies.root / project.reference if project.reference else packaged_reference(project.op)
    if own is None:
        return Check(problem=f"no reference of {project.op}")
    inputs, outputs, scratch, probed = (session.folder / name for name in ("inputs", "outputs", "again", "probed"))
    for one in (inputs, outputs, scratch, probed):
        one.mkdir()
    try:
        with Cases(own, project.op, project.dtype) as cases:
            unable = cases.write(body.shapes, inputs)
            if unable:
                return Check(problem=f"the inputs can't be made: {unable}")
            for case in cases.made:
                (outputs / case.name).mkdir()
                (probed / case.name).mkdir()
            reason = commands.outputs(session, copy, inputs, outputs)
            if reason:
                return Check(problem=reason)
            found = cases.compared(outputs, scratch, keep=not project.reference)
            if found.passed and body.probe and (reason := unlike_benchmark(commands, session, inputs, probed)):
                return Check(problem=reason)
    except KoptError as error:
        return Check(problem=f"the results can't be compared: {error.what}")
    held = session.held
    session.say(f"outputs: {found.checks} results compared with the reference")
    return replace(found, basis=AnswerBasis.of_cage(held, held.lacks()) if held is not None else None)


def compare_again(cases: Cases, kept: Sequence[JudgedOutput], scratch: Path) -> Iterator[str]:
    """Yield what no longer holds of results whose bytes are kept: each is held against the reference once more.

    Args:
        cases: The process that compares.
        kept: Results with their bytes, of inputs that any machine can draw.
        scratch: A folder for inputs and results.

    Raises:
        KoptError: The reference does not answer, as without torch.
    """
    for one in kept:
        data = scratch / BYTES
        data.write_bytes(base64.b64decode(one.content))
        strides = tuple(math.prod(one.extents[at + 1 :]) for at in range(len(one.extents)))
        view = TensorView("out", 0, one.extents, strides, one.dtype)
        case = _Case(one.shape, one.trial, one.part, one.seed, one.device)
        found, problem = cases.distance(case, view, data, one.sha256, scratch)
        where = f"{one.shape}, {one.trial}"
        if problem:
            yield f"{where}: {problem}"
        elif found is not None and not _agree(found.rel_l2_err, one.rel_l2_err):
            yield f"{where}: the distance from the reference is {found.rel_l2_err}, not {one.rel_l2_err}"


def _agree(now: float | None, then: float | None) -> bool:
    if now is None or then is None:
        return now is then
    return math.isclose(now, then, rel_tol=_AGREES, abs_tol=1e-12)

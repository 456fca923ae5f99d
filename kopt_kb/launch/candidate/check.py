"""The judge of a candidate's results: it computes the reference and never imports the candidate.

The candidate runs in a process of its own, in a cage, on inputs that the trusted reference file makes, and leaves its
outputs as files; this process makes the inputs again from the seeds and compares. Neither a changed `reference` or
`make_inputs` in the candidate's file nor anything it does to torch in its own process can reach the comparison. Where
the cage is whole, the check is `isolated`.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.candidate.answers import AnswerBasis, Check, Outputs, Unable
from kopt_kb.launch.candidate.exchange import answered, child_argv, give
from kopt_kb.launch.candidate.job import Request
from kopt_kb.launch.compile.loader import load_module
from kopt_kb.launch.kernel.blocked import ReferenceMemoryError
from kopt_kb.launch.kernel.ceilings import require_gpu
from kopt_kb.launch.kernel.judgement import Case, Judgement, trials_of
from kopt_kb.launch.kernel.output_file import load_output, release_memory, save_output
from kopt_kb.launch.kernel.verification import output_dtype, output_shape, produce
from kopt_kb.launch.project.surroundings import cage_of, home_of, passed_on
from kopt_kb.problem.shapes import Shape, parse_shape
from kopt_kb.problem.trials import RANDOM, Trial
from kopt_kb.sandbox.caged import caged, held_by
from kopt_kb.sandbox.isolation import Isolation
from kopt_kb.sandbox.process import Child, ChildLimits, environment

__all__ = [
    "CandidateDiedError",
    "cases_of",
    "check",
    "device_of",
    "error_line",
    "outputs",
    "reference_of",
    "shapes_of",
]


class CandidateDiedError(Exception):
    """The candidate's process ended without an answer; `code` as subprocess gives it, negative for a signal."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the candidate's process ended with {code}")
        self.code = code


def shapes_of(body: Request) -> dict[str, Shape]:
    """Return the job's shapes by their text."""
    return {text: parse_shape(text) for text in body.shapes}


def device_of(body: Request) -> str:
    """Return the device of the job."""
    return body.device or "cuda"


def reference_of(folder: Path) -> Any:
    """Return the module whose `make_inputs` and `reference` judge: the trusted file, else the candidate's own."""
    trusted = folder / "reference.py"
    return load_module(str(trusted if trusted.is_file() else folder / "candidate.py"))


def launcher_of(candidate: Any, maker: Any) -> Any:
    """Return a candidate's `launch`; of a problem outside the list, as its reference file calls candidates."""
    wrap = getattr(maker, "launcher", None)
    return candidate.launch if wrap is None else wrap(candidate)


@dataclass(frozen=True, slots=True)
class CandidateRun:
    """One run of a candidate: its place in the order of all, and what it runs on."""

    place: int
    text: str
    shape: Shape
    seed: int
    trial: Trial
    part: int

    def __str__(self) -> str:
        """Return how messages name it."""
        kind = "" if self.trial is RANDOM else f", {self.trial.name}" + (", second run" if self.part else "")
        return f"{self.text}, seed {self.seed}{kind}"


def cases_of(body: Request) -> Iterator[CandidateRun]:
    """Yield every run in order: each shape on each seed as drawn, then on its first seed with each other trial."""
    named = trials_of(body.op, body.trials) if body.trials else ()
    place = 0
    for text, shape in shapes_of(body).items():
        seeds = [(RANDOM, int(seed)) for seed in body.seeds]
        seeds += [(trial, int(body.seeds[0])) for trial in named if trial is not RANDOM]
        for trial, seed in seeds:
            for part in range(trial.parts):
                yield CandidateRun(place, text, shape, seed, trial, part)
                place += 1


def _cases(maker: Any, body: Request) -> Iterator[tuple[CandidateRun, Case]]:
    """Yield every run with its inputs; the second run of a trial has the case of the first."""
    case = None
    for run in cases_of(body):
        if run.part and case is not None:
            case.second()
        else:
            case = None  # memory of the one before
            case = Case(maker, run.shape, body.dtype, run.trial, run.seed, device_of(body), body.op)
        yield run, case


def check(body: Request, folder: Path) -> Check | Unable:
    """Return whether the candidate builds on every shape and agrees with the reference on every shape and seed."""
    # All that judges is in memory before the candidate runs: what it writes to disk comes too late.

    if device_of(body).startswith("cuda"):
        require_gpu()
    try:
        judge = reference_of(folder)
        sizes = {
            text: output_shape(judge, shape, body.dtype, body.seeds[0], device_of(body))
            for text, shape in shapes_of(body).items()
        }
        shapes = {text: size for text, size in sizes.items() if size is not None}
    except (MissingTool, ReferenceMemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - a user's file may raise anything
        _raise_out_of_memory(error)
        return Check(build_error=f"the reference file fails: {error_line(error)}")
    release_memory()
    # Beside the job's folder and not in it; whoever made that one removes both when this process is killed.
    with tempfile.TemporaryDirectory(prefix="outputs-", dir=folder.parent, ignore_cleanup_errors=True) as name:
        inner = Path(name) / "job"
        inner.mkdir()
        ran, held = _run_candidate(replace(body, out_shapes=shapes), folder, inner)
        if isinstance(ran, Unable):
            return ran
        if ran.build_error:
            return Check(build_error=ran.build_error, basis=AnswerBasis.of_cage(held, held.lacks()))
        return replace(_compare(judge, body, inner, ran.problems), basis=AnswerBasis.of_cage(held, held.lacks()))


def _run_candidate(body: Request, folder: Path, inner: Path) -> tuple[Outputs | Unable, Isolation]:
    """Run the candidate in a cage below this process, in the same session; return its answer and what held it."""
    for name in ("candidate.py", "reference.py"):
        if (folder / name).is_file():
            (inner / name).write_bytes((folder / name).read_bytes())
    token = give(inner, "outputs", body)
    report = folder / "cage.json"  # out of the candidate's reach
    own = {"PYTHONPATH": environment(ours=True)["PYTHONPATH"], "TRITON_CACHE_DIR": str(inner.parent / "triton")}
    variables = {**passed_on(()), **own, **home_of(inner), "PYTHONDONTWRITEBYTECODE": "1"}
    words = caged(child_argv(inner), cage_of(inner, report, None))
    child = Child(words, env=variables, stdout=None, stderr=None, limits=ChildLimits(joined=True))
    try:
        child.has_ended(math.inf)  # whoever started this process sets the limits
    finally:
        code = child.end()
    found = answered(inner, "outputs", token)
    if code or not isinstance(found, Outputs | Unable):
        raise CandidateDiedError(code)
    return found, held_by(report)


def _compare(reference: Any, body: Request, inner: Path, problems: Mapping[str, str]) -> Check:
    failures: list[str] = []
    worst: dict[str, float] = {}
    count = 0
    for run, case in _cases(reference, body):
        if case.skipped:
            continue
        count += 1
        found = _judged(run, case, body, inner, problems)
        if found.problem:
            failures.append(f"{run}: {found.problem}")
        if found.errors is not None and math.isfinite(found.errors.rel_l2_err):
            worst[run.text] = max(worst.get(run.text, 0.0), found.errors.rel_l2_err)
    problem = failures[0] if failures else ""
    return Check("", not failures, problem, max(worst.values(), default=None), worst, count)


def _judged(run: CandidateRun, case: Case, body: Request, inner: Path, problems: Mapping[str, str]) -> Judgement:
    """Return what is wrong with the output that the candidate's process left for a run."""
    if body.tolerance is None:
        raise ValueError("a check needs a tolerance")
    if said := problems.get(str(run.place), ""):
        return Judgement(None, said)
    try:
        out = load_output(inner / f"{run.place}.pt", device_of(body))
    except Exception as error:  # noqa: BLE001 - whatever the candidate's process left there is the answer
        return Judgement(None, f"left no output: {error_line(error)}")
    stored = output_dtype(body.op, case.inputs)
    if not hasattr(case.module, "launcher") and (isinstance(out, tuple) or out.dtype != stored):
        if isinstance(out, tuple):
            return Judgement(None, f"{len(out)} results, and the reference has 1")
        return Judgement(None, f"the result is {out.dtype}, not {stored}")
    return case.judge(out, body.tolerance)


def outputs(body: Request, folder: Path) -> Outputs:
    """Build the candidate on every shape, then leave the output of each case as a file: the untrusted half."""
    maker = reference_of(folder)
    try:
        launch = launcher_of(load_module(str(folder / "candidate.py")), maker)
        for shape in shapes_of(body).values():
            launch(*maker.make_inputs(shape, body.dtype, device_of(body), body.seeds[0]))
    except MissingTool:
        raise
    except Exception as error:  # noqa: BLE001 - a candidate may raise anything, and that is the answer
        _raise_out_of_memory(error)
        return Outputs(error_line(error))
    problems = {}
    for run, case in _cases(maker, body):
        try:
            out, problem = produce(launch, case.inputs, body.out_shapes.get(run.text), op=body.op)
            if not problem:
                save_output(out, folder / f"{run.place}.pt")
        except MissingTool:
            raise
        except Exception as error:  # noqa: BLE001 - likewise
            _raise_out_of_memory(error)
            problem = error_line(error)
        if problem:
            problems[str(run.place)] = problem
    return Outputs(problems=problems)


def _raise_out_of_memory(error: Exception) -> None:
    """Let memory that ran out be its own outcome."""
    if type(error).__name__ == "OutOfMemoryError":
        raise error


def error_line(error: BaseException) -> str:
    """Return an error as one line with its code."""
    text = " ".join(str(error).split())[:300]
    code = getattr(error, "error_code", "")  # text of this package's errors, a number of torch's
    return f"{type(error).__name__}: {text}" + (f" [{code}]" if code and str(code) not in text else "")

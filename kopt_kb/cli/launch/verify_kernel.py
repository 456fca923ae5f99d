"""`kb verify kernel`: a file's launches recorded and replayed, or the file run by a child; one document for both."""

from __future__ import annotations

import argparse
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

from kopt_kb.base.errors import BadInput, ExitCode, MissingTool
from kopt_kb.base.files import read_input
from kopt_kb.base.wire import Wire, inside
from kopt_kb.cli.kit.output import print_json
from kopt_kb.cli.kit.problem_arguments import given_problem
from kopt_kb.cli.tune.judge import judge_of, target_here, why_no_replay
from kopt_kb.launch.candidate.answers import Check, Unable
from kopt_kb.launch.candidate.executor import ChildProcessExecutor
from kopt_kb.launch.candidate.job import Job, Outcome, Request, RunLimits
from kopt_kb.launch.kernel.declared import has_header, packaged_reference
from kopt_kb.launch.kernel.judgement import trials_of
from kopt_kb.launch.kernel.op_options import judging, problem_options
from kopt_kb.problem.ops import op_id
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.shapes import format_shape

__all__ = ["KernelVerdict", "run_kernel"]

_WHERE = "kb verify kernel"


@dataclass(frozen=True, slots=True)
class VerifiedKernel(Wire):
    """A check of a kernel file.

    Attributes:
        file: The kernel.
        passed: Whether it ran to its end and every result is within the tolerance.
        outcome: How the child ended.
        reason: Why it did not pass; empty when it did.
        check: What the child found.
        reference: The file that judged, as people call it.
    """

    WIRE: ClassVar = (
        "file", "passed", "outcome", "reason",
        *(member for member in inside("check", Check) if not member.startswith("passed")), "reference",
    )  # fmt: skip
    file: str
    passed: bool
    outcome: str
    reason: str
    check: Check
    reference: str


@dataclass(frozen=True, slots=True)
class UncheckedKernel(Wire):
    """A kernel file whose check came to no result: the child died, or could not do it."""

    WIRE: ClassVar = ("file", "passed", "outcome", "reason", "unavailable?", "oom?", "reference")
    file: str
    outcome: str
    reason: str
    reference: str
    unavailable: str | None = None
    oom: str | None = None
    passed: Literal[False] = False


KernelVerdict: TypeAlias = VerifiedKernel | UncheckedKernel


def run_kernel(source: bytes, args: argparse.Namespace) -> int:
    """Check a kernel file; exit 1 when it is wrong."""
    job, said = _job(source, args)
    judge, _ = judge_of(args, None, _WHERE)
    if judge == "replay":
        outcome = _replayed(job, args)
    elif has_header(args.file, source):
        what = f"what a header launches is checked by replay alone ({why_no_replay(args) or '--judge child'})"
        raise MissingTool(what, where=args.file, fix="run on a machine with a GPU and kopt-kb[gpu]", code="KB122")
    else:
        outcome = ChildProcessExecutor(args.device).run(job, lambda *_: None)
    verdict = _verdict(args.file, outcome, said)
    if args.json:
        print_json(verdict, args.wiki)
    elif isinstance(verdict, VerifiedKernel) and verdict.passed:
        error, basis = verdict.check.rel_l2_err or 0, verdict.check.basis
        print(f"{args.file}: {verdict.check.checks} checks passed, largest relative error {error:.3g}")
        trust = basis.source_of("candidate").beside(basis.trust) if basis is not None else "reported"
        print(f"  against the float64 reference of {verdict.reference}; trust: {trust}")
    else:
        print(f"{args.file}: {verdict.reason}")
    return ExitCode.OK if verdict.passed else ExitCode.FINDING


def _job(source: bytes, args: argparse.Namespace) -> tuple[Job, str]:
    """Return the check that is asked for, and how the file that judges is called."""
    from kopt_kb.workspace.task import declared_op

    if args.problem:
        problem, reference = _judged_problem(args)
        said = f"the problem {problem.op}"
    else:
        op = args.op or declared_op(source, Path(args.file))
        lacking = [
            name for name, value in (("--shape", args.shape), ("--dtype", args.dtype), ("--op", op)) if not value
        ]
        if op is None or lacking or args.seeds < 1:
            what = f"missing {', '.join(lacking)}" if lacking else "needs at least one seed"
            raise BadInput(what, where=args.file, fix="give it, or name a problem by --problem", code="KB102")
        options = problem_options(source, op_id(op), {}, args.file)
        problem = Problem.of(op, args.shape, args.dtype, options=options)
        reference, said = _reference(args, problem, source)
        if not reference and has_header(args.file, source):
            what = f"no reference for the operation {op!r}"
            raise BadInput(
                what, where=args.file, fix="give --reference FILE with make_inputs and reference", code="KB451"
            )
    shapes, seeds = map(format_shape, problem.shapes), (secrets.randbelow(2**31) for _ in range(args.seeds))
    trials = tuple(one.name for one in trials_of(problem.op, args.inputs))
    body = Request(problem.op, tuple(shapes), problem.dtype, problem.tolerance, tuple(seeds), trials=trials)
    return Job("check", source, b"", body, RunLimits(args.run_s), reference), said


def _judged_problem(args: argparse.Namespace) -> tuple[Problem, bytes]:
    """Return the problem that a candidate is held against, and its reference file."""
    if args.op or args.reference or args.seeds < 1:
        what = "--op or --reference with --problem" if args.seeds > 0 else "needs at least one seed"
        raise BadInput(what, where="kb verify", fix="the problem says what it computes", code="KB103")
    problem, reference = given_problem(args.problem, args.dtype, args.shape)
    return problem, reference


def _replayed(job: Job, args: argparse.Namespace) -> Outcome:
    """Return a check by replay on this machine's GPU."""
    from kopt_kb.launch.judge.device import DeviceJudging
    from kopt_kb.launch.judge.executor import RecordExecutor

    judging = DeviceJudging(trials=args.inputs)
    try:
        executor = RecordExecutor(judging, target_here(args, judging.machine().name, _WHERE))
        try:
            return executor.run(job, lambda *_: None)
        finally:
            executor.close()
    finally:
        judging.close()


def _reference(args: argparse.Namespace, problem: Problem, source: bytes) -> tuple[bytes, str]:
    """Return the file that judges, of the problem's options, and how it is named.

    As given, else the package's, else the kernel's own: also where the package's computes other options.
    """
    options = dict(problem.options)
    if args.reference:
        return judging(read_input(args.reference), problem.op, options, str(args.reference)), str(args.reference)
    path = packaged_reference(problem.op)
    if path is None:
        return b"", "the file's own"
    try:
        return judging(path.read_bytes(), problem.op, options, str(path)), f"the package's {problem.op}"
    except BadInput:
        if b"\ndef reference(" not in source:
            raise
        return b"", "the file's own, for these options"


def _verdict(file: str, outcome: Outcome, reference: str) -> KernelVerdict:
    """Return the document of a check; raises `MissingTool` where the machine lacks what it needs."""
    answer = outcome.result
    last = (outcome.printed.strip().splitlines() or [""])[-1]
    ending = f"{outcome.outcome}: {last[:200]}"
    if isinstance(answer, Check):
        passed = outcome.outcome == "ok" and answer.passed
        reason = "" if passed else answer.build_error or answer.problem or ending
        return VerifiedKernel(file, passed, outcome.outcome, reason, answer, reference)
    unable = answer if isinstance(answer, Unable) else Unable()
    if unable.missing is not None:
        fix = "run on a GPU, or with --device cpu and TRITON_INTERPRET=1"
        raise MissingTool(unable.missing, fix=fix, code="KB122")
    reason = unable.unavailable or ending
    return UncheckedKernel(file, outcome.outcome, reason, reference, unable.unavailable, unable.oom)

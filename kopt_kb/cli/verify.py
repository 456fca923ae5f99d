"""Check a kernel file against its float64 reference in a child process, on fresh inputs, into poisoned memory.

kb verify kernel kernels/rms_norm.py --op rms_norm --shape 8192x4096 --dtype bf16
kb verify record rms.record                 replay what kb record wrote; the recorded Python runs nowhere
kb verify source kernels/rms_norm.py        library calls, caches, dead kernels; nothing is run
"""

from __future__ import annotations

import argparse
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

from kopt_kb.cli.output import add_common, print_json
from kopt_kb.cli.problem_arguments import add_problem
from kopt_kb.errors import BadInput, ExitCode, MissingTool
from kopt_kb.files import read_input
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.shapes import format_shape
from kopt_kb.runners.candidate.answers import Check, Unable
from kopt_kb.runners.candidate.job import Outcome
from kopt_kb.wire import Wire, inside

__all__ = ["KernelVerdict", "add_arguments", "run"]


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    kernel = actions.add_parser("kernel", help="compare with the float64 reference", allow_abbrev=False)
    kernel.add_argument("file", metavar="FILE")
    kernel.add_argument("--op", metavar="OP", help="operation id; default: the literal OP of the file")
    kernel.add_argument("--shape", metavar="MxN", action="append", default=[], help="repeatable")
    kernel.add_argument("--dtype", metavar="TYPE", help="storage type")
    add_problem(kernel)
    kernel.add_argument("--seeds", metavar="N", type=int, default=3, help="fresh inputs of each shape (default 3)")
    kernel.add_argument(
        "--reference", metavar="FILE", help="whose make_inputs and reference judge; default: the package's of that OP"
    )
    _add_inputs(kernel)
    kernel.add_argument("--device", default="cuda", help="cpu for kernels that run there (default cuda)")
    kernel.add_argument("--run-s", metavar="S", type=float, default=300.0, help="seconds the child may take")
    add_common(kernel)
    record = actions.add_parser("record", help="replay a launch record on a GPU", allow_abbrev=False)
    record.add_argument("folder", metavar="DIR", help="what kb record wrote")
    record.add_argument("--checks", metavar="N", type=int, default=3, help="inputs as drawn (default 3)")
    record.add_argument(
        "--reference", metavar="FILE", help="whose make_inputs and reference judge; default: the package's of that OP"
    )
    add_problem(record)
    _add_inputs(record)
    add_common(record)
    source = actions.add_parser("source", help="is the file a kernel of its own", allow_abbrev=False)
    source.add_argument("file", metavar="FILE")
    source.add_argument("--framework", metavar="NAME", default="", help="whose kernel it has to launch (default: any)")
    add_common(source)


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--inputs",
        metavar="NAME",
        action="append",
        default=[],
        help='further inputs by name, "random" for none; repeatable (default: all that the operation declares)',
    )


def run(args: argparse.Namespace) -> int:
    """Run the chosen check; exit 1 when it finds something wrong."""
    if args.action == "record":
        return _record(args)
    source = read_input(args.file)
    return _source(source, args) if args.action == "source" else _kernel(source, args)


def _source(source: bytes, args: argparse.Namespace) -> int:
    from kopt_kb.tuning.lint import LintedFile, lint_source

    findings = lint_source(source, framework=args.framework)
    if args.json:
        print_json(LintedFile(args.file, findings))
    else:
        lines = [f"{args.file}:{finding.line}: {finding.what}" for finding in findings]
        print("\n".join(lines) or f"{args.file}: no findings")
    return ExitCode.FINDING if findings else ExitCode.OK


def _kernel(source: bytes, args: argparse.Namespace) -> int:
    from kopt_kb.kernels.judgement import trials_of
    from kopt_kb.runners.candidate.executor import ChildProcessExecutor
    from kopt_kb.runners.candidate.job import Job, Request, RunLimits
    from kopt_kb.workspace.task import declared_op

    if args.problem:
        problem, judge = _judged_problem(args)
        reference = f"the problem {problem.op}"
    else:
        op = args.op or declared_op(source, Path(args.file))
        lacking = [
            name for name, value in (("--shape", args.shape), ("--dtype", args.dtype), ("--op", op)) if not value
        ]
        if op is None or lacking or args.seeds < 1:
            what = f"missing {', '.join(lacking)}" if lacking else "needs at least one seed"
            raise BadInput(what, where=args.file, fix="give it, or name a problem by --problem", code="KB102")
        problem = Problem.of(op, args.shape, args.dtype)
        judge, reference = _reference(args, op)
    shapes, seeds = map(format_shape, problem.shapes), (secrets.randbelow(2**31) for _ in range(args.seeds))
    trials = tuple(one.name for one in trials_of(problem.op, args.inputs))
    body = Request(problem.op, tuple(shapes), problem.dtype, problem.tolerance, tuple(seeds), trials=trials)
    job = Job("check", source, b"", body, RunLimits(args.run_s), judge)
    verdict = _verdict(args.file, ChildProcessExecutor(args.device).run(job, lambda *_: None), reference)
    if args.json:
        print_json(verdict)
    elif isinstance(verdict, VerifiedKernel) and verdict.passed:
        error = verdict.check.rel_l2_err or 0
        print(f"{args.file}: {verdict.check.checks} checks passed, largest relative error {error:.3g}")
        print(f"  against the float64 reference of {verdict.reference}")
    else:
        print(f"{args.file}: {verdict.reason}")
    return ExitCode.OK if verdict.passed else ExitCode.FINDING


def _judged_problem(args: argparse.Namespace) -> tuple[Problem, bytes]:
    """Return the problem that a candidate is held against, and its reference file."""
    from kopt_kb.cli.problem_arguments import given_problem

    if args.op or args.reference or args.seeds < 1:
        what = "--op or --reference with --problem" if args.seeds > 0 else "needs at least one seed"
        raise BadInput(what, where="kb verify", fix="the problem says what it computes", code="KB103")
    problem, reference = given_problem(args.problem, args.dtype, args.shape)
    if problem.own is not None and problem.own.results > 1:
        what = f"{problem.op} has {problem.own.results} results, and a child process gives one"
        raise BadInput(what, where=args.problem, fix="kb record it, then kb verify record", code="KB103")
    return problem, reference


def _record(args: argparse.Namespace) -> int:
    from kopt_kb.cli.problem_arguments import given_problem, reference_path
    from kopt_kb.runners.records import packaged_reference

    if args.checks < 1:
        raise BadInput("needs at least one check", where="--checks", fix="give 1 or more", code="KB102")
    folder = Path(args.folder)
    if args.problem:
        if args.reference:
            raise BadInput("--reference and --problem", where="kb verify", fix="give one of them", code="KB103")
        with reference_path(given_problem(args.problem)[1]) as path:
            return _replayed(args, folder, path)
    return _replayed(args, folder, Path(args.reference) if args.reference else packaged_reference(folder))


def _replayed(args: argparse.Namespace, folder: Path, reference: Path) -> int:
    from kopt_kb.runners.records import replay_record

    replayed = replay_record(folder, reference, checks=args.checks, inputs=args.inputs)
    if args.json:
        print_json(replayed)
    elif replayed.passed:
        print(f"{args.folder}: {replayed.checks} replays passed, largest relative error {replayed.rel_l2_err or 0:.3g}")
        print(f"  of {replayed.label}, against the float64 reference of {reference.name}; trust: {replayed.trust}")
        names = dict.fromkeys(one.inputs for one in replayed.tried if not one.skipped)
        print(f"  inputs: {', '.join(names)}")
    else:
        print(f"{args.folder}: {replayed.problem}")
        print(f"  inputs made from seed {replayed.tried[-1].seed}; {len(replayed.tried) - 1} replays before it passed")
    return ExitCode.OK if replayed.passed else ExitCode.FINDING


def _reference(args: argparse.Namespace, op: str) -> tuple[bytes, str]:
    """Return the file that judges and how it is named: as given, else the package's, else the kernel's own."""
    from kopt_kb.tuning.proposers import packaged_kernel

    if args.reference:
        return read_input(args.reference), str(args.reference)
    found = packaged_kernel(op)
    return (found, f"the package's {op}") if found is not None else (b"", "the file's own")


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

"""Check a kernel file against its float64 reference, on fresh inputs, into poisoned memory.

kb verify kernel kernels/rms_norm.py --op rms_norm --shape 8192x4096 --dtype bf16
kb verify record rms.record                 replay what kb record wrote; the recorded Python runs nowhere
kb verify source kernels/rms_norm.py        library calls, caches, dead kernels; nothing is run
"""

from __future__ import annotations

import argparse
from pathlib import Path

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.files import read_input
from kopt_kb.cli.kit.named_kernel import kernel_file
from kopt_kb.cli.kit.output import add_common, print_json
from kopt_kb.cli.kit.parser import add_sub_commands
from kopt_kb.cli.kit.problem_arguments import add_problem, given_problem, reference_path
from kopt_kb.cli.launch.verify_kernel import run_kernel
from kopt_kb.cli.tune.judge import JUDGES
from kopt_kb.tuning.lint import LintedFile, lint_source

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    kernel = actions.add_parser("kernel", help="compare with the float64 reference", allow_abbrev=False)
    kernel.add_argument("file", metavar="FILE", type=kernel_file)
    kernel.add_argument("--op", metavar="OP", help="operation id; default: the literal OP of the file")
    kernel.add_argument("--shape", metavar="MxN", action="append", default=[], help="repeatable")
    kernel.add_argument("--dtype", metavar="TYPE", help="storage type")
    add_problem(kernel)
    kernel.add_argument("--seeds", metavar="N", type=int, default=3, help="fresh inputs of each shape (default 3)")
    kernel.add_argument(
        "--reference", metavar="FILE", help="whose make_inputs and reference judge; default: the package's of that OP"
    )
    _add_inputs(kernel)
    kernel.add_argument(
        "--judge",
        choices=JUDGES,
        help="replay of its launches, or a child that runs it (default: replay where it can be)",
    )
    kernel.add_argument("--platform", metavar="NAME", help="product to record for (default: the GPU that is here)")
    kernel.add_argument("--wiki", metavar="DIR", action="append", default=[], help="wiki folder; repeatable")
    kernel.add_argument("--device", default="cuda", help="cpu for kernels that run there (default cuda)")
    kernel.add_argument("--run-s", metavar="S", type=float, default=300.0, help="seconds the child may take")
    add_common(kernel)
    record = actions.add_parser("record", help="replay a launch record on a GPU", allow_abbrev=False)
    record.add_argument("folder", metavar="DIR", help="what kb record wrote")
    record.add_argument(
        "--seeds", "--checks", dest="checks", metavar="N", type=int, default=3, help="fresh inputs (default 3)"
    )
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
    add_sub_commands(actions, "verify")


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
    if args.added is not None:
        return int(args.added(args))
    if args.action == "record":
        return _record(args)
    source = read_input(args.file)
    if args.action == "source":
        return _source(source, args)

    return run_kernel(source, args)


def _source(source: bytes, args: argparse.Namespace) -> int:
    findings = lint_source(source, framework=args.framework)
    if args.json:
        print_json(LintedFile(args.file, findings))
    else:
        lines = [f"{args.file}:{finding.line}: {finding.what}" for finding in findings]
        print("\n".join(lines) or f"{args.file}: no findings")
    return ExitCode.FINDING if findings else ExitCode.OK


def _record(args: argparse.Namespace) -> int:
    from kopt_kb.launch.judge.records import packaged_reference

    if args.checks < 1:
        raise BadInput("needs at least one check", where="--seeds", fix="give 1 or more", code="KB102")
    folder = Path(args.folder)
    if args.problem:
        if args.reference:
            raise BadInput("--reference and --problem", where="kb verify", fix="give one of them", code="KB103")
        with reference_path(given_problem(args.problem)[1]) as path:
            return _replayed(args, folder, path)
    return _replayed(args, folder, Path(args.reference) if args.reference else packaged_reference(folder))


def _replayed(args: argparse.Namespace, folder: Path, reference: Path) -> int:
    from kopt_kb.launch.judge.records import replay_record

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
        if replayed.tried:
            last = replayed.tried[-1]
            print(f"  inputs {last.inputs} of seed {last.seed}; {len(replayed.tried) - 1} replays before it passed")
    return ExitCode.OK if replayed.passed else ExitCode.FINDING

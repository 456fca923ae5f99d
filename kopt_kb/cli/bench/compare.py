"""`kb bench compare`: are kernels slower than they were; for automation, with one exit code."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import check_new, write_new
from kopt_kb.base.sarif import SarifLevel, SarifResult, sarif_run
from kopt_kb.base.wire import plain
from kopt_kb.cli.bench.cases import read_cases
from kopt_kb.cli.kit.case_lines import CaseLine, add_lines, lines_of
from kopt_kb.cli.kit.compared import CODES, change_of, comparison_text
from kopt_kb.cli.kit.output import add_common, open_registry
from kopt_kb.cli.kit.terminal import announce
from kopt_kb.launch.counts.device_facts import device_facts
from kopt_kb.launch.judge.regression import MOST_FLOOR
from kopt_kb.launch.judge.revisions import ComparedCase, ComparisonPlan, RunComparison, compare_revisions
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.launch.judge.sides import RevisionSide, sides
from kopt_kb.wiki.version import data_version
from kopt_kb.wiki.wiki import Wiki

__all__ = ["add_action", "run_action"]

_FORMS = {".json": "json", ".md": "markdown", ".sarif": "sarif", ".txt": "text"}
_LEAST_PCT = 200 * MOST_FLOOR
_LEAST_S, _MOST_S = 5.0, 3600.0


def add_action(parser: argparse.ArgumentParser) -> None:
    """Declare the action's arguments."""
    parser.add_argument("base", metavar="BASE", help="kernel file, folder, git revision, interpreter, or tuned table")
    parser.add_argument("head", metavar="HEAD", help="another of the same kind")
    add_lines(parser)
    parser.add_argument("--shape", metavar="MxN", action="append", default=[], help="of two kernel files; repeatable")
    parser.add_argument("--dtype", metavar="TYPE", help="storage type of two kernel files")
    parser.add_argument("--config", metavar="NAME=VALUE", action="append", default=[], help="of two kernel files")
    parser.add_argument("--platform", metavar="NAME", required=True, help="product that kernels are recorded for")
    parser.add_argument(
        "--reference", metavar="FILE", action="append", default=[],
        help="with make_inputs, reference and OP, for an operation that is not packaged; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--regression", metavar="PCT", type=float, default=2.0, help="more time that is looked for (default 2)"
    )
    parser.add_argument(
        "--seconds", metavar="S", type=float, default=60.0, help="most seconds a kernel is timed (default 60)"
    )
    parser.add_argument(
        "--format", choices=("text", "table", "json", "markdown", "sarif"), default="text",
        help="markdown: for a pull request; sarif: for code hosts",
    )  # fmt: skip
    parser.add_argument(
        "--out", metavar="FILE", action="append", default=[],
        help="also write the result there, in the form that .json, .md, .sarif or .txt says; repeatable",
    )  # fmt: skip
    parser.add_argument("--wiki", metavar="DIR", action="append", default=[], help="wiki folder; repeatable")
    add_common(parser, has_format=True)


def run_action(args: argparse.Namespace) -> int:
    """Compare, and print what was seen; exit 0 without a regression, 1 with one, 4 where that is undecided."""
    if not _LEAST_PCT <= args.regression < 1000:
        fix = f"{_LEAST_PCT:g} or more: floors of half a percent hide less"
        raise BadInput(f"{args.regression:g} is no regression in percent", where="--regression", fix=fix, code="KB102")
    if not _LEAST_S <= args.seconds <= _MOST_S:
        fix = f"from {_LEAST_S:g} to {_MOST_S:g}"
        raise BadInput(f"{args.seconds:g} s is no time for a kernel", where="--seconds", fix=fix, code="KB102")
    if strange := [one for one in args.out if Path(one).suffix not in _FORMS]:
        raise BadInput("its name says no form", where=strange[0], fix=f"end it in {', '.join(_FORMS)}", code="KB102")
    for one in args.out:
        check_new(one)
    registry = open_registry(args)
    platform = registry.platform(args.platform)
    target = RecordTarget(platform.identity.target, platform.identity.platform, device_facts(platform))
    with sides(args.base, args.head) as (base, head):
        plan = ComparisonPlan(
            target, tuple(map(Path, args.reference)), math.log1p(args.regression / 100), args.seconds, tell=announce
        )
        found = compare_revisions(read_cases(base, head, _lines(args, base)), (args.base, args.head), plan)
    for file in args.out:
        write_new(file, _in_form(found, _FORMS[Path(file).suffix], registry.wikis).encode())
    print(_in_form(found, "json" if args.json else args.format, registry.wikis), end="")
    return CODES[found.verdict]


def _in_form(found: RunComparison, form: str, wikis: Sequence[Wiki]) -> str:
    """Return a run in a form; as text where it is none of the others."""
    data = data_version(wikis)
    if form == "sarif":
        results = [_result(one) for one in found.cases if _level(one) is not None]
        return json.dumps(sarif_run("kb bench compare", results, data.to_json()), indent=2, default=plain) + "\n"
    if form == "json":
        return json.dumps({**found.to_json(), "data": data.to_json()}, indent=2, default=plain) + "\n"
    return comparison_text(found, markdown=form == "markdown") + "\n"


def _lines(args: argparse.Namespace, base: RevisionSide) -> list[CaseLine]:
    lines = lines_of(args.case, args.cases)
    if base.kind != "file":
        if args.shape or args.dtype or args.config:
            fix = "give --case 'FILE SHAPE DTYPE [NAME=VALUE ...]'"
            raise BadInput(f"--shape, --dtype and --config are of two files, not of a {base.kind}", fix=fix,
                           where="kb bench compare", code="KB103")  # fmt: skip
        return lines
    if lines:
        fix = "give --shape and --dtype"
        raise BadInput("--case is of folders, compilers and tables", where="--case", fix=fix, code="KB103")
    if not args.shape or not args.dtype:
        fix = "such as --shape 8192x4096 --dtype bf16"
        raise BadInput("missing --shape or --dtype", where=args.head, fix=fix, code="KB102")
    return [CaseLine(args.head, shape, args.dtype, tuple(args.config), "--shape") for shape in args.shape]


def _level(case: ComparedCase) -> SarifLevel | None:
    """Return how bad a case is; None where there is nothing to say."""
    if not case.compared or case.kernel.verdict in {"equal", "no_regression"}:
        return None
    return "warning" if case.kernel.verdict == "undecided" else "error"


def _result(case: ComparedCase) -> SarifResult:
    verdict = case.kernel.verdict
    message = f"{case.name} {case.shape} {case.dtype}: {verdict}, {change_of(case.kernel)} {case.kernel.reason}"
    return SarifResult(f"kernel-{verdict}", f"a kernel is {verdict}", _level(case) or "note", message, case.file)

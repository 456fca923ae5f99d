r"""Run a folder of problems as one suite: each to a checked, timed baseline, one table of all.

kb suite KernelBench/level1 --platform H100_SXM --kernels answers --out suite
kb suite problems --platform H100_SXM --out suite --simulate     nothing is measured
kb suite KernelBench/level1 --platform H100_SXM --out suite      no candidates: targets of each problem
kb suite KernelBench --platform H100_SXM --bounds bounds.md      nothing is run: a time that no answer can beat, each

Candidates are files called as their problem (.py, or .cu with a header), in --kernels, else kernel.py, kernel.cu or a
solution beside a definition. Results go
to suite.json, which holds all of a product's that the folder has; --results also writes the forms of KernelBench,
SOL-ExecBench and FlashInfer-Bench. A suite that is run again goes on where it stood; several may share a folder, at
once too. A problem or candidate that was edited, or another product, is taken anew.

--bounds takes problems with a class Model (KernelBench's form). What is known of them is kept in the cache by content
and by torch's version: the first run takes minutes, every further product seconds.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.cli.kit.columns import legend
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_json, table
from kopt_kb.packs.problem_sets.bounds.folder import bounds_of
from kopt_kb.packs.problem_sets.suite import SuiteOptions, run_suite
from kopt_kb.packs.problem_sets.suite_results import read_baselines, write_results
from kopt_kb.packs.problem_sets.suite_rows import Suite
from kopt_kb.quantity.readable import duration, percent

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("folder", metavar="DIR", help="folder with problems in any form (docs/problems.md)")
    parser.add_argument("--platform", metavar="PLATFORM", required=True, help="exact product")
    parser.add_argument("--out", metavar="DIR", help="folder of workspaces and results")
    text = "write bounds as .json, .csv or .md and run nothing; repeatable"
    parser.add_argument("--bounds", metavar="FILE", action="append", default=[], help=text)
    parser.add_argument("--kernels", metavar="DIR", help="candidates, each called as its problem")
    parser.add_argument("--framework", metavar="NAME", default="", help="language of the candidates (default: as seen)")
    parser.add_argument("--only", metavar="TEXT", action="append", default=[], help="part of a path; repeatable")
    parser.add_argument("--shapes", metavar="N", type=int, default=0, help="first shapes of each problem (default all)")
    parser.add_argument("--budget-s", metavar="S", type=float, default=0.0, help="begin no problem after so long")
    parser.add_argument("--problem-s", metavar="S", type=float, default=900.0, help="seconds of one problem")
    parser.add_argument("--judge", choices=("replay", "child"), help="as for kb tune run")
    parser.add_argument("--simulate", action="store_true", help="times from a made-up model; every record says so")
    parser.add_argument("--baselines", metavar="FILE", help="measured times of references, for scores")
    parser.add_argument("--results", action="store_true", help="also write the benches' own forms")
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Run the suite; exit 1 when a candidate is wrong or nothing was judged."""
    folder = Path(args.folder)
    if not folder.is_dir():
        raise BadInput("there is no such folder", where=args.folder, fix="name a folder of problems", code="KB110")
    if args.bounds:
        return _bounds(args, folder)
    if not args.out:
        fix = "name a folder with --out, or a table with --bounds"
        raise BadInput("--out is missing", where="kb suite", fix=fix, code="KB103")
    words = (*(("--judge", args.judge) if args.judge else ()), *(("--simulate",) if args.simulate else ()))
    options = SuiteOptions(
        platform=args.platform,
        out=Path(args.out),
        kernels=Path(args.kernels) if args.kernels else None,
        framework=args.framework,
        words=words,
        wikis=tuple(Path(one) for one in args.wiki),
        shapes=max(args.shapes, 0),
        seconds=args.budget_s,
        run_s=args.problem_s,
        names=tuple(args.only),
    )
    suite = run_suite(folder, options, open_registry(args), _say)
    written = _results(args, suite, options.out)
    if args.json:
        print_json(suite, args.wiki)
    else:
        print(_render(suite))
        print("\n".join(f"wrote {one}" for one in (options.out / "suite.json", *written)))
    judged = [one for one in suite.rows if one.verdict != "no kernel"]
    return ExitCode.FINDING if any(one.verdict != "correct" for one in judged) or suite.left_out else ExitCode.OK


def _bounds(args: argparse.Namespace, folder: Path) -> int:
    """Write tables of bounds; exit 1 where a problem has none."""
    files = [Path(one) for one in args.bounds]
    found = bounds_of(folder, open_registry(args).platform(args.platform), files, tuple(args.only), _say)
    refused = [one for one in found.rows if one.kind == "refused"]
    if args.json:
        print_json(found, args.wiki)
    else:
        counts = Counter(one.kind for one in found.rows)
        print(f"{found.platform}: {len(found.rows)} problems; bound by " + ", ".join(
            f"{kind}: {count}" for kind, count in sorted(counts.items())))  # fmt: skip
        print("\n".join([*(f"{one.problem}: {one.reason}" for one in refused), *(f"wrote {one}" for one in files)]))
    return ExitCode.FINDING if refused else ExitCode.OK


def _micros(seconds: float | None) -> str:
    return "" if seconds is None else duration(seconds)


def _say(text: str) -> None:
    print(f"kb: {text}", file=sys.stderr, flush=True)


def _results(args: argparse.Namespace, suite: Suite, out: Path) -> list[Path]:
    if not args.results:
        return []

    baselines = read_baselines(Path(args.baselines)) if args.baselines else {}
    return write_results(suite, out, baselines)


def _render(suite: Suite) -> str:
    rows = [("problem", "shape", "verdict", "time", "least", "of roof", "roof", "work")]
    for one in suite.rows:
        share = "" if one.share is None else percent(one.share)
        row = (
            one.problem,
            one.shape,
            one.verdict,
            _micros(one.median_s),
            _micros(one.least_s),
            share,
            one.roof,
            one.work,
        )
        rows.append(row)
    reasons = dict.fromkeys(f"{one.problem}: {one.reason}" for one in suite.rows if one.reason)
    lines = [
        f"{suite.platform}: {suite.correct} of {suite.problems} problems correct on every shape",
        "",
        table(rows, right=(3, 4, 5)),
        legend(rows[0], "verdict"),
    ]
    lines += ["", *reasons] if reasons else []
    lines += (
        ["", "times are of a made-up model: nothing was measured"] if any(one.simulated for one in suite.rows) else []
    )
    lines += [f"not begun for lack of time: {one}" for one in suite.left_out]
    return "\n".join(lines)

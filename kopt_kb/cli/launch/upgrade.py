r"""Compare kernels under two versions of Triton without a GPU: what the newer one loses, and what gives it back.

kb upgrade kernels/matmul.py kernels/rms_norm.py --shape 4096x4096x4096 --shape 8192x4096 --dtype bf16 \
    --to ~/triton-3.9/bin/python --platform H100_SXM

Each interpreter brings its own Triton; what else it lacks is taken from this one. New spills, bulk copies and matrix
instructions that are gone, fewer resident warps and narrower accesses are losses; where a file declares a tuning space,
the configuration beside its own that loses nothing is named. Exit 1 when something was lost, or where a file compiles
under neither version. Several files take one --shape each, or all the same one.

kb upgrade kernels --cases kernels.txt --to ~/triton-3.9/bin/python --platform H100_SXM --time
kb upgrade 'E=8,N=64,device_name=NVIDIA_H20.json' --case 'moe.py {key}x7168x2048 bf16' --to ... --platform H20

A folder's kernels are named by lines FILE SHAPE DTYPE [NAME=VALUE ...]; of a tuned table each row is a kernel of FILE
with its settings. --time times what a driver can tell apart, as `kb bench compare` does: exit 1 for a regression or a
kernel that no longer compiles, 4 where the times are undecided.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.files import open_input
from kopt_kb.base.wire import Wire, inside
from kopt_kb.cli.kit.case_arguments import config_for
from kopt_kb.cli.kit.case_lines import CaseLine, add_lines, lines_of, rows_of
from kopt_kb.cli.kit.compared import CODES, comparison_text
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_json
from kopt_kb.cli.kit.terminal import announce
from kopt_kb.launch.compile.request import OpCase
from kopt_kb.launch.counts.device_facts import device_facts
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.launch.counts.upgrade import Side, Upgrade, UpgradedKernel, case_label, upgrade
from kopt_kb.launch.judge.revisions import ComparisonPlan, Revision, RevisionCase, RunComparison, compare_revisions
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.problem.shapes import parse_shape
from kopt_kb.problem.tuned_table import read_tuned_table
from kopt_kb.quantity.readable import rounded
from kopt_kb.wiki.registry import Platform

__all__ = ["TimedUpgrade", "add_arguments", "run"]


@dataclass(frozen=True, slots=True)
class TimedUpgrade(Wire):
    """Kernels under two compilers, and the times of those that changed; `timing` is None where nothing was timed."""

    WIRE: ClassVar = (*inside("upgrade", Upgrade), "timing?")
    upgrade: Upgrade
    timing: RunComparison | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "files", metavar="FILE", nargs="+",
        help="files with static_cases(shape, dtype, config); or one folder or tuned table, with --case",
    )  # fmt: skip
    add_lines(parser)
    parser.add_argument(
        "--shape", metavar="MxN", action="append", default=[], help="one for all files, or one for each"
    )
    parser.add_argument("--dtype", metavar="TYPE", help="storage type")
    parser.add_argument("--config", metavar="NAME=VALUE", action="append", default=[], help="value of the tuning space")
    parser.add_argument(
        "--from", metavar="PYTHON", dest="old", default="", help="interpreter of the baseline; this one"
    )
    parser.add_argument("--to", metavar="PYTHON", dest="new", help="interpreter whose Triton is judged")
    parser.add_argument("--target", metavar="TARGET", help="target alone, without occupancy")
    parser.add_argument("--platform", metavar="PLATFORM", help="its target, with limits checked and occupancy compared")
    parser.add_argument("--time", action="store_true", help="then time what changed, on this GPU; needs --platform")
    parser.add_argument("--no-repair", action="store_true", help="name no configuration that loses nothing")
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print what was lost; exit 1 when something was, or a kernel could not be compared."""
    if bool(args.target) == bool(args.platform):
        raise BadInput(
            "give one of --platform and --target", where="kb upgrade", fix="such as --platform H100_SXM", code="KB103"
        )
    lines = _lines(args)
    if not args.new:
        raise BadInput("missing --to", fix="the interpreter of an environment with the other Triton", code="KB102")
    if args.time and not args.platform:
        fix = "name the product of this GPU"
        raise BadInput("--time needs --platform", where="kb upgrade", fix=fix, code="KB103")
    platform = open_registry(args).platform(args.platform) if args.platform else None
    target, limits = (platform.identity.target, limits_of(platform)) if platform else (args.target, None)
    old, new = (_interpreter(one, name) for one, name in ((args.old, "--from"), (args.new, "--to")))
    cases = _cases(args, lines)
    found = upgrade(cases, target, old, new, limits=limits, repair=not args.no_repair)
    timing = _timing(found, cases, platform, old, new) if args.time and platform is not None else None
    if args.json:
        print_json(TimedUpgrade(found, timing), args.wiki)
    else:
        print(_render(found), *([comparison_text(timing)] if timing else []), sep="\n")
    if timing is None:
        return ExitCode.OK if found.is_passed else ExitCode.FINDING
    refused = any(one.new.refused for one in found.kernels)
    return ExitCode.FINDING if refused else CODES[timing.verdict]


def _timing(found: Upgrade, cases: Sequence[OpCase], platform: Platform, old: str, new: str) -> RunComparison | None:
    """Return the times of the cases of which a kernel changed; None where none did."""
    changed = {one.case for one in found.kernels if one.is_changed and not one.old.refused and not one.new.refused}
    sides = ((f"Triton {found.old}", old), (f"Triton {found.new}", new))
    timed = []
    for case in cases:
        if case_label(case) in changed:
            file = Path(case.file)
            both = [Revision(label, file, case.config, python) for label, python in sides]
            timed.append(RevisionCase(case_label(case), case.file, case.shape, case.dtype, *both))
    if not timed:
        return None
    identity = platform.identity
    target = RecordTarget(identity.target, identity.platform, device_facts(platform))
    return compare_revisions(timed, (sides[0][0], sides[1][0]), ComparisonPlan(target, tell=announce))


def _interpreter(path: str, option: str) -> str:
    found = shutil.which(path) if path else ""
    if found is None:
        raise BadInput("no such interpreter", where=f"{option} {path}", fix="such as ~/venv/bin/python", code="KB110")
    return found


def _lines(args: argparse.Namespace) -> list[CaseLine]:
    """Return what names the kernels of a folder or table; none where each file has a shape."""
    lines = lines_of(args.case, args.cases)
    if lines and (args.shape or args.dtype or args.config or len(args.files) != 1):
        fix = "give one folder or tuned table with --case, or files with --shape and --dtype"
        raise BadInput("both cases and files with a shape", where="kb upgrade", fix=fix, code="KB103")
    if not lines and Path(args.files[0]).is_dir():
        fix = "such as --case 'softmax.py 8192x4096 bf16', or --cases LIST"
        raise BadInput("nothing says which kernels of the folder", where=args.files[0], fix=fix, code="KB102")
    if not lines and (not args.shape or not args.dtype):
        raise BadInput("missing --shape or --dtype", fix="such as --shape 8192x4096 --dtype bf16", code="KB102")
    return lines


def _cases(args: argparse.Namespace, lines: Sequence[CaseLine]) -> list[OpCase]:
    """Return the cases of files, of a folder's lines, or of a table's rows."""
    if lines:
        first = Path(args.files[0])
        return list(_in_folder(first, lines) if first.is_dir() else _of_table(first, lines))
    shapes = args.shape * len(args.files) if len(args.shape) == 1 else args.shape
    if len(shapes) != len(args.files):
        what = f"{len(shapes)} shapes for {len(args.files)} files"
        raise BadInput(what, where="--shape", fix="give one for all, or one for each", code="KB103")
    for file in args.files:
        open_input(file).close()
    return [
        OpCase(file, parse_shape(shape), args.dtype, config_for(file, args.config))
        for file, shape in zip(args.files, shapes, strict=True)
    ]


def _in_folder(folder: Path, lines: Sequence[CaseLine]) -> Iterator[OpCase]:
    for line in lines:
        file = str(folder / line.file)
        open_input(file).close()
        yield OpCase(file, parse_shape(line.shape), line.dtype, config_for(file, list(line.config)))


def _of_table(path: Path, lines: Sequence[CaseLine]) -> Iterator[OpCase]:
    table = read_tuned_table(path)
    for line in lines:
        open_input(line.file).close()
        for row, shape in rows_of(table, line):
            yield OpCase(line.file, shape, line.dtype, {**config_for(line.file, list(line.config)), **row.settings})


def _render(found: Upgrade) -> str:
    changed = sum(one.is_changed for one in found.kernels)
    lines = [f"Triton {found.old} -> {found.new}, {found.target}: {changed} of {len(found.kernels)} kernels changed"]
    for kernel in found.kernels:
        lines.append(f"{kernel.case} {kernel.name}".rstrip() + f": {_verdict(kernel)}")
        lines += [f"  {name:<6}{_side(side)}" for name, side in (("old", kernel.old), ("new", kernel.new))]
        lines += [f"  {loss.kind.replace('_', ' ')}: {loss.before} -> {loss.after}" for loss in kernel.losses]
        lines += _repair(kernel)
    return "\n".join(lines)


def _verdict(kernel: UpgradedKernel) -> str:
    if not kernel.is_compared:
        return "not compared, it compiles under neither"
    return "lost" if kernel.losses else "nothing lost" if kernel.is_changed else "the same code"


def _repair(kernel: UpgradedKernel) -> list[str]:
    if not kernel.losses:
        return []
    if kernel.repair is None or kernel.repaired is None:
        return ["  no neighbouring configuration loses nothing"]
    words = ", ".join(f"{name}={value}" for name, value in kernel.repair.items())
    return [f"  repaired by {words}", f"        {_side(kernel.repaired)}"]


def _side(side: Side) -> str:
    if side.refused:
        return f"refused: {side.refused}"
    shown = [f"{side.registers} registers", f"{side.spill_bytes or 0} B spilled", f"{side.shared_bytes} B shared"]
    shown += [f"occupancy {rounded(side.occupancy_pct)} %"] if side.occupancy_pct is not None else []
    shown += [f"{side.bulk_copies} bulk copies"] if side.bulk_copies else []
    shown += [f"{count} {family}" for family, count in side.matrix.items()]
    return ", ".join(shown)

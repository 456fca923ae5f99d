r"""Compare kernels under two versions of Triton without a GPU: what the newer one loses, and what gives it back.

kb upgrade kernels/matmul.py kernels/rms_norm.py --shape 4096x4096x4096 --shape 8192x4096 --dtype bf16 \
    --to ~/triton-3.9/bin/python --platform H100_SXM

Each interpreter brings its own Triton; what else it lacks is taken from this one. New spills, bulk copies and matrix
instructions that are gone, fewer resident warps and narrower accesses are losses; where a file declares a tuning space,
the configuration beside its own that loses nothing is named. Exit 1 when something was lost, or where a file compiles
under neither version. Several files take one --shape each, or all the same one.
"""

from __future__ import annotations

import argparse
import shutil

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.files import open_input
from kopt_kb.cli.kit.case_arguments import config_for
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_json
from kopt_kb.launch.compile.request import OpCase
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.launch.counts.upgrade import Side, Upgrade, UpgradedKernel, upgrade
from kopt_kb.problem.shapes import parse_shape
from kopt_kb.quantity.readable import rounded

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="files with static_cases(shape, dtype, config)")
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
    parser.add_argument("--no-repair", action="store_true", help="name no configuration that loses nothing")
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print what was lost; exit 1 when something was, or a kernel could not be compared."""
    if bool(args.target) == bool(args.platform):
        raise BadInput(
            "give one of --platform and --target", where="kb upgrade", fix="such as --platform H100_SXM", code="KB103"
        )
    if not args.shape or not args.dtype:
        raise BadInput("missing --shape or --dtype", fix="such as --shape 8192x4096 --dtype bf16", code="KB102")
    if not args.new:
        raise BadInput("missing --to", fix="the interpreter of an environment with the other Triton", code="KB102")
    platform = open_registry(args).platform(args.platform) if args.platform else None
    target, limits = (platform.identity.target, limits_of(platform)) if platform else (args.target, None)
    old, new = (_interpreter(one, name) for one, name in ((args.old, "--from"), (args.new, "--to")))
    found = upgrade(_cases(args), target, old, new, limits=limits, repair=not args.no_repair)
    if args.json:
        print_json(found, args.wiki)
    else:
        print(_render(found))
    return ExitCode.OK if found.is_passed else ExitCode.FINDING


def _interpreter(path: str, option: str) -> str:
    found = shutil.which(path) if path else ""
    if found is None:
        raise BadInput("no such interpreter", where=f"{option} {path}", fix="such as ~/venv/bin/python", code="KB110")
    return found


def _cases(args: argparse.Namespace) -> list[OpCase]:
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


def _render(found: Upgrade) -> str:
    lines = [f"Triton {found.old} -> {found.new}, {found.target}"]
    for kernel in found.kernels:
        lines.append(f"{kernel.case} {kernel.name}".rstrip() + f": {_verdict(kernel)}")
        lines += [f"  {name:<6}{_side(side)}" for name, side in (("old", kernel.old), ("new", kernel.new))]
        lines += [f"  {loss.kind.replace('_', ' ')}: {loss.before} -> {loss.after}" for loss in kernel.losses]
        lines += _repair(kernel)
    return "\n".join(lines)


def _verdict(kernel: UpgradedKernel) -> str:
    if not kernel.is_compared:
        return "not compared, it compiles under neither"
    return "lost" if kernel.losses else "nothing lost"


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

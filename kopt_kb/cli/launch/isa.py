"""Instruction classes, access widths and resources of machine code, against the ISA targets.

kb isa kernel.cubin
kb isa kernel.sass --kernel rms_norm
"""

from __future__ import annotations

import argparse

from kopt_kb.analysis.ir.machine.model import IsaScan
from kopt_kb.analysis.ir.machine.scan import JudgedScan, JudgedScans
from kopt_kb.analysis.ir.machine.targets import Progress, evaluate_targets
from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.cli.kit.output import add_common, print_json, table
from kopt_kb.launch.counts.isa_file import scan_file
from kopt_kb.quantity.readable import rounded

__all__ = ["add_arguments", "render", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", metavar="FILE", help="SASS, PTX or AMDGCN text, cubin or hsaco")
    parser.add_argument("--kernel", default="", metavar="REGEX", help="only kernels whose symbol matches")
    parser.add_argument(
        "--matrix-product", action="store_true", help="the algorithm multiplies matrices: it must use matrix units"
    )
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Print a scan for each kernel; exit 1 when a target is not met."""
    scans = scan_file(args.file, kernel=args.kernel)
    if not scans:
        raise BadInput(f"no kernel whose symbol matches {args.kernel!r}", where=args.file, code="KB044")
    wanted = True if args.matrix_product else None
    judged = tuple(JudgedScan(scan, tuple(evaluate_targets(scan, matrix_product=wanted))) for scan in scans)
    if args.json:
        print_json(JudgedScans(judged))
    else:
        print("\n\n".join(render(verdict.scan, verdict.targets) for verdict in judged))
    missed = any(target.status == "not_met" for one in judged for target in one.targets)
    return ExitCode.FINDING if missed else ExitCode.OK


def render(scan: IsaScan, progress: tuple[Progress, ...]) -> str:
    """Return a scan as text for people."""
    head = f"{scan.kernel} ({scan.isa}{', ' + scan.target if scan.target else ''}): {scan.instructions} instructions"
    counts = [(name, str(number)) for name, number in (*scan.matrix.items(), *scan.features.items())]
    accesses = [(f"{one.space} {one.kind} {one.width_bits} bit", str(number)) for one, number in scan.accesses.items()]
    goals = [
        (one.status.replace("_", " "), one.target.text, "-" if one.value is None else rounded(one.value), one.detail)
        for one in progress
    ]
    parts = [
        head,
        table([*counts, *accesses], indent=2, right=(1,), is_headed=False),
        table(goals, indent=2, right=(2,), is_headed=False),
    ]
    return "\n".join(filter(None, parts))

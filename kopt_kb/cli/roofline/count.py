r"""Count the work of kernels from their IR: operations by type and engine, bytes, intensity by level.

kb count kernels/rms_norm.py --shape 8192x4096 --dtype bf16
kb count my.py --kernel add --arg 'fp32[1000003]' --arg 'fp32[1000003]' --arg 'fp32[1000003]' --arg 1000003 \
    --constexpr BLOCK=1024 --grid 977
kb count norm.record
"""

from __future__ import annotations

import argparse
from dataclasses import fields

from kopt_kb.analysis.ir.triton.result import Amount
from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.cli.kit.case_arguments import ALL, add_case, cases_from, facts_for, grid_from
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values, table
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.counts.counting import CountedKernel, CountedKernels, count_case, count_compilation
from kopt_kb.launch.judge.recorded import Wanted, is_record, recorded
from kopt_kb.quantity.readable import rounded

__all__ = ["add_arguments", "run"]

_TARGET = "sm_90"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_case(parser)
    parser.add_argument("--target", metavar="TARGET", help="target the IR is made for (sm_90, or the record's own)")
    parser.add_argument(
        "--mode",
        choices=["auto", "exact", "shape"],
        default="auto",
        help="follow addresses, or shapes only (auto: addresses while that takes seconds)",
    )
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print the count of every kernel."""
    grid = grid_from(args)
    if args.autotune == ALL:
        what = "a launch grid follows from its configuration, and one --grid is given"
        fix = "kb record --autotune all records each with its own grid; kb count takes the records"
        raise BadInput(what, where="--autotune all", fix=fix, code="KB103")
    if is_record(args.file):
        wanted = Wanted(args.target or "", "", facts_for(args, None, args.target) if args.target else None)
        found = [count_compilation(one, grid, args.mode) for one in recorded(args.file, wanted)]
    else:
        found = _counted(args, grid)
    if args.json:
        print_values(CountedKernels(tuple(found)), open_registry(args).wikis)
    else:
        print("\n\n".join(_render(one) for one in found))
    return ExitCode.OK


def _counted(args: argparse.Namespace, grid: tuple[int, ...] | None) -> list[CountedKernel]:
    target = args.target or _TARGET
    facts = facts_for(args, None, target)
    with CompilePool() as pool:
        return [
            one
            for case in cases_from(args)
            for one in count_case(case, target, grid=grid, mode=args.mode, pool=pool, facts=facts)
        ]


def _cells(amount: Amount) -> tuple[str, str]:
    exactness = f"{amount.exactness} bound" if amount.exactness in {"lower", "upper"} else amount.exactness
    return ("unknown" if amount.value is None else f"{amount.value:,}", exactness)


def _render(one: CountedKernel) -> str:
    kernel = one.kernel
    rows = [(f"useful operations, {f.dtype} {f.engine}", *_cells(f.amount)) for f in kernel.useful]
    rows += [(f"executed operations, {f.dtype} {f.engine}", *_cells(f.amount)) for f in kernel.executed]
    rows += [(f"special functions, {s.function} {s.dtype}", *_cells(s.useful)) for s in kernel.special]
    for direction, moved in (("read", kernel.read), ("written", kernel.written)):
        for name in ("compulsory", "requested", "sectors"):
            what = "32-byte sectors" if name == "sectors" else f"{name} bytes"
            rows.append((f"{what} {direction}", *_cells(getattr(moved, name))))
    grid = "x".join(map(str, one.compilation.grid)) or "as given"
    lines = [f"{one.compilation.name}, grid {grid}, {one.mode} mode"]
    lines.append(table(rows, indent=2, right=(1,), is_headed=False))
    for field in fields(kernel.intensity):
        value = getattr(kernel.intensity, field.name).value
        shown = "unknown" if value is None else f"{rounded(value)} FLOP/B"
        lines.append(f"  {field.name.replace('_', ' ')}: {shown}")
    lines += [f"  {told}" for runs in one.runs_as if (told := runs.told(one.compilation.target))]
    lines += [f"  IR line {note.line}: {note.text}" for note in kernel.notes]
    return "\n".join(lines)

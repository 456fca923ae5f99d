"""Compile Triton or CUDA C++ kernels for a target without a GPU: registers, spills, shared memory, occupancy.

kb compile kernels/rms_norm.py --target sm_90 --shape 8192x4096 --dtype bf16
kb compile kernels/cuda/rms_norm.cu --platform H100_SXM --shape 8192x4096 --dtype bf16
kb compile mine.cu --target sm_90 --kernel 'scale<float, 4>' --option num_warps=8
kb compile kernels/matmul.py --platform MI300X --shape 4096x4096x4096 --dtype bf16
kb compile norm.record --platform MI300X
kb compile tuned.py --kernel mm --args mm.args --platform H100_SXM --autotune all

A launch record (kb record) is taken as FILE too: its launches need no arguments, and for another target than its own
the launcher is recorded again. --autotune all compiles each of the kernel's own configurations and says which a
launch takes on the product, and of the others the limit with its source; exit 1 when none is left.
"""

from __future__ import annotations

import argparse
import os

from kopt_kb.analysis.occupancy.limits import Limits
from kopt_kb.analysis.occupancy.occupancy import Occupancy, occupancy
from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.cli.kit.case_arguments import ALL, add_case, cases_from, facts_for
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values, table
from kopt_kb.cli.kit.own_configs import render_configs
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.remarks import CompilerRemark
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.launch.counts.own_configs import OwnConfigs, judged_cases, own_cases
from kopt_kb.launch.counts.static_profile import (
    CompiledKernel,
    CompiledKernels,
    FittedKernel,
    check_shared_memory,
    compile_kernel,
    profile_of,
)
from kopt_kb.launch.judge.recorded import Wanted, is_record, recorded
from kopt_kb.quantity.readable import rounded
from kopt_kb.wiki.registry import Platform

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_case(parser)
    parser.add_argument("--target", metavar="TARGET", help="sm_80, sm_90, sm_100, gfx942, gfx950, gfx1201, …")
    parser.add_argument("--platform", metavar="PLATFORM", help="its target, with limits checked and occupancy computed")
    parser.add_argument(
        "--run-s",
        "--time-limit",
        dest="time_limit",
        metavar="S",
        type=float,
        default=60.0,
        help="seconds a configuration may take",
    )
    parser.add_argument(
        "--memory-bytes",
        "--memory-limit",
        dest="memory_limit",
        metavar="N",
        type=int,
        default=0,
        help="memory a configuration may take",
    )
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print the static profile of every kernel."""
    if not (args.target or args.platform or is_record(args.file)):
        raise BadInput(
            "missing --target or --platform", fix="for example --target sm_90, or --platform H100_SXM", code="KB102"
        )
    platform = open_registry(args).platform(args.platform) if args.platform else None
    if platform is not None and args.target not in {None, platform.identity.target}:
        raise BadInput(
            f"{platform.id} is {platform.identity.target}, not {args.target}", fix="leave --target out", code="KB103"
        )
    target = args.target or (platform.identity.target if platform else "")
    limits = limits_of(platform) if platform else None
    if args.autotune == ALL:
        return _own(args, target, platform, limits)
    if is_record(args.file):
        found = _recorded(args, target, platform, limits)
    else:
        facts = facts_for(args, platform, target)
        with CompilePool(time_limit_s=args.time_limit, memory_limit_bytes=args.memory_limit) as pool:
            found = [
                one
                for case in cases_from(args)
                for one in compile_kernel(case, target, limits=limits, pool=pool, facts=facts)
            ]
    fitted = [
        FittedKernel(one, occupancy(one.resources, limits, allow_unknown=True) if limits and one.num_warps else None)
        for one in found
    ]
    if args.json:
        print_values(CompiledKernels(tuple(fitted)), open_registry(args).wikis)
    else:
        for kernel in fitted:
            print(_render(kernel.compiled, kernel.occupancy))
    return ExitCode.OK


def _own(args: argparse.Namespace, target: str, platform: Platform | None, limits: Limits | None) -> int:
    """Print the verdict on each configuration that the kernel chooses from; exit 1 when none is left."""
    if is_record(args.file):
        what, fix = "a record holds the configuration it was made with", "kb record --autotune all records all of them"
        raise BadInput(what, where=args.file, fix=fix, code="KB103")
    (case,) = cases_from(args)
    facts, workers = facts_for(args, platform, target), len(os.sched_getaffinity(0))
    with CompilePool(workers, time_limit_s=args.time_limit, memory_limit_bytes=args.memory_limit) as pool:
        cases = own_cases(case, target, pool, facts)
        judged = judged_cases(cases, target, limits, pool, facts)
    configs = OwnConfigs(target, platform.identity.platform if platform else "", tuple(judged))
    if args.json:
        print_values(configs, open_registry(args).wikis)
    else:
        print(render_configs(configs))
    return ExitCode.OK if configs.kept else ExitCode.FINDING


def _recorded(
    args: argparse.Namespace, target: str, platform: Platform | None, limits: Limits | None
) -> list[CompiledKernel]:
    facts = facts_for(args, platform, target) if target else None
    wanted = Wanted(target, platform.identity.platform if platform else "", facts)
    found = [profile_of(one) for one in recorded(args.file, wanted, disassemble=True)]
    if limits is not None:
        check_shared_memory(found, limits)
    return found


def _remark(remark: CompilerRemark) -> str:
    place = f"{os.path.basename(remark.file)}:{remark.line}: " if remark.file else ""  # noqa: PTH119 - another machine's path
    shape = f" {'x'.join(map(str, remark.shape))}" if remark.shape else ""
    return f"{place}{remark.what}{': ' if remark.instruction else ''}{remark.instruction}{shape}"


def _render(kernel: CompiledKernel, fitting: Occupancy | None) -> str:
    rows = [
        ("registers", str(kernel.assembler.registers)),
        ("spills", str(kernel.spill_bytes)),
        ("shared_bytes", str(kernel.shared_bytes)),
        ("stack_bytes", str(kernel.assembler.stack_bytes)),
        ("num_warps", str(kernel.num_warps) if kernel.num_warps else "unsaid: give --option num_warps=N"),
        ("num_stages", str(kernel.num_stages)),
    ]
    if fitting is not None:
        by = ", ".join(fitting.limiters)
        rows.append(("occupancy", f"{rounded(fitting.occupancy_pct)} % ({fitting.blocks_per_sm} blocks), by {by}"))
    rows += [(f"  {name}", str(count)) for name, count in kernel.scan.matrix.items()]
    rows += [(f"  {a.space} {a.kind} {a.width_bits} bit", str(count)) for a, count in kernel.scan.accesses.items()]
    rows += [("warning", str(warning.text)) for warning in kernel.warnings]
    rows += [("remark", _remark(one)) for one in kernel.compilation.remarks]
    versions = ", ".join(f"{name} {text}" for name, text in kernel.compilation.versions.items())
    return f"{kernel.name} on {kernel.target} ({versions})\n{table(rows, indent=2, is_headed=False)}"

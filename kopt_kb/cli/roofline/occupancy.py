"""Blocks and warps of a kernel that fit on one SM or CU, what limits them, and the next step up.

kb occupancy --platform H100_SXM --threads 256 --registers 128 --shared 98304
kb occupancy --platform MI300X --threads 512 --registers 142 --shared 65536
kb occupancy kernel.cubin --platform H100_SXM --shared 65536
kb occupancy kernel.hsaco --platform MI300X --kernel attention
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import NotRequired, TypedDict

from kopt_kb.analysis.occupancy.limits import TENSOR_MEMORY_COLUMN_BYTES, Limits, Resources
from kopt_kb.analysis.occupancy.occupancy import Occupancy, PlatformOccupancies, PlatformOccupancy, occupancy
from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.files import read_json
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_values
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.quantity.readable import percent

__all__ = ["add_arguments", "render", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="cubin, fat binary or hsaco: registers, static memory and threads are its own",
    )
    parser.add_argument("--platform", required=True, metavar="PLATFORM")
    parser.add_argument("--kernel", default="", metavar="REGEX", help="only kernels of FILE whose symbol matches")
    parser.add_argument(
        "--record", metavar="FILE", help="what `kb compile --json` printed: its kernels instead of the numbers below"
    )
    parser.add_argument("--threads", type=int, metavar="N", help="threads of a block")
    parser.add_argument(
        "--registers", type=int, default=0, metavar="N", help="registers a thread; on AMD architectural VGPRs"
    )
    parser.add_argument("--agprs", type=int, default=0, metavar="N", help="AMD accumulation registers a lane")
    parser.add_argument("--sgprs", type=int, default=0, metavar="N", help="AMD scalar registers a wave")
    parser.add_argument("--shared", type=int, default=0, metavar="BYTES", help="shared memory or LDS of a block")
    parser.add_argument("--cluster", type=int, default=1, metavar="BLOCKS", help="blocks of a cluster")
    parser.add_argument("--tensor-memory", type=int, default=0, metavar="BYTES", help="tensor memory of a block")
    parser.add_argument(
        "--allow-unknown", action="store_true", help="leave UNKNOWN limits out: the result is an upper bound"
    )
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print the occupancy; exit 1 when the kernel can't be launched."""
    registry = open_registry(args)
    platform = registry.platform(args.platform)
    limits = limits_of(platform)
    if args.cluster != 1 and (args.file or args.record or limits.vendor != "nvidia" or args.cluster < 1):
        fix = "leave --cluster out, or give the block of an NVIDIA kernel with --threads"
        raise BadInput(f"--cluster {args.cluster} is not used here", where="kb occupancy", fix=fix, code="KB103")
    if args.file:
        uses = _of_file(args, platform.identity.target)
    else:
        uses = _recorded(args.record, limits) if args.record else {"": _given(args)}
    occupancies = {name: occupancy(use, limits, allow_unknown=args.allow_unknown) for name, use in uses.items()}
    if args.json:
        bodies = tuple(PlatformOccupancy(platform.id, name or None, one) for name, one in occupancies.items())
        print_values(PlatformOccupancies(bodies) if args.record or args.file else bodies[0], registry.wikis)
    else:
        print("\n".join(f"{platform.id} {name}".rstrip() + f"\n{render(one)}" for name, one in occupancies.items()))
    return ExitCode.OK if all(one.blocks_per_sm for one in occupancies.values()) else ExitCode.FINDING


def _of_file(args: argparse.Namespace, target: str) -> Mapping[str, Resources]:
    """Return the resources of the kernels of a machine code file."""
    from kopt_kb.launch.counts.code_file import code_resources
    from kopt_kb.launch.counts.isa_file import refuse_source

    refuse_source(args.file)
    taken = {"--registers": args.registers, "--agprs": args.agprs, "--sgprs": args.sgprs, "--record": args.record}
    if both := [name for name, value in taken.items() if value]:
        raise BadInput(f"{both[0]} with a file", where=args.file, fix="leave one of them out", code="KB103")
    if min(args.threads or 0, args.shared) < 0:
        raise BadInput("--threads or --shared is negative", where="kb occupancy", code="KB045")
    return code_resources(
        Path(args.file), target, kernel=args.kernel, threads=args.threads or 0, shared_bytes=args.shared
    )


def _given(args: argparse.Namespace) -> Resources:
    if args.kernel:
        raise BadInput("--kernel without a file", where="kb occupancy", fix="name the file first", code="KB103")
    if args.threads is None:
        raise BadInput("missing --threads", fix="the threads of a block, or --record FILE", code="KB102")
    return Resources(
        threads_per_block=args.threads,
        registers_per_thread=args.registers,
        accumulation_registers_per_thread=args.agprs,
        scalar_registers_per_warp=args.sgprs,
        shared_dynamic_bytes=args.shared,
        tensor_memory_bytes=args.tensor_memory,
        blocks_per_cluster=args.cluster,
    )


def _recorded(file: str, limits: Limits) -> dict[str, Resources]:
    """Return the resources of every kernel in a record of `kb compile --json`."""
    try:
        kernels = read_json(file)["kernels"]
        return {one["name"]: _resources(one, limits) for one in kernels}
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"no record of `kb compile --json`: {type(error).__name__} {error}",
            where=file,
            fix="write one with `kb compile … --json`",
            code="KB116",
        ) from error


class _Compiled(TypedDict):
    """What occupancy takes from a record of a compiled kernel."""

    num_warps: int
    registers: int | None
    accumulation_registers: int | None
    scalar_registers: int | None
    shared_bytes: int
    tensor_memory_columns: int
    num_ctas: NotRequired[int]


def _resources(kernel: _Compiled, limits: Limits) -> Resources:
    return Resources(
        threads_per_block=kernel["num_warps"] * (limits.warp_size or 0),
        registers_per_thread=kernel["registers"] or 0,
        accumulation_registers_per_thread=kernel["accumulation_registers"] or 0,
        scalar_registers_per_warp=kernel["scalar_registers"] or 0,
        shared_dynamic_bytes=kernel["shared_bytes"],
        tensor_memory_bytes=kernel["tensor_memory_columns"] * TENSOR_MEMORY_COLUMN_BYTES,
        blocks_per_cluster=max(kernel.get("num_ctas", 1), 1),
    )


def render(fitting: Occupancy) -> str:
    """Return the occupancy as text for people."""
    share = percent(fitting.occupancy_fraction) + (", upper bound" if fitting.exactness != "exact" else "")
    lines = [
        f"  {fitting.blocks_per_sm} block(s), {fitting.warps_per_sm} of {fitting.max_warps_per_sm} warps ({share})"
    ]
    lines += [f"  limited by {', '.join(fitting.limiters)}"]
    lines += [f"  {name} allows {blocks}" for name, blocks in fitting.block_limits.items()]
    if fitting.next_step is not None:
        changes = ", ".join(f"{c.resource} {c.now} -> {c.at_most}" for c in fitting.next_step.changes)
        lines.append(f"  for {fitting.next_step.blocks_per_sm} block(s): {changes}")
    lines += [f"  {text}" for text in fitting.refusals]
    lines += [f"  UNKNOWN and left out: {', '.join(fitting.unknown)}"] if fitting.unknown else []
    return "\n".join([*lines, *(f"  {source}" for source in fitting.sources)])

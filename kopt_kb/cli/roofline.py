"""Intensity, roofs, bound, attainable rate and 90 % target of a piece of work on one product.

kb roofline --platform H20 --op rms_norm --shape 8192x4096 --dtype bf16
kb roofline --platform H20 --flops 1.1e12 --bytes 4e8 --dtype bf16 --engine matrix
kb roofline norm.record --platform MI300X
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kopt_kb.analysis.roofline.roofline import Roofline, Rooflines, roofline
from kopt_kb.cli.case_arguments import add_kernel, cases_from, grid_from
from kopt_kb.cli.named_kernel import kernel_file
from kopt_kb.cli.output import add_wiki, open_registry, print_values, table
from kopt_kb.cli.problem_arguments import add_problem
from kopt_kb.cli.work_arguments import add_work, work_from
from kopt_kb.errors import BadInput, ExitCode
from kopt_kb.quantity.quantity import Unknown
from kopt_kb.quantity.units import format_exact
from kopt_kb.wiki.registry import Platform

if TYPE_CHECKING:
    from kopt_kb.analysis.profile import KernelProfile
    from kopt_kb.static.kernel_roofline import KernelRoofline
    from kopt_kb.wiki.wiki import Wiki

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "file",
        metavar="KERNEL.py",
        nargs="?",
        type=kernel_file,
        help="count, compile and judge the kernels of this file or record",
    )
    parser.add_argument("--platform", metavar="PLATFORM", help="exact product")
    parser.add_argument("--compare", metavar="A,B,…", help="several products: a roofline each, one picture")
    add_work(parser)
    add_kernel(parser)
    add_problem(parser)
    parser.add_argument("--profile", metavar="REPORT", help="profiler report with measured times of the file's kernels")
    parser.add_argument("--plot", action="store_true", help="draw in the terminal")
    parser.add_argument("--picture", metavar="FILE", help="write .svg, .png or .html (with hover)")
    parser.add_argument("--min-grade", metavar="GRADE", help="refuse roofs of a weaker grade: vendor, device, measured")
    add_wiki(parser)


def run(args: argparse.Namespace) -> int:
    """Print the roofline of each shape; exit 4 when the target of one is UNKNOWN."""
    platforms = _platforms(args)
    if args.file:
        return _run_file(args, platforms)
    works = work_from(args)
    rooflines = [roofline(one, platform, min_grade=args.min_grade) for platform in platforms for one in works]
    if args.json:
        print_values(rooflines[0] if len(rooflines) == 1 else Rooflines(tuple(rooflines)), _wikis(platforms))
    else:
        print("\n\n".join(render(one) for one in rooflines))
    _draw(args, platforms, rooflines, [])
    return ExitCode.UNKNOWN if any(one.unknown() for one in rooflines) else ExitCode.OK


def _platforms(args: argparse.Namespace) -> list[Platform]:
    names = [*filter(None, [args.platform]), *filter(None, (args.compare or "").split(","))]
    if not names:
        raise BadInput("missing --platform", fix="for example --platform H20, or --compare H20,H100_SXM", code="KB102")
    registry = open_registry(args)
    return list({one.id: one for one in map(registry.platform, names)}.values())


def _run_file(args: argparse.Namespace, platforms: list[Platform]) -> int:
    from kopt_kb.analysis.readers.read import read_profiles
    from kopt_kb.static.kernel_roofline import KernelRooflines

    if args.op or args.flops or args.bytes or args.problem:
        raise BadInput(
            "a kernel file and other work were given",
            fix="give the file with --shape and --dtype, or with --kernel, --arg and --grid, alone",
            code="KB103",
        )
    profiles = list(read_profiles(args.profile)) if args.profile else []
    rooflines = [one for platform in platforms for one in _kernels(args, platform, profiles)]
    if args.json:
        print_values(KernelRooflines(tuple(rooflines)), _wikis(platforms))
    else:
        print(
            "\n\n".join(_render_kernel(one) for one in rooflines)
            + (_time_table(rooflines) if len(rooflines) > 1 else "")
        )
    _draw(args, platforms, [one.roofline for one in rooflines], [one.measured_s for one in rooflines])
    return ExitCode.UNKNOWN if any(one.roofline.unknown() for one in rooflines) else ExitCode.OK


def _kernels(args: argparse.Namespace, platform: Platform, profiles: list[KernelProfile]) -> list[KernelRoofline]:
    from kopt_kb.runners.replay.recorded import Wanted, is_record, recorded
    from kopt_kb.static.device_facts import device_facts
    from kopt_kb.static.kernel_roofline import kernel_rooflines, rooflines_of

    identity, facts, grid = platform.identity, device_facts(platform), grid_from(args)
    if is_record(args.file):
        made = recorded(args.file, Wanted(identity.target, identity.platform, facts), disassemble=True)
        return rooflines_of([(one, "") for one in made], platform, grid=grid, profiles=profiles)
    if not (args.shape and args.dtype) and not (args.arg or args.args):
        fix = "for example --shape 8192x4096 --dtype bf16; or give --kernel, --arg and --grid, or a launch record"
        raise BadInput("missing --shape and --dtype", fix=fix, code="KB102")
    args.config = args.option if args.shape else []
    return kernel_rooflines(cases_from(args), platform, grid=grid, profiles=profiles, facts=facts)


def _wikis(platforms: Sequence[Platform]) -> list[Wiki]:
    return list(dict.fromkeys(one.wiki for one in platforms))


def _render_kernel(one: KernelRoofline) -> str:
    fitting, compiled = one.occupancy, one.compiled
    share = 100 * fitting.occupancy_fraction
    lines = [
        render(one.roofline),
        "",
        "Kernel",
        f"  compiled for {compiled.target}: {compiled.assembler.registers} registers, {compiled.shared_bytes} B shared",
        f"  occupancy {share:.1f} %, {fitting.blocks_per_sm} block(s) an SM, limited by {', '.join(fitting.limiters)}",
    ]
    if one.quantisation is not None:
        losses = one.quantisation
        waves, tiles, both = (
            100 * float(x) for x in (losses.wave_efficiency, losses.tile_efficiency, losses.efficiency)
        )
        lines.append(f"  {losses.blocks} blocks are {float(losses.waves):.2f} waves: at most {both:.1f} % of a roof")
        lines.append(f"  (waves {waves:.1f} %, tiles {tiles:.1f} %)")
    if one.measured_s is not None:
        lines.append(f"  measured {one.measured_s * 1e6:.2f} us")
    return "\n".join(lines)


def _time_table(rooflines: list[KernelRoofline]) -> str:
    """Return the time-based view of several kernels: least time, measured time, share of the whole."""
    from kopt_kb.analysis.roofline.time_view import time_view

    names = [f"{one.roofline.platform} {one.name} {at}" for at, one in enumerate(rooflines, 1)]
    measured = {name: one.measured_s for name, one in zip(names, rooflines, strict=True) if one.measured_s is not None}
    view = time_view({name: one.roofline for name, one in zip(names, rooflines, strict=True)}, measured)
    rows = [("kernel", "least us", "measured us", "share", "limiter")]
    for one in view:
        share = "-" if one.share is None else f"{100 * one.share:.1f} %"
        rows.append((one.name, _microseconds(one.least_s), _microseconds(one.measured_s), share, one.limiter))
    return "\n\nTime\n" + table(rows, indent=2, right=(1, 2, 3))


def _microseconds(value: float | None) -> str:
    return "-" if value is None else f"{value * 1e6:.2f}"


def _draw(
    args: argparse.Namespace, platforms: list[Platform], rooflines: list[Roofline], measured_s: list[float | None]
) -> None:
    if not (args.plot or args.picture):
        return
    from kopt_kb.static.picture import picture_of, terminal, write_picture

    names = ", ".join(platform.id for platform in platforms)
    drawn = picture_of(f"Roofline: {rooflines[0].work.op} on {names}", platforms, rooflines, measured_s)
    if args.picture:
        write_picture(drawn, Path(args.picture))
    if args.plot and not args.json:
        print(terminal(drawn))


def render(one: Roofline) -> str:
    """Return the roofline as text for people."""
    work = one.work
    shape = "x".join(map(str, work.shape))
    texts = dict(work.definitions)
    lines = [" ".join(filter(None, (one.platform, work.op, shape, work.dtype))), "", "Work"]
    rows = [(f"useful operations, {f.dtype} {f.engine}", f"{f.useful.value:,}", f.useful.exactness) for f in work.flops]
    rows += [
        (f"compulsory bytes, {b.level} {b.direction}", f"{b.compulsory.value:,}", b.compulsory.exactness)
        for b in work.bytes
    ]
    rows += [(f"special functions, {s.function}", f"{s.count.value:,}", s.count.exactness) for s in work.special]
    lines += [table(rows, indent=2, right=(1,))]
    lines += [f"  {name}: {text}" for name, text in texts.items()]
    lines += ["", "Roofs"]
    roofs = []
    for ceiling in one.roofs():
        values = [("documented", ceiling.documented)]
        values += [("measured", ceiling.measured)] if ceiling.measured is not None else []
        roofs += [(ceiling.name, kind, _value(value), _grades(value), _where(value)) for kind, value in values]
    lines += [table(roofs, indent=2, right=(2,))]
    lines += ["", "Verdict", *(f"  {text}" for text in _verdict(one))]
    lines += ["", "Citations", *(f"  {citation}" for citation in one.citations())]
    lines += ["", "Notes", *(f"  {note}" for note in one.notes)] if one.notes else []
    return "\n".join(lines)


def _value(value: object) -> str:
    return "UNKNOWN" if isinstance(value, Unknown) else str(value)


def _grades(value: object) -> str:
    return "" if isinstance(value, Unknown) else ", ".join(sorted(value.grades()))  # type: ignore[attr-defined]


def _where(value: object) -> str:
    if isinstance(value, Unknown):
        return f"needs {', '.join(value.needs)}"
    return ", ".join(f"<gpu-wiki>/{one.location}" for one in value.citations()[:1])  # type: ignore[attr-defined]


def _verdict(one: Roofline) -> list[str]:
    ridge = "UNKNOWN" if isinstance(one.ridge, Unknown) else f"{format_exact(one.ridge.si, 4)} FLOP/B"
    name = "matrix" if "matrix" in one.limiter else "vector" if "vector" in one.limiter else "compute"
    lines = [
        f"intensity   {format_exact(one.intensity.si, 4)} FLOP/B, ridge {ridge}",
        f"bound       {one.bound}"
        + (f", by the {one.limiter} roof" if one.limiter else f" ({name} or memory roof UNKNOWN)"),
    ]
    for basis, value in one.attainable.items():
        shown = "UNKNOWN" if isinstance(value, Unknown) else f"{format_exact(value.to('TFLOPS').si / 10**12, 4)} TFLOPS"
        lines.append(f"attainable  {shown} ({basis} roofs)")
    for target in one.targets:
        basis = f"{format_exact(target.factor)} x {target.basis} {target.name}"
        lines.append(f"{'target' if target is one.target else '      '}      {target.line()}  ({basis})")
    return lines

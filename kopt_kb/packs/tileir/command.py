"""Prepare existing Triton kernels for NVIDIA's TileIR backend.

kb tileir check                           which Triton, backend and GPUs; what is missing; exit 3 if it can't run
kb tileir classify FILE [--kernel NAME]   dot-related, norm-like, element-wise or reduction, with the deciding lines
kb tileir classify --code TEXT            the same of a text
kb tileir run FILE [--driver FILE]        check, classify, apply, verify, bench, and the report of it
kb tileir bench FILE [--driver FILE]      times of PTX and TileIR at sizes 128, 1024 and 8192; empty where not measured
kb tileir apply FILE [--output OUT]       write <kernel>_tileir.py: tensor descriptors where proven legal, gated hints

The type is found by following data through the source, callees in the same project inlined; nothing is imported or
run, comments and names decide nothing. A prepared file runs as before with any other backend: the kernel with
descriptors stands beside the old one and is started where a launch meets what it needs (TILEIR_DESCRIPTORS=1 asks for
it everywhere, 0 nowhere), hints such as occupancy are added with TileIR alone, num_warps is never searched.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.files import open_input, write_output
from kopt_kb.cli.kit.output import add_common, print_json, printable_lines, table
from kopt_kb.packs.tileir.environment import backends_here, examine
from kopt_kb.packs.tileir.files import Classified, classify_source
from kopt_kb.packs.tileir.phases import FileDriver, bench_file, run_phases
from kopt_kb.packs.tileir.report import Timings, render_report, render_timings
from kopt_kb.packs.tileir.rewrite import RewriteOptions, Rewritten, apply_source, output_path
from kopt_kb.problem.shapes import parse_shape

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = commands.add_parser("check", help="what this machine has of TileIR", allow_abbrev=False)
    add_common(check)
    sort = commands.add_parser("classify", help="what kind of kernel it is, and why", allow_abbrev=False)
    _add_source(sort)
    add_common(sort)
    change = commands.add_parser("apply", help="write a prepared copy of a file", allow_abbrev=False)
    _add_source(change)
    _add_options(change)
    add_common(change)
    whole = commands.add_parser("run", help="all five phases and the report", allow_abbrev=False)
    whole.add_argument("file", metavar="FILE", help="Python file with Triton kernels")
    _add_options(whole)
    _add_driver(whole)
    add_common(whole)
    bench = commands.add_parser("bench", help="time PTX and TileIR", allow_abbrev=False)
    bench.add_argument("file", metavar="FILE", help="Python file with Triton kernels")
    bench.add_argument("--prepared", metavar="FILE", default="", help="what was made of it (default: FILE_tileir.py)")
    _add_driver(bench)
    add_common(bench)


def _add_driver(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--driver", metavar="FILE", default="", help="run(module) returns tensors, bench(module, size) a call"
    )
    parser.add_argument("--shape", metavar="MxN", default="", help="for a kernel file with make_inputs and launch")
    parser.add_argument("--dtype", metavar="TYPE", default="fp16", help="likewise (default: %(default)s)")
    parser.add_argument(
        "--run-s",
        "--time-limit",
        dest="time_limit",
        metavar="S",
        type=float,
        default=600.0,
        help="seconds a run may take",
    )


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", "--out", metavar="OUT", default="", help="file to write (default: FILE with _tileir.py)"
    )
    parser.add_argument("--force", action="store_true", help="write over a file that exists")
    parser.add_argument("--approx", action="store_true", help="set TILEIR_ENABLE_APPROX=1 in the file: less accurate")
    parser.add_argument("--ftz", action="store_true", help="set TILEIR_ENABLE_FTZ=1 in the file: denormals become 0")


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", default="", help="Python file with Triton kernels")
    parser.add_argument("--code", metavar="TEXT", default="", help="Python text with kernels, instead of FILE")
    parser.add_argument("--kernel", metavar="NAME", default="", help="only this kernel")


def run(args: argparse.Namespace) -> int:
    """Run the chosen action."""
    actions = {"check": _check, "classify": _classify, "apply": _apply, "run": _run, "bench": _bench}
    return actions[args.action](args)


def _check(args: argparse.Namespace) -> int:
    from kopt_kb.launch.machine.this_machine import this_machine

    found = examine(this_machine(), backends_here())
    if args.json:
        print_json(found)
    else:
        rows = [(one.name, one.state, one.found, f"fix: {one.fix}" if one.fix else "") for one in found.findings]
        print(table(rows, is_headed=False))
        print(f"TileIR is {'active' if found.tileir_active else 'not active'}: {found.recommendation}")
    return ExitCode.OK if found.tileir_active else ExitCode.MISSING


def _checked(args: argparse.Namespace) -> None:
    if bool(args.file) == bool(args.code):
        raise BadInput("give one of FILE and --code", where=f"kb tileir {args.action}", code="KB103")


def _classify(args: argparse.Namespace) -> int:
    _checked(args)
    found = classify_source(args.file, args.code, args.kernel)
    if args.json:
        print_json(found)
    else:
        print(printable_lines(_render(found)))
    return ExitCode.OK


def _render(classified: Classified) -> str:
    parts = []
    for kernel in classified.kernels:
        where = f"{kernel.kernel} ({classified.path}:{kernel.line})"
        lines = [f"{where}: {kernel.classification}, confidence {kernel.confidence:.2f}"]
        lines.append(f"  strategy: {kernel.strategy}")
        lines += [
            f"  {'line ' + str(each.line):<9} {each.what}: {each.text}{f'  [{each.module}]' if each.module else ''}"
            for each in kernel.indicators
        ]
        lines += [f"  not read: {name}, so what it does is not known" for name in kernel.unresolved]
        lines += [f"  - {text}" for text in kernel.recommendations]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _apply(args: argparse.Namespace) -> int:
    _checked(args)
    done = apply_source(args.file, args.code, args.kernel, RewriteOptions(approx=args.approx, ftz=args.ftz))
    done = _written(args, done)
    if args.json:
        print_json(done)
    else:
        print(printable_lines(_render_applied(done)))
    return ExitCode.OK


def _written(args: argparse.Namespace, done: Rewritten) -> Rewritten:
    """Write the file, unless inline code was given without a name for it."""
    output = args.output or ("" if args.code else done.output)
    if output:
        write_output(output, done.optimized_code, force=args.force)
    return replace(done, output=output)


def _render_applied(done: Rewritten) -> str:
    lines = []
    for kernel in done.kernels:
        through = f"{kernel.descriptors} of {kernel.tiles} tile accesses through descriptors"
        lines.append(f"{kernel.kernel}: {kernel.classification}, {through}")
        lines += [f"  + {text}" for text in kernel.changes]
        lines += [f"  - left: {text}" for text in kernel.refusals]
    return "\n".join([*lines, f"written: {done.output}" if done.output else done.optimized_code])


def _driver(args: argparse.Namespace) -> FileDriver:
    if args.shape:
        parse_shape(args.shape)
    if not args.time_limit > 0:
        raise BadInput("must be above 0", where="--run-s", fix="such as 600", code="KB102")
    return FileDriver(args.driver, args.shape, args.dtype, args.time_limit)


def _run(args: argparse.Namespace) -> int:
    from kopt_kb.launch.machine.this_machine import this_machine

    options = RewriteOptions(approx=args.approx, ftz=args.ftz)
    machine = examine(this_machine(), backends_here())
    report = run_phases(args.file, args.output, _driver(args), machine, options=options, force=args.force)
    if args.json:
        print_json(report)
    else:
        print(printable_lines(render_report(report)))
    failed = "failed" in {report.compatibility.status, report.validation.status}
    return ExitCode.FINDING if failed else ExitCode.OK


def _bench(args: argparse.Namespace) -> int:
    from kopt_kb.launch.machine.this_machine import this_machine

    prepared = args.prepared or output_path(args.file)
    for one in (args.file, prepared):
        open_input(one).close()
    timings = Timings(bench_file(args.file, prepared, _driver(args), examine(this_machine(), backends_here())))
    if args.json:
        print_json(timings)
    else:
        print(render_timings(timings.timings))
    return ExitCode.OK if any(one.time_ms is not None for one in timings.timings) else ExitCode.MISSING

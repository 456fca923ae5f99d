"""Check and tune cuTile kernels, read their benchmarks, explain their failures.

kb cutile check FILE|DIR [--platform P]    rules and knobs of each kernel, launches, searches, registrations, git
kb cutile ir FILE --shape MxN --target T   Tile IR, remarks and instructions that tileiras makes, without a GPU
kb cutile read LOG [--csv FILE]            times of a pytest benchmark's lines Cutile: {'forward': {...}} ms
kb cutile causes [LOG]                     what errors come from and what to do; of a log, the rows that it has
kb cutile recipes FILE [--profile REPORT]  recipes A to L: why each applies or not, what it changes, where
kb cutile recipes FILE --apply A           write the file with a recipe's edit

Recipes import and run nothing; `kb tune run WORKSPACE --policy cutile` tries them one a round. check exits 1 where a
finding is an error. Limits of shared memory and registers come from the wiki; rules hold for the installed versions, or
for those given by --cuda-tile and --tileiras. kb record, compile and verify take a cuTile file as they take one of
Triton.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.files import write_new
from kopt_kb.cli.kit.output import add_wiki, open_registry, print_json, table
from kopt_kb.launch.counts.device_facts import device_facts
from kopt_kb.packs.cutile.check.check import TileCheck, check_tiles, installed_versions
from kopt_kb.packs.cutile.check.dump import dump_tiles, written
from kopt_kb.packs.cutile.check.logs import BenchTimes, ExplainedLog, NamedCause
from kopt_kb.packs.cutile.command_recipes import add_recipes, run_recipes
from kopt_kb.packs.cutile.source.bench_log import BenchRow, bench_rows, read_bench_log
from kopt_kb.packs.cutile.source.causes import CAUSES, causes_of
from kopt_kb.packs.cutile.source.findings import TileTarget
from kopt_kb.problem.dtypes import dtype_of
from kopt_kb.problem.shapes import format_shape, parse_shape
from kopt_kb.quantity.readable import rounded

__all__ = ["add_arguments", "run"]

_MOST_LOG_BYTES = 64 << 20
_REGISTER_BYTES = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = commands.add_parser("check", help="rules and knobs of a file or folder", allow_abbrev=False)
    check.add_argument("path", metavar="FILE|DIR", help="Python file with tile kernels, or a folder of them")
    check.add_argument("--platform", metavar="PLATFORM", help="its target and limits")
    check.add_argument("--target", metavar="TARGET", default="", help="such as sm_90")
    check.add_argument("--dtype", metavar="TYPE", default="bf16", help="type of operands (default: %(default)s)")
    check.add_argument("--cuda-tile", metavar="VERSION", default="", help="rules of this version, such as 1.5")
    check.add_argument("--tileiras", metavar="VERSION", default="", help="knobs of this release, such as 13.3")
    add_wiki(check)
    ir = commands.add_parser("ir", help="what tileiras makes of a file's kernels", allow_abbrev=False)
    ir.add_argument("file", metavar="FILE", help="op file with launch() and make_inputs()")
    ir.add_argument("--shape", metavar="MxN", required=True, help="problem shape")
    ir.add_argument("--dtype", metavar="TYPE", default="bf16", help="storage type (default: %(default)s)")
    ir.add_argument("--platform", metavar="PLATFORM", help="its target and limits")
    ir.add_argument("--target", metavar="TARGET", default="", help="such as sm_90")
    ir.add_argument("--out", metavar="DIR", default="", help="write Tile IR, SASS, code object and remarks there")
    add_wiki(ir)
    read = commands.add_parser("read", help="times of a pytest benchmark", allow_abbrev=False)
    read.add_argument("log", metavar="LOG", help="output of pytest --print-record")
    read.add_argument("--csv", metavar="FILE", help="write a row a test there, for the benchmark of a project.toml")
    read.add_argument(
        "--shape", metavar="[WORD=]MxN", action="append", default=[],
        help="shape of tests whose name has WORD; without one names have it, as test_gemm[4096x4096x4096]",
    )  # fmt: skip
    read.add_argument("--backend", metavar="NAME", default="Cutile", help="whose times (default: %(default)s)")
    add_wiki(read)
    causes = commands.add_parser("causes", help="what errors come from", allow_abbrev=False)
    causes.add_argument("log", metavar="LOG", nargs="?", default="", help="output of a compiler or a test")
    add_wiki(causes)
    add_recipes(commands.add_parser("recipes", help="which recipes of the loop apply, and why", allow_abbrev=False))


def run(args: argparse.Namespace) -> int:
    """Run the chosen action."""
    actions = {"check": _check, "ir": _ir, "read": _read, "causes": _causes, "recipes": run_recipes}
    return actions[args.action](args)


def _target(args: argparse.Namespace) -> TileTarget:
    tile, assembler = installed_versions()
    newest = TileTarget()
    tile = _numbers(args.cuda_tile, "--cuda-tile") or tile or newest.cuda_tile
    assembler = _numbers(args.tileiras, "--tileiras") or assembler or newest.tileiras
    item = max(dtype_of(args.dtype).bits // 8, 1)
    if args.platform is None:
        return TileTarget(args.target, item_bytes=item, cuda_tile=tile, tileiras=assembler)
    platform = open_registry(args).platform(args.platform)
    if args.target not in {"", platform.identity.target}:
        what = f"{platform.id} is {platform.identity.target}, not {args.target}"
        raise BadInput(what, fix="leave --target out", code="KB103")
    facts = device_facts(platform)
    registers = facts.get("regs_per_multiprocessor")
    return TileTarget(
        platform.identity.target, facts.get("shared_memory_per_block_optin"),
        None if registers is None else registers * _REGISTER_BYTES, item, tile, assembler,
    )  # fmt: skip


def _numbers(text: str, where: str) -> tuple[int, ...] | None:
    if not text:
        return None
    parts = text.split(".")
    if not all(one.isdigit() for one in parts):
        raise BadInput(f"{text!r} is no version", where=where, fix="such as 1.5", code="KB103")
    return tuple(map(int, parts[:2]))


def _check(args: argparse.Namespace) -> int:
    found = check_tiles(Path(args.path), _target(args))
    if args.json:
        print_json(found, args.wiki or [])
    else:
        _print_check(found)
    return ExitCode.FINDING if found.state == "errors" else ExitCode.OK


def _print_check(check: TileCheck) -> None:
    for file in check.files:
        print(file.path)
        rows = [("kernel", str(one.line), one.name, "") for one in file.kernels]
        rows += [("launch", str(one.line), one.name, "") for one in file.launches]
        rows += [("search", str(one.line), one.name, one.said) for one in file.searches]
        rows += [("registered", str(one.line), one.name, one.said) for one in file.registered]
        if file.configurations:
            rows.append(("configurations", "", str(file.configurations), "of TUNING_SPACE"))
        print(table(rows, indent=2, right=[1], is_headed=False))
        said = [
            (
                finding.level,
                str(finding.line),
                finding.rule,
                f"{finding.what}; {finding.fix}",
                f"{finding.versions}; {finding.source}",
            )
            for finding in file.findings
        ]
        print(table(said, indent=2, right=[1], is_headed=False) if said else "  nothing found")
    if check.repository is not None:
        state = check.repository
        changed = f"{len(state.changed)} files differ" if state.changed else "nothing differs"
        print(f"git: branch {state.branch} at {state.commit[:12]}, {changed}")
        if state.sandbox:
            print(f"  committed, and should not be: {', '.join(state.sandbox[:5])}; git rm --cached")
    print(f"{check.state}, for cuda-tile {check.cuda_tile} and tileiras {check.tileiras}")
    print("not decided from the text: " + "; ".join(check.not_decided))


def _ir(args: argparse.Namespace) -> int:
    facts, target = None, args.target
    if args.platform is not None:
        platform = open_registry(args).platform(args.platform)
        facts, target = device_facts(platform), platform.identity.target
    if not target:
        raise BadInput("missing --target or --platform", fix="for example --target sm_90", code="KB102")
    found = dump_tiles(args.file, parse_shape(args.shape), args.dtype, target, facts or {})
    paths = written(found, Path(args.out)) if args.out else []
    if args.json:
        print_json(found, args.wiki or [])
        return ExitCode.OK
    for kernel in found.kernels:
        counts = ", ".join(f"{name} {count}" for name, count in kernel.operations.items())
        print(f"{kernel.name} for {found.target}: {counts}")
        rows = [
            (f"{each.file}:{each.line}", each.verdict, each.what, each.instruction, "x".join(map(str, each.shape)))
            for each in kernel.remarks
        ]
        print(table(rows, indent=2, is_headed=False) if rows else "  no remarks: tileiras before 13.4")
        if not args.out:
            print(kernel.tile_ir)
    for path in paths:
        print(path)
    return ExitCode.OK


def _log(name: str) -> str:
    path = Path(name)
    if not path.is_file():
        raise BadInput("no such file", where=name, fix="name the output of a test or a compiler", code="KB110")
    if path.stat().st_size > _MOST_LOG_BYTES:
        raise BadInput(f"the log is larger than {_MOST_LOG_BYTES} bytes", where=name, code="KB110")
    return path.read_text(errors="replace")


def _read(args: argparse.Namespace) -> int:
    text = _log(args.log)
    times = BenchTimes(read_bench_log(text, args.log))
    if args.shape and not args.csv:
        raise BadInput("--shape without --csv", where="kb cutile read", fix="name the file: --csv FILE", code="KB103")
    if args.csv:
        _write_rows(args, bench_rows(times.times, text, _shapes(args.shape), args.backend, args.log))
    if args.json:
        print_json(times, args.wiki or [])
        return ExitCode.OK
    rows = [("line", "test", "backend", "part", "mean_ms", "median_ms", "min_ms", "max_ms", "runs")]
    for time in times.times:
        numbers = (time.mean_ms, time.median_ms, time.min_ms, time.max_ms)
        shown = ["" if each is None else rounded(each) for each in numbers]
        runs = "" if time.repeats is None else str(time.repeats)
        rows.append((str(time.line), time.test, time.backend, time.part, shown[0], shown[1], shown[2], shown[3], runs))
    print(table(rows, right=[0, 4, 5, 6, 7, 8]))
    return ExitCode.OK


def _shapes(given: list[str]) -> dict[str, str]:
    """Return part of a test's name → shape."""
    pairs = [one.rpartition("=")[::2] for one in given]
    return {word: format_shape(parse_shape(shape)) for word, shape in pairs}


def _write_rows(args: argparse.Namespace, rows: Sequence[BenchRow]) -> None:
    """Write what `[csv]` of a project file names: shape, check, forward_ms and, where it was timed, backward_ms."""
    both = any(one.backward_ms is not None for one in rows)
    lines = [",".join(["shape", "check", "forward_ms", *(["backward_ms"] if both else [])])]
    for one in rows:
        back = ["" if one.backward_ms is None else repr(one.backward_ms)] if both else []
        lines.append(",".join([one.shape, one.check, repr(one.forward_ms), *back]))
    write_new(args.csv, ("\n".join(lines) + "\n").encode())


def _causes(args: argparse.Namespace) -> int:
    found = [NamedCause(one, line) for one, line in causes_of(_log(args.log))] if args.log else [
        NamedCause(one, "") for one in CAUSES
    ]  # fmt: skip
    if args.json:
        print_json(ExplainedLog(tuple(found)), args.wiki or [])
    elif not found:
        print(f"{args.log}: no error that is known here; kb cutile causes prints all {len(CAUSES)} rows")
    else:
        rows = [("words" if not args.log else "line", "cause", "what to do", "source")]
        rows += [(one.line or one.cause.words, one.cause.cause, one.cause.fix, one.cause.source) for one in found]
        print(table(rows))
    return ExitCode.OK if found or not args.log else ExitCode.FINDING

"""Record what a launcher asks the GPU to do, without a GPU: kernels, grids, arguments, scratch, as plain data.

kb record kernels/rms_norm.py --shape 8192x4096 --dtype bf16 --platform H100_SXM --out rms.record
kb record kernels/cuda/rms_norm.cu --shape 8192x4096 --dtype bf16 --platform H100_SXM --out rms_cuda.record
kb record --call my.norms:rms_norm --arg 'x=bf16[8192,4096]' --arg 'weight=bf16[4096]' --target sm_90 --out o
kb record --platform H100_SXM --out train.record -- python train.py --steps 1

The launcher runs in a child process on tensors that have no memory. Triton and Gluon kernels are compiled for the
target and never run; allocations, fills and copies become part of the record. Anything else that computes on the
device is listed: a record whose results need it is not replayable, and says why. A launcher may read values of
tensors only where they were given (int32[3]=0,128,256) or follow from those. A program behind -- is run to its end, or
to the first thing it can't do without a GPU, and each different launch is listed once. --autotune all records each
configuration that the kernels choose from into DIR/N, and names those that the product's limits forbid.
CUDA C++ says in a comment how it is launched: /* kb, then TOML such as

op = "rms_norm"
config = { THREADS = 256 }
inputs = { x = "[M, N]", weight = "[N]" }
outputs = { out = "[M, N]" }
[[steps]]
launch = "rms_norm<{T}, {THREADS}>"
grid = ["M"]
block = ["THREADS"]
arguments = ["x", "weight", "out", "i32 N", "fp32 1e-6"]

and */; docs/launch_records.md has all of it. kb verify record DIR replays a record of an op file on a GPU.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.files import open_input
from kopt_kb.base.wire import Wire, inside
from kopt_kb.cli.kit.case_arguments import ALL, config_for, configuration, refuse_contradictions
from kopt_kb.cli.kit.named_kernel import kernel_file
from kopt_kb.cli.kit.output import add_common, open_registry, print_json, table
from kopt_kb.cli.kit.own_configs import render_configs
from kopt_kb.cli.kit.problem_arguments import add_problem, chosen_shape, given_problem, reference_path
from kopt_kb.cli.launch.record_request import call_request, lines_of, script_request
from kopt_kb.launch.counts.device_facts import device_facts, target_facts
from kopt_kb.launch.counts.limits import limits_of
from kopt_kb.launch.judge.makers import make_record
from kopt_kb.launch.judge.own_configs import record_configurations
from kopt_kb.launch.record.model import Copy, Fill, LaunchRecord, Step
from kopt_kb.launch.record.request import CallRequest, MakerRequest, OpRequest, ScriptRequest
from kopt_kb.problem.shapes import parse_shape

__all__ = ["RecordedLaunch", "add_arguments", "run"]


@dataclass(frozen=True, slots=True)
class RecordedLaunch(Wire):
    """A launch record and the folder it was written to."""

    WIRE: ClassVar = ("path", *inside("record", LaunchRecord))
    path: str
    record: LaunchRecord


_CUDA_S = 60.0
"""Most seconds of a CUDA C++ file: nothing but a compiler runs."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "words",
        metavar="FILE",
        nargs="*",
        type=kernel_file,
        help="launch and make_inputs, or op:NAME; or .cu; or -- python FILE.py ...",
    )
    parser.add_argument("--shape", metavar="MxN", help="problem shape, with FILE")
    parser.add_argument("--dtype", metavar="TYPE", help="storage type, with FILE")
    parser.add_argument("--config", metavar="NAME=VALUE", action="append", default=[], help="tuning value, with FILE")
    add_problem(parser)
    parser.add_argument("--call", metavar="MODULE:FUNCTION", help="a launcher in a package or FILE.py, instead of FILE")
    parser.add_argument(
        "--arg", metavar="NAME=VALUE", action="append", default=[],
        help="argument of the call: bf16[8192,4096], 4096, 1e-6, true, none, torch.float16, 'sum', [16,24]; repeated",
    )  # fmt: skip
    parser.add_argument("--args", metavar="FILE", help="file of arguments, one --arg a line; # begins a comment")
    parser.add_argument("--platform", metavar="NAME", help="product to record for; its page answers what launchers ask")
    parser.add_argument("--target", metavar="TARGET", help="target alone, such as sm_90, instead of --platform")
    parser.add_argument(
        "--autotune", metavar="N|all", type=configuration, default=0,
        help="which autotune configuration (default 0); all: each that fits, into DIR/N",
    )  # fmt: skip
    parser.add_argument(
        "--run-s", metavar="S", type=float, help="most seconds, compilation included (default 300; 60 of CUDA C++)"
    )
    parser.add_argument("--out", metavar="DIR", required=True, help="new folder for record.json and objects/")
    parser.add_argument("--wiki", metavar="DIR", action="append", default=[], help="wiki folder; repeatable")
    add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Record, and print what was recorded; exit 1 when the record is not replayable."""
    device, target, facts = _device(args)
    if args.autotune == ALL:
        return _each(args, target, device, facts)
    with _asked(args) as what:
        asked = MakerRequest(what, target, device, facts, "", args.autotune, statics=True)
        record = make_record(asked, Path(args.out), _limit_s(args))
    if args.json:
        print_json(RecordedLaunch(args.out, record), args.wiki)
    else:
        print(_render(record, args.out))
    return ExitCode.FINDING if record.not_replayable else ExitCode.OK


def _each(args: argparse.Namespace, target: str, device: str, facts: dict[str, int]) -> int:
    """Record each configuration that the launched kernels choose from; exit 1 when none is left."""
    platform = open_registry(args).platform(args.platform) if args.platform else None
    limits = limits_of(platform) if platform else None
    with _asked(args) as what:
        asked, name = MakerRequest(what, target, device, facts, ""), platform.identity.platform if platform else ""
        found = record_configurations(asked, Path(args.out), limits, name)
    if args.json:
        print_json(found, args.wiki)
    else:
        print(render_configs(found))
    return ExitCode.OK if found.kept else ExitCode.FINDING


def _limit_s(args: argparse.Namespace) -> float:
    """Return the limit of time; 0 where it is the usual one. A compiler alone needs less than a launcher."""
    if args.run_s is not None and not 0 < args.run_s < math.inf:
        raise BadInput(f"--run-s {args.run_s:g}", where="kb record", fix="seconds above zero", code="KB105")
    is_cuda = [Path(one).suffix for one in args.words] == [".cu"]
    return args.run_s or (_CUDA_S if is_cuda else 0.0)


def _device(args: argparse.Namespace) -> tuple[str, str, dict[str, int]]:
    if bool(args.platform) == bool(args.target):
        raise BadInput(
            "give one of --platform and --target", where="kb record", fix="such as --platform H100_SXM", code="KB103"
        )
    if args.target:
        return str(args.target), str(args.target), target_facts(open_registry(args), args.target)
    platform = open_registry(args).platform(args.platform)
    identity = platform.identity
    return identity.platform, identity.target, device_facts(platform)


@contextmanager
def _asked(args: argparse.Namespace) -> Iterator[OpRequest | CallRequest | ScriptRequest]:
    """Keep what is to be recorded: of a problem, its reference file lies on disk meanwhile."""
    if not args.problem:
        yield _what(args)
        return
    file = next(iter(args.words), "")
    if len(args.words) != 1 or args.call or args.arg:
        what, fix = "--problem judges a FILE", "give the candidate's file, and no --call or --arg"
        raise BadInput(what, where="kb record", fix=fix, code="KB103")
    open_input(file).close()
    shapes = [args.shape] if args.shape else []
    problem, reference = given_problem(args.problem, args.dtype, shapes)
    shape = parse_shape(chosen_shape(problem, shapes, args.problem))
    with reference_path(reference) as path:
        yield OpRequest(file, shape, problem.dtype, config_for(file, args.config), str(path))


def _what(args: argparse.Namespace) -> OpRequest | CallRequest | ScriptRequest:
    if len(args.words) > 1:
        if args.call or args.arg or args.args or args.shape or args.dtype or args.config:
            what, fix = "a program and other arguments were given", "give what comes behind -- alone"
            raise BadInput(what, where="--", fix=fix, code="KB103")
        return script_request(args.words, Path.cwd())
    file = next(iter(args.words), "")
    if bool(file) == bool(args.call):
        raise BadInput(
            "give either FILE or --call", where="kb record", fix="kb record --help shows all forms", code="KB103"
        )
    if args.call:
        if args.shape or args.dtype or args.config:
            raise BadInput(
                "--shape, --dtype and --config belong to FILE",
                where="--call",
                fix="give --arg NAME=VALUE",
                code="KB103",
            )
        return call_request(args.call, [*(lines_of(args.args) if args.args else []), *args.arg])
    if args.arg:
        raise BadInput("--arg belongs to --call", where=file, fix="give --shape and --dtype", code="KB103")
    if not args.shape or not args.dtype:
        raise BadInput(
            "missing --shape or --dtype", where=file, fix="such as --shape 8192x4096 --dtype bf16", code="KB102"
        )
    open_input(file).close()
    refuse_contradictions(file)
    return OpRequest(file, parse_shape(args.shape), args.dtype, config_for(file, args.config))


def _render(record: LaunchRecord, out: str) -> str:
    lines = [f"{record.label} for {record.target} -> {out}"]
    lines += [f"  {_step(one)}" for one in record.steps]
    lines.append(
        table(
            [(b.name, b.role, f"{b.size_bytes:,} bytes") for b in record.buffers], indent=2, right=(2,), is_headed=False
        )
    )
    if record.host:
        lines.append(f"  besides, not replayed: {', '.join(record.host)}")
    if record.not_replayable:
        lines.append(f"  not replayable: {record.not_replayable}")
    return "\n".join(lines)


def _step(step: Step) -> str:
    if isinstance(step, Fill):
        return f"fill {step.view.buffer} with {step.pattern}"
    if isinstance(step, Copy):
        one, two = step.source, step.target
        kinds = f", {one.dtype} to {two.dtype}" if one.dtype != two.dtype else "" if step.plain else ", another layout"
        return f"copy {one.buffer} to {two.buffer}{kinds}"
    grid, block = "x".join(map(str, step.grid)), "x".join(map(str, step.block))
    return f"launch {step.entry}, grid {grid}, block {block}, {step.shared_bytes} bytes shared, code {step.code[:12]}"

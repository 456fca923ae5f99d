"""`kb bench kernel` and `kb bench utilization`: a workspace's kernel or its records against the Stop Conditions."""

from __future__ import annotations

import argparse
import shlex
import sys

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.cli.kit.columns import legend
from kopt_kb.cli.kit.output import add_wiki, print_of, print_values, table
from kopt_kb.cli.tune.judge import JUDGES, executor_of, judge_of
from kopt_kb.launch.candidate.executor import ChildProcessExecutor
from kopt_kb.launch.candidate.job import Executor
from kopt_kb.quantity.readable import duration, percent, reached, rounded, si
from kopt_kb.tuning.bench import BenchOptions, bench_kernel, bench_plan, utilization
from kopt_kb.tuning.options import Settings
from kopt_kb.tuning.policy import default_policy
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.retarget import registry_of
from kopt_kb.workspace.targets.bench import BenchReport
from kopt_kb.workspace.workspace import Workspace

__all__ = ["ACTIONS", "add_actions", "render_conditions", "render_use", "run_action"]

ACTIONS = ("kernel", "utilization")

_EXITS = {"met": ExitCode.OK, "unmet": ExitCode.FINDING, "not evaluable": ExitCode.FINDING, "unknown": ExitCode.UNKNOWN}


def add_actions(actions: argparse._SubParsersAction) -> None:  # type: ignore[type-arg]
    """Declare both actions."""
    kernel = actions.add_parser(
        "kernel", help="check and time a workspace's kernel now, judge its Stop Conditions", allow_abbrev=False
    )
    use = actions.add_parser(
        "utilization", help="judge the records a workspace has against every roof", allow_abbrev=False
    )
    kernel.add_argument("workspace", metavar="WORKSPACE")
    kernel.add_argument("--version", metavar="N", type=int, help="snapshot of this version (default: kernel.py)")
    kernel.add_argument("--repeats", metavar="N", type=int, default=3, help="medians of each shape (default 3)")
    kernel.add_argument("--samples", metavar="N", type=int, default=100, help="timed runs of a median (default 100)")
    kernel.add_argument(
        "--flush-bytes", metavar="N", type=int, default=0, help="written before each timed run (default: twice the L2)"
    )
    kernel.add_argument("--run-s", metavar="S", type=float, default=300.0, help="seconds one child may take")
    kernel.add_argument("--executor-command", metavar="CMD", help="put this before each child, such as srun")
    kernel.add_argument("--device", default="cuda", help="device of the kernel (default cuda)")
    kernel.add_argument(
        "--judge",
        choices=JUDGES,
        help="replay of its launches, or a child that runs it (default: replay where it can be)",
    )
    kernel.add_argument("--no-record", action="store_true", help="measure and judge, and write nothing")
    kernel.add_argument("--dry-run", action="store_true", help="print what would be measured and stop")
    use.add_argument("workspace", metavar="WORKSPACE")
    use.add_argument("--version", metavar="N", type=int, help="this version (default: the last accepted)")
    for one in (kernel, use):
        one.add_argument("--every-shape", action="store_true", help="every shape has to meet its condition")
        add_wiki(one)


def run_action(args: argparse.Namespace) -> int:
    """Run the action; exit 1 when the conditions are unmet or can't be judged, 4 when targets are UNKNOWN."""
    workspace = Workspace.open(args.workspace)
    if args.action == "kernel":
        return _kernel(args, workspace)
    registry = registry_of(workspace.state(), args.wiki)
    report = utilization(workspace, registry, args.version, every_shape=args.every_shape)
    return _print(report, render_use(report), registry, as_json=args.json)


def _kernel(args: argparse.Namespace, workspace: Workspace) -> int:
    settings = Settings(samples=args.samples, run_s=args.run_s, flush_bytes=args.flush_bytes)
    options = BenchOptions(args.version, args.repeats, settings, args.every_shape, not args.no_record)
    if args.dry_run:
        plan = bench_plan(workspace, options)
        if args.json:
            print_of(plan, workspace.state(), args.wiki)
        else:
            print(table([(name, _text(value)) for name, value in plan.to_json().items()], is_headed=False))
        return ExitCode.OK
    registry = registry_of(workspace.state(), args.wiki)
    executor = _executor(args, workspace, registry)
    try:
        report = bench_kernel(workspace, registry, executor, options, _say)
    finally:
        executor.close()
    return _print(report, render_conditions(report), registry, as_json=args.json)


def _executor(args: argparse.Namespace, workspace: Workspace, registry: Registry) -> Executor:
    """Return what measures: as asked for, else a replay where there can be one; says why there is none."""
    words = _words(args.executor_command or "")
    judge, why = judge_of(args, None, "kb bench kernel")
    if why:
        _say(why)
    if judge == "child":
        return ChildProcessExecutor(args.device, words)
    if args.flush_bytes:
        fix = "leave it out, or give --judge child"
        raise BadInput("--flush-bytes is for --judge child", where="kb bench kernel", fix=fix, code="KB103")
    platform = registry.platform(workspace.state().created.platform)
    return executor_of(args, judge, platform, default_policy())


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise BadInput(f"{command!r} is no command line: {error}", where="--executor-command", code="KB107") from error


def _say(line: str) -> None:
    print(f"kb: {line}", file=sys.stderr, flush=True)


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _print(report: BenchReport, text: str, registry: Registry, *, as_json: bool) -> int:
    if as_json:
        print_values(report, registry.wikis)
    else:
        print(text)
    return _EXITS[report.verdict]


def _rate(per_s: float | None, unit: str) -> str:
    if per_s is None:
        return ""
    return si(per_s, unit.replace("FLOP/s", "FLOPS")) if "/" in unit else f"{rounded(per_s / 1e12)} {unit}"


def _percent(share: float | None) -> str:
    return "" if share is None else percent(share)


def _ratio(value: float | None) -> str:
    return "" if value is None else reached(value)


def _micros(seconds: float | None) -> str:
    return "" if seconds is None else duration(seconds)


def _head(report: BenchReport) -> list[str]:
    source, machine = report.source, report.source.machine
    version = "kernel.py as it stands" if source.version is None else f"version {source.version}"
    taken = "a bench" if source.kind == "bench" else "its round"
    lines = [f"{report.platform}: {version}, records of {taken} ({source.name})"]
    levels = sorted({one.record.trust for one in report.shapes} - {"unstated"})
    lines += [f"trust: {', '.join(levels)}"] if levels else []
    if machine is not None:
        versions = ", ".join(f"{name} {text}" for name, text in sorted(machine.versions.items()))
        lines.append(f"{machine.device}, driver {machine.driver or 'unknown'}, {versions}")
    return lines


def _tail(report: BenchReport) -> list[str]:
    lines = [f"{shape}: target UNKNOWN, no source gives its rate" for shape in report.unknown]
    judged = report.evaluation
    if judged is None:
        return [*lines, f"Stop Conditions: not evaluable: {report.why_not}"]
    if judged.judged:
        value = _ratio(judged.aggregate) or "unmeasured"
        lines.append(f"aggregate {value}, {'met' if judged.aggregate_met else 'not met'} (geomean of achieved/target)")
    scope = "every shape" if report.scope == "every_shape" else "the aggregate"
    return [*lines, f"Stop Conditions by {scope}: {report.verdict}"]


def render_conditions(report: BenchReport) -> str:
    """Return one line a Stop Condition as text for people; bare times when none can be judged."""
    if report.evaluation is None:
        rows = [("shape", "median", "record")]
        rows += [(one.shape, _micros(one.record.median_s), one.record.id or "none kept") for one in report.shapes]
        return "\n".join([*_head(report), table(rows, right=(1,)), legend(rows[0]), *_tail(report)])
    judged = [("shape", "target", "median", "achieved", "achieved/target", "of documented", "met", "record")]
    for one in report.evaluation.judged:
        rate = _rate(one.achieved_per_s, "B/s" if one.condition.quantity == "bandwidth" else one.condition.unit)
        ratio = _ratio(one.ratio)
        cells = (_micros(one.median_s), rate, ratio, _percent(one.ceiling_share), "yes" if one.met else "no")
        judged.append((one.condition.shape, one.condition.target, *cells, one.record or "none kept"))
    known = {verdict.condition.shape for verdict in report.evaluation.judged}
    for use in (one for one in report.shapes if one.shape not in known):
        record = use.record.id or "none kept"
        judged.append((use.shape, "UNKNOWN", _micros(use.record.median_s), "", "", "", "", record))
    return "\n".join([*_head(report), table(judged, right=(2, 3, 4, 5)), legend(judged[0]), *_tail(report)])


def render_use(report: BenchReport) -> str:
    """Return one line a shape and roof as text for people; the roof that binds is marked."""
    if report.evaluation is None:
        return render_conditions(report)
    ratios = {verdict.condition.shape: verdict.ratio for verdict in report.evaluation.judged}
    measured = {one.shape for one in report.shapes}
    rows = [("shape", "bound", "roof", "achieved", "of documented", "of measured", "achieved/target", "record")]
    for one in report.shapes:
        last = (_ratio(ratios.get(one.shape)), one.record.id)
        for at, roof in enumerate(one.roofs):
            name = f"{roof.name} *" if roof.name == one.limiter else roof.name
            shares = (_percent(roof.documented_share), _percent(roof.measured_share))
            start = (one.shape, one.bound) if at == 0 else ("", "")
            end = last if at == 0 else ("", "")
            rows.append((*start, name, _rate(roof.achieved_per_s, roof.unit), *shares, *end))
    rows += [(shape, "", "", "unmeasured", "", "", "", "") for shape in ratios if shape not in measured]
    told = ("* the roof that binds", legend(rows[0]))
    return "\n".join([*_head(report), table(rows, right=(3, 4, 5, 6)), *told, *_tail(report)])

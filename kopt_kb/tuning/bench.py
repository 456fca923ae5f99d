"""A workspace's kernel measured now, or its records as they are, against the Stop Conditions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from kopt_kb.base.errors import BadInput, FindingError, UnknownData
from kopt_kb.base.wire import Wire
from kopt_kb.launch.candidate.answers import Answer, Check, Timing
from kopt_kb.launch.candidate.job import Executor, Job, JobKind, Outcome, RunLimits
from kopt_kb.launch.kernel.declared import kernel_name
from kopt_kb.problem.problem import Problem
from kopt_kb.tuning.bench_records import finish_benches, made_records, timing_run
from kopt_kb.tuning.environment import ProductOf, read_machine
from kopt_kb.tuning.gates import lint_kernel
from kopt_kb.tuning.jobs import JobFiles, Ran, job_of, refuse_missing
from kopt_kb.tuning.options import Settings
from kopt_kb.tuning.session import Session
from kopt_kb.wiki.devices import product_of
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.campaign_events import CampaignConfirmed
from kopt_kb.workspace.journal.disk import read_regular
from kopt_kb.workspace.journal.journal import Journal
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.journal.setup_events import BenchStarted, EnvironmentRecorded
from kopt_kb.workspace.rounds import standing
from kopt_kb.workspace.targets.bench import BenchReport, RecordSource, Scope, bench_report, is_whole, records_of
from kopt_kb.workspace.views.render import render_saying
from kopt_kb.workspace.workspace import Workspace

__all__ = ["BenchOptions", "BenchPlan", "WrongKernelError", "bench_kernel", "bench_plan", "utilization"]


class WrongKernelError(FindingError):
    """A kernel that is not measured: it is wrong, does not run, or is none of its own."""

    code = "KB407"


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """How a kernel is measured.

    Attributes:
        version: Version to take from its snapshot; None: kernel.py as it stands.
        repeats: Medians of each shape; the middle one stands for it.
        settings: Sizes of runs, as in a campaign.
        every_shape: Every shape has to meet its condition; otherwise what the campaign's policy says.
        record: Whether events are appended; without it nothing is written.
    """

    version: int | None = None
    repeats: int = 3
    settings: Settings = field(default_factory=Settings)
    every_shape: bool = False
    record: bool = True

    def __post_init__(self) -> None:
        """Refuse sizes that measure nothing; raises `BadInput`."""
        for name, value, least in (("repeats", self.repeats, 1), ("samples", self.settings.samples, 3)):
            if value < least:
                raise BadInput(f"--{name} is {value}", where="kb bench kernel", fix=f"at least {least}", code="KB105")
        if self.settings.run_s <= 0 or self.settings.flush_bytes < 0:
            raise BadInput(
                "a limit is not positive", where="kb bench kernel", fix="check --run-s and --flush-bytes", code="KB105"
            )


@dataclass(frozen=True, slots=True)
class BenchPlan(Wire):
    """What a bench would measure: the source with its version, what judges it, the problem, what has to be met."""

    WIRE: ClassVar = (
        "workspace", "platform", "kernel", "op=problem.op", "dtype=problem.dtype", "shapes=problem.shape_names",
        "repeats=options.repeats", "samples=options.settings.samples", "seeds=options.settings.seeds", "scope",
        "record=options.record",
    )  # fmt: skip
    workspace: str
    platform: str
    source: bytes
    reference: bytes
    version: int | None
    problem: Problem
    scope: Scope
    options: BenchOptions

    @property
    def kernel(self) -> str:
        """What is measured: `kernel.py` as it stands, or a version."""
        return kernel_name(self.source) if self.version is None else f"v{self.version}"


def bench_plan(workspace: Workspace, options: BenchOptions) -> BenchPlan:
    """Return what a bench would do; nothing is run and nothing written.

    Raises:
        BadInput: No such snapshot, kernel.py can't be read, or records would join simulated rounds.
    """
    root = str(workspace.layout.root)
    store = ObjectStore(workspace.layout.objects)
    state = workspace.state()
    if state.simulated and options.record:
        fix = "add --no-record, or make another workspace with kb init"
        raise BadInput("simulated and measured records never share a workspace", where=root, fix=fix, code="KB421")
    if options.version is None:
        source = read_regular(workspace.layout.kernel)
        if source is None:
            raise BadInput("there is no kernel.py", where=root, fix="restore it, or name a --version", code="KB432")
    else:
        taken = {n: version.snapshot.blob for n, version in state.attempts.items() if version.snapshot is not None}
        if options.version not in taken:
            known = ", ".join(map(str, taken)) or "none yet"
            raise BadInput(
                f"no snapshot of version {options.version}", where=root, fix=f"snapshots: {known}", code="KB321"
            )
        source = store.get(taken[options.version])
    created, scope = state.created, _scope(state.campaign, every_shape=options.every_shape)
    judge, problem = store.get(state.reference) if state.reference else b"", state.problem
    return BenchPlan(root, created.platform, source, judge, options.version, problem, scope, options)


def bench_kernel(
    workspace: Workspace,
    registry: Registry,
    executor: Executor,
    options: BenchOptions,
    say: Callable[[str], None] = lambda _: None,
) -> BenchReport:
    """Check and time a workspace's kernel on all its shapes, keep the records, judge them.

    Raises:
        WrongKernelError: It is wrong on some shape, or does not run; there are no numbers then.
        MissingTool: No GPU where the executor runs.
        AboveCeilingError: A record is above a roof.
        JournalBusyError: A campaign is running in this workspace.
    """
    if workspace.state().task.project is not None:
        fix = "`kb tune run` measures it by the project's own benchmark"
        raise BadInput("the kernel is files of a project", where=str(workspace.layout.root), fix=fix, code="KB433")
    plan = bench_plan(workspace, options)
    linted = lint_kernel(plan.source, workspace.state(), workspace.state().task.framework)
    if linted.result == "fail":
        raise WrongKernelError(
            linted.reason, where=_kernel_name(plan), fix="a kernel of its own is measured, not a library"
        )
    look_up = partial(product_of, registry)
    if not options.record:
        with Journal.hold(workspace.layout.journal):  # two that measure on one device spoil each other's times
            source = _measure(plan, executor, look_up, _Unrecorded(executor), say)
    else:
        session = Session.open(workspace.layout, executor)
        try:
            with closing(session):
                for name in finish_benches(session):
                    say(f"{name} was cut off: kept the records it had measured")
                source = _measure(plan, executor, look_up, _Recorded(session), say)
        finally:
            render_saying(workspace, say)
    return _judge(workspace, source, look_up, plan.scope)


def utilization(
    workspace: Workspace, registry: Registry, version: int | None = None, *, every_shape: bool = False
) -> BenchReport:
    """Judge the records that a workspace has; nothing is measured.

    Raises:
        FindingError: There are no records of that version.
        UnknownData: Nor is there a target that they could be held against.
        AboveCeilingError: A record is above a roof.
        BadInput: There is no such version.
    """
    root = str(workspace.layout.root)
    state, look_up = workspace.state(), partial(product_of, registry)
    platform = state.created.platform
    records = records_of(state, version, lambda machine: look_up(machine.device) == platform, root)
    if records is None and not workspace.stop_conditions().conditions:
        raise UnknownData(
            "every target is UNKNOWN", where=root, fix="add the rows to a wiki, then kb workspace set", code="KB130"
        )
    if records is None:
        what = "there are no measurement records" if version is None else f"version {version} has no records"
        cut = [name for name, bench in state.benches.items() if bench.records and not is_whole(state, bench)]
        what += f" but those of {', '.join(cut)}, which was cut off" if cut else ""
        raise FindingError(what, where=root, fix=f"run `kb bench kernel {root}` or `kb tune run {root}`", code="KB434")
    return _judge(workspace, records, look_up, _scope(state.campaign, every_shape=every_shape))


def _scope(campaign: CampaignConfirmed | None, *, every_shape: bool) -> Scope:
    """Return what has to be met: as asked for, else what the campaign's policy stops at."""
    policy = campaign.policy if campaign is not None else {}
    return "every_shape" if every_shape or policy.get("stop_scope") == "every_shape" else "aggregate"


def _judge(workspace: Workspace, source: RecordSource, look_up: ProductOf, scope: Scope) -> BenchReport:
    product = look_up(source.machine.device) if source.machine is not None else ""
    return bench_report(workspace.state(), source, product or "", scope, str(workspace.layout.root))


def _kernel_name(plan: BenchPlan) -> str:
    return f"{plan.workspace}/{plan.kernel}" if plan.version is None else f"version {plan.version}"


class _Recorded:
    """Runs and records that the journal keeps."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.name = f"bench-{1 + len(session.state().benches)}"
        self._environment = 0

    def begin(self, plan: BenchPlan, machine: EnvironmentRecorded) -> str:
        kernel = self._session.store.put(plan.source)
        self._environment = self._session.append(BenchStarted(self.name, kernel, plan.version, machine))
        return kernel

    def run(self, kind: JobKind, plan: BenchPlan) -> Outcome:
        job = _job(kind, plan)
        return self._session.execute(f"{self.name}.{kind}.1", self.name, 1, job)

    def keep(self, answer: Timing) -> list[Measured]:
        records = list(
            made_records(self.name, timing_run(self.name), self._environment, answer, self._session.executor.trust)
        )
        for record in records:
            self._session.append(record)
        return records


class _Unrecorded:
    """Runs and records that are forgotten."""

    name = "unrecorded"

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def begin(self, _: BenchPlan, __: EnvironmentRecorded) -> str:
        return ""

    def run(self, kind: JobKind, plan: BenchPlan) -> Outcome:
        job = _job(kind, plan)
        return self._executor.run(job, lambda *_: None)

    def keep(self, answer: Timing) -> list[Measured]:
        return list(made_records(self.name, "", 0, answer, self._executor.trust))


def _job(kind: JobKind, plan: BenchPlan) -> Job:
    own = plan.options
    return job_of(kind, plan.problem, own.settings, own.repeats, JobFiles(plan.source, plan.reference))


def _measure(
    plan: BenchPlan,
    executor: Executor,
    look_up: ProductOf,
    keeper: _Recorded | _Unrecorded,
    say: Callable[[str], None],
) -> RecordSource:
    asked = Job("environment", limits=RunLimits(plan.options.settings.run_s))
    machine = read_machine(executor, asked, look_up)
    say(f"device {machine.device}")
    kernel = keeper.begin(plan, machine)
    checked = _answer(keeper.run("check", plan), plan)
    wrong = checked.build_error or checked.problem if isinstance(checked, Check) else "there is no check"
    if wrong or not (isinstance(checked, Check) and checked.passed):
        raise WrongKernelError(wrong or "it was not shown to be right", where=_kernel_name(plan))
    say(f"right on {checked.checks} checks; timing")
    timed = _answer(keeper.run("timing", plan), plan)
    if not isinstance(timed, Timing) or timed.problem:
        why = timed.problem if isinstance(timed, Timing) else "there are no times"
        raise WrongKernelError(why, where=_kernel_name(plan), fix="nothing was measured")
    records = keeper.keep(timed)
    return RecordSource("bench", keeper.name, plan.version, kernel, standing(records), machine)


def _answer(outcome: Outcome, plan: BenchPlan) -> Answer | None:
    refuse_missing(outcome.result)
    ran = Ran(outcome.outcome, outcome.result, "", outcome.printed)
    failure = ran.failure() or ran.unable
    if failure:
        raise WrongKernelError(failure, where=_kernel_name(plan), fix="nothing was measured")
    return outcome.result

"""A folder of problems as one suite: each from its file to a checked, timed baseline, and one table of all.

A problem gets a workspace of its own; its baseline is taken by `kb tune run` in a child, so that nothing that a problem
or a candidate does ends the suite. What has a baseline already is read, not measured again; another product, or a
problem or candidate that was edited, is another workspace and another result.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kopt_kb.analysis.frameworks import framework_of
from kopt_kb.analysis.roofline.recorded import roof_uses
from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.base.files import read_json
from kopt_kb.launch.problems.capsule import Capsule
from kopt_kb.launch.problems.described import stated_problem
from kopt_kb.launch.problems.find import find_problems, read_problem
from kopt_kb.packs.problem_sets.suite_rows import Suite, SuiteRow, SuiteVerdict
from kopt_kb.packs.problem_sets.suite_store import SuiteStore, job_key, write_whole
from kopt_kb.problem.problem import Problem
from kopt_kb.problem.shapes import format_shape
from kopt_kb.sandbox.process import ChildLimits, environment, run
from kopt_kb.tuning.admission import admit
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.targets.rates import short
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.workspace import Workspace

__all__ = ["SuiteOptions", "run_suite"]

_SOLUTIONS = ("triton", "pytorch")
_SUFFIXES = (".py", ".cu")


@dataclass(frozen=True, slots=True)
class SuiteOptions:
    """How a suite is run.

    Attributes:
        platform: Exact product.
        out: Folder of the workspaces and results.
        kernels: Folder of candidates, named as their problems are; None: those beside the problems.
        framework: Language of the candidates; empty: as their suffix and decorators say, else Triton.
        words: Further words of `kb tune run`, such as --simulate.
        wikis: Wiki folders.
        shapes: Most shapes of a problem; 0: all.
        seconds: After which no further problem is begun; 0: no limit.
        run_s: Most seconds of one problem.
        names: Parts of names; a problem without any of them is left out; empty: all are taken.
    """

    platform: str
    out: Path
    kernels: Path | None = None
    framework: str = ""
    words: tuple[str, ...] = ()
    wikis: tuple[Path, ...] = ()
    shapes: int = 0
    seconds: float = 0.0
    run_s: float = 900.0
    names: tuple[str, ...] = ()


def run_suite(folder: Path, options: SuiteOptions, registry: Registry, say: Callable[[str], None]) -> Suite:
    """Return what became of each problem below a folder.

    Args:
        folder: With problems in any form.
        options: How they are run.
        registry: Of the wiki.
        say: Takes a line before each problem.

    Raises:
        BadInput: The folder holds no problem, or the platform is unknown.
    """
    found = [
        problem
        for problem in find_problems(folder)
        if not options.names or any(part in str(problem) for part in options.names)
    ]
    if not found:
        fix = "kb suite --help says what is taken"
        raise BadInput("holds no problem in a known form", where=str(folder), fix=fix, code="KB116")
    run = _Run(options, registry, registry.platform(options.platform).id, SuiteStore(options.out / "results"))
    begin, rows, left = time.monotonic(), dict[Path, tuple[SuiteRow, ...]](), list[str]()
    waiting = list[_Job]()
    for number, path in enumerate(found, 1):
        if options.seconds and time.monotonic() - begin > options.seconds:
            left.append(str(path))
            continue
        shown = f"{number}/{len(found)} {path.relative_to(folder) if path.is_relative_to(folder) else path}"
        job = run.job(path)
        done = run.rows_of(job)
        say(shown if done is not None else f"{shown}: another suite is at it")
        if done is None:
            waiting.append(job)
        else:
            rows[path] = done
        run.write(left)
    for job in waiting:
        rows[job.path] = run.rows_of(job, options.run_s) or (run.refused(job, "another suite has not ended it"),)
    run.write(left)
    return Suite(run.platform, tuple(row for path in found for row in rows.get(path, ())), tuple(left))


@dataclass(frozen=True, slots=True)
class _Job:
    """A problem that was read, and the key of its result; without a capsule it is refused for a reason."""

    path: Path
    key: str
    capsule: Capsule | None = None
    kernel: Path | None = None
    reason: str = ""

    @property
    def folder(self) -> str:
        """Name of its workspace: another product, problem or candidate has another one."""
        return f"{self.capsule.name[:60].strip('_') if self.capsule is not None else self.path.stem}_{self.key}"


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of a suite over a folder."""

    options: SuiteOptions
    registry: Registry
    platform: str
    store: SuiteStore
    keys: list[str] = field(default_factory=list)

    def job(self, path: Path) -> _Job:
        """Return a problem with the key of what is to be found of it."""
        options = self.options
        of = (self.platform, options.framework, json.dumps(options.words), str(options.shapes), path.read_bytes())
        try:
            capsule = read_problem(path)
            kernel = _kernel_of(path, capsule, options)
        except KoptError as error:
            job = _Job(path, job_key(*of), reason=_line(error))
        else:
            job = _Job(
                path, job_key(*of, capsule.text, kernel.read_bytes() if kernel is not None else b""), capsule, kernel
            )
        self.keys.append(job.key)
        return job

    def rows_of(self, job: _Job, wait_s: float = 0.0) -> tuple[SuiteRow, ...] | None:
        """Return the rows of a problem, kept too; None while another suite works on it."""
        with self.store.claim(job.key, wait_s) as mine:
            if not mine:
                return None
            rows = tuple(self._rows(job))
            self.store.write(self.platform, job.key, rows)
            return rows

    def refused(self, job: _Job, reason: str) -> SuiteRow:
        """Return the one row of a problem that can't be judged."""
        if job.capsule is None:
            return SuiteRow(job.path.stem, "unknown", str(job.path), "refused", reason)
        return SuiteRow(job.capsule.name, job.capsule.source, str(job.path), "refused", reason)

    def write(self, left: Sequence[str]) -> None:
        """Write the table of all results of this product that the folder holds, by whichever suite."""
        rows = self.store.fold(self.platform, self.keys)
        there = {row.file for row in rows}
        suite = Suite(self.platform, rows, tuple(one for one in left if one not in there))
        write_whole(self.options.out / "suite.json", json.dumps(suite.to_json(), indent=1))

    def _rows(self, job: _Job) -> Iterable[SuiteRow]:
        """Return the rows of one problem; whatever is wrong with it is a row."""
        if job.capsule is None:
            return [self.refused(job, job.reason)]
        layout = Layout(self.options.out / f"kernel_opt_{job.folder}")
        try:
            if not layout.journal.is_file():
                self._create(job, job.capsule)
            state = Workspace.open(layout.root).state()
            if state.route == "kernel" and not any(one.closed for one in state.rounds):
                if _baseline(layout, self.options):
                    shutil.rmtree(layout.root)
                    self._create(job, job.capsule)
                    _baseline(layout, self.options)
                state = Workspace.open(layout.root).state()
        except KoptError as error:
            return [self.refused(job, _line(error))]
        return _rows(self.refused(job, ""), state)

    def _create(self, job: _Job, capsule: Capsule) -> None:
        """Make a problem's workspace; raises what `kb init` does."""
        task = _task(_first(capsule, self.options), job.kernel, self.options)
        admit(task, self.registry)
        Workspace.create(self.options.out, job.folder, task, self.registry)


def _first(capsule: Capsule, options: SuiteOptions) -> Capsule:
    """Return the problem with its first shapes, as many as are wanted."""
    most = options.shapes
    if not most or len(capsule.shapes) <= most:
        return capsule
    return replace(capsule, shapes=capsule.shapes[:most], workloads=capsule.workloads[:most])


def _kernel_of(path: Path, capsule: Capsule, options: SuiteOptions) -> Path | None:
    """Return a problem's candidate: in the folder of kernels by its name, else beside it, else none."""
    names = (path.stem, path.parent.name, capsule.name)
    if options.kernels is not None:
        return _first_file(options.kernels / name for name in names)
    if path.suffix == ".py":
        return _first_file(path.with_name(f"{path.stem}{end}") for end in ("_new", "_kernel"))
    return _first_file([path.parent / "kernel"]) or _solution(path, options.out)


def _first_file(stems: Iterable[Path]) -> Path | None:
    """Return the first candidate of that name, in any language that a kernel file can be written in."""
    files = (stem.with_name(f"{stem.name}{suffix}") for stem in stems for suffix in _SUFFIXES)
    return next((one for one in files if one.is_file()), None)


def _solution(path: Path, out: Path) -> Path | None:
    """Return the one Python file of a solution beside a definition, written out."""
    for file in sorted(path.parent.glob("solution*.json")):
        data = read_json(file)
        spec, sources = data.get("spec", {}), data.get("sources", [])
        if len(sources) == 1 and set(spec.get("languages", ())) & set(_SOLUTIONS):
            target = out / "solutions" / f"{path.parent.name}.py"
            target.parent.mkdir(exist_ok=True)
            target.write_text(str(sources[0]["content"]), encoding="utf-8")
            return target
    return None


def _task(capsule: Capsule, kernel: Path | None, options: SuiteOptions) -> Task:
    stated = stated_problem(capsule)
    return Task(
        platform=options.platform,
        framework=""
        if kernel is None
        else options.framework or framework_of(kernel.name, kernel.read_bytes()) or "Triton",
        kernel_demo=kernel,
        problem=stated.problem,
        allow_unknown=True,
        route="kernel" if kernel is not None else "roofline",
        reference=stated.reference,
    )


def _baseline(layout: Layout, options: SuiteOptions) -> bool:
    """Take a workspace's baseline in a child; what it came to stands in the journal.

    Returns:
        Whether it was begun on another machine, where alone it could go on: it has to begin anew.
    """
    words = ["tune", "run", str(layout.root), "--yes", "--budget-rounds", "0", *options.words]
    wikis = [word for one in options.wikis for word in ("--wiki", str(one))]
    command = [sys.executable, "-m", "kopt_kb", *words, *wikis]
    done = run(command, env=environment(), limits=ChildLimits(wall_s=options.run_s, grace_s=10.0))
    (layout.root / "notes" / "suite.txt").write_bytes(done.stderr[-65536:] + done.stdout[-65536:])
    return b"[KB429]" in done.stderr


# ---- rows ------------------------------------------------------------------------------------------


def _rows(start: SuiteRow, state: WorkspaceState) -> Iterator[SuiteRow]:
    first = state.first or next(iter(state.rounds), None)
    verdict, reason = _verdict(state, first)
    records = first.own_records if first is not None else {}
    for shape, workload in zip(state.problem.shape_names, _workloads(state.problem), strict=True):
        roof = next((one for one in state.rooflines if one.shape == shape), None)
        record = records.get(shape)
        least = [] if roof is None else [roof.least_s(one.name, "documented") for one in roof.ceilings]
        uses = roof_uses(roof, record.median_s) if roof is not None and record is not None else ()
        used = max(uses, key=lambda one: one.documented_share or 0.0, default=None)
        yield replace(
            start,
            shape=shape,
            workload=workload,
            verdict=verdict,
            reason=reason,
            median_s=None if record is None else record.median_s,
            least_s=max((float(one) for one in least if one is not None), default=None),
            share=None if used is None or state.simulated else short(used.documented_share),
            roof="" if used is None else used.name,
            work=_work(state.problem, shape),
            trust="" if record is None else record.trust,
            simulated=state.simulated,
        )


def _verdict(state: WorkspaceState, first: Round | None) -> tuple[SuiteVerdict, str]:
    """Return what was found of the candidate, and why it is not correct."""
    if state.route == "roofline":
        return "no kernel", "no candidate was found for it: targets alone"
    if first is None or not first.closed:
        return "not judged", "its baseline did not end; notes/suite.txt in its workspace says more"
    failed = next((one for one in first.gates.items() if one[1].result != "pass"), None)
    passed = first.gates.get("correctness")
    if passed is not None and passed.result == "pass":
        return "correct", ""
    if failed is None:
        return "not judged", "no gate was judged"
    name, gate = failed
    return ("wrong" if gate.result == "fail" else "not judged"), f"{name}: {gate.reason}"


def _workloads(problem: Problem) -> Sequence[str]:
    names = problem.own.workloads if problem.own is not None else ()
    return names if len(names) == len(problem.shapes) else [""] * len(problem.shapes)


def _work(problem: Problem, shape: str) -> str:
    own = problem.own
    if own is None:
        return ""
    found = next(one for one in own.works if format_shape(one.shape) == shape)
    return f"{own.origin}, {found.exactness()}"


def _line(error: KoptError) -> str:
    return " ".join(str(error).split())[:300]

"""A folder of problems as one suite: each from its file to a checked, timed baseline, and one table of all.

A problem gets a workspace of its own; its baseline is taken by `kb tune run` in a child, so that nothing that a problem
or a candidate does ends the suite. What has a baseline already is read, not measured again.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

from kopt_kb.analysis.frameworks import framework_of
from kopt_kb.analysis.roofline.recorded import roof_uses
from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.base.files import read_json
from kopt_kb.base.wire import Wire
from kopt_kb.launch.problems.capsule import Capsule
from kopt_kb.launch.problems.described import stated_problem
from kopt_kb.launch.problems.find import find_problems, read_problem
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

__all__ = ["Suite", "SuiteOptions", "SuiteRow", "SuiteVerdict", "run_suite"]

SuiteVerdict = Literal["correct", "wrong", "not judged", "no kernel", "refused"]
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


@dataclass(frozen=True, slots=True)
class SuiteRow(Wire):
    """One shape of one problem.

    Attributes:
        problem: Name of the problem.
        source: Form of its file.
        file: The file.
        shape: As written; empty where the problem was refused.
        workload: Name that the source has for the shape.
        verdict: What was found of the candidate.
        reason: Why it is not correct; empty where it is.
        median_s: Time of the baseline.
        least_s: Least time under the documented roofs.
        share: Of the roof that binds, documented; None without a measured time.
        roof: Its name.
        work: Whether the work is declared or counted, and its exactness.
        trust: Level of the judge.
        simulated: Whether the time is of a made-up model.
    """

    problem: str
    source: str
    file: str
    verdict: SuiteVerdict
    reason: str = ""
    shape: str = ""
    workload: str = ""
    median_s: float | None = None
    least_s: float | None = None
    share: float | None = None
    roof: str = ""
    work: str = ""
    trust: str = ""
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class Suite(Wire):
    """All rows, and problems that no time was left for."""

    WIRE: ClassVar = ("platform", "problems", "correct", "rows", "left_out")
    platform: str
    rows: tuple[SuiteRow, ...]
    left_out: tuple[str, ...] = ()

    @property
    def problems(self) -> int:
        """How many were tried."""
        return len({(one.file, one.problem) for one in self.rows})

    @property
    def correct(self) -> int:
        """How many have a correct candidate on every shape."""
        wrong = {(one.file, one.problem) for one in self.rows if one.verdict != "correct"}
        return self.problems - len(wrong)


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
    platform = registry.platform(options.platform).id
    options.out.mkdir(parents=True, exist_ok=True)
    begin, rows, left = time.monotonic(), list[SuiteRow](), list[str]()
    for number, path in enumerate(found, 1):
        if options.seconds and time.monotonic() - begin > options.seconds:
            left.append(str(path))
            continue
        say(f"{number}/{len(found)} {path.relative_to(folder) if path.is_relative_to(folder) else path}")
        rows += _problem(path, options, registry)
        suite = Suite(platform, tuple(rows), tuple(left))
        (options.out / "suite.json").write_text(json.dumps(suite.to_json(), indent=1) + "\n", encoding="utf-8")
    return Suite(platform, tuple(rows), tuple(left))


def _problem(path: Path, options: SuiteOptions, registry: Registry) -> list[SuiteRow]:
    """Return the rows of one problem; whatever is wrong with it is a row."""
    try:
        capsule = read_problem(path)
    except KoptError as error:
        return [SuiteRow(path.stem, "unknown", str(path), "refused", _line(error))]
    name = capsule.name[:60].strip("_")
    layout = Layout(options.out / f"kernel_opt_{name}")
    refused = SuiteRow(capsule.name, capsule.source, str(path), "refused")
    try:
        if not layout.journal.is_file():
            _create(path, capsule, name, options, registry)
        state = Workspace.open(layout.root).state()
        if state.route == "kernel" and not any(one.closed for one in state.rounds):
            if _baseline(layout, options):
                shutil.rmtree(layout.root)
                _create(path, capsule, name, options, registry)
                _baseline(layout, options)
            state = Workspace.open(layout.root).state()
    except KoptError as error:
        return [replace(refused, reason=_line(error))]
    return list(_rows(refused, state))


def _create(path: Path, capsule: Capsule, name: str, options: SuiteOptions, registry: Registry) -> None:
    """Make a problem's workspace; raises what `kb init` does."""
    task = _task(_first(capsule, options), _kernel_of(path, capsule, options), options)
    admit(task, registry)
    Workspace.create(options.out, name, task, registry)


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

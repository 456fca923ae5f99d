"""`kb init --project FILE`: everything a workspace needs out of a project file; flags may override."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kopt_kb.analysis.frameworks import framework_named
from kopt_kb.analysis.roofline.targets import parse_performance_target
from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_input
from kopt_kb.cli.kit.consent import require
from kopt_kb.launch.project.backends import language_of
from kopt_kb.launch.project.bundle import bundle_of
from kopt_kb.launch.project.file import ProjectFile, line_of, read_project
from kopt_kb.launch.project.paths import Selection, hash_files, select
from kopt_kb.launch.project.toml_file import ProjectFileError
from kopt_kb.problem.problem import Problem
from kopt_kb.sandbox.trust import Grant
from kopt_kb.workspace.task import ProjectCapture, Task

__all__ = ["ALLOWED", "task_of_project"]


def task_of_project(args: argparse.Namespace, options: dict[str, str]) -> Task:
    """Return the task that a project file and the flags describe; with `shapes = "all"` its benchmark is run once.

    Raises:
        ProjectFileError: The file can't be used, or a file it names is not as it says.
        BadInput: The operation has no such shape, type or step, or a flag is missing.
    """
    file = Path(args.project).absolute()
    data = _read(file)
    project = read_project(data, str(file))
    root = (file.parent / project.root).resolve()
    _ask_for(args, project)
    if args.accept_reported and "outputs" in project.commands:
        what = "--accept-reported, and the project has its results compared: [commands] outputs"
        raise BadInput(what, where="kb init --project", fix="leave it out", code="KB103")
    chosen = select(project, root)
    framework = _framework(args, project)
    given = {"platform": args.platform, "framework": framework}
    missing = [name for name, value in given.items() if not value]
    if missing:
        names = ", ".join(f"--{one}" for one in missing)
        raise BadInput(
            f"missing {names}", where="kb init", fix="nothing was created; give them and run again", code="KB102"
        )
    aim = args.performance_target if args.performance_target is not None else project.scoring.performance_target
    own = args.performance_target is None
    place = line_of(data, str(file), "scoring", "performance_target") if own else "--performance-target"
    parse_performance_target(aim, place)
    shapes = tuple(args.shape) or project.shapes or _printed(project, root, chosen)
    problem = _problem(args, project, shapes, options)
    return Task(
        platform=args.platform,
        framework=framework,
        kernel_demo=root / project.kernel_source,
        problem=problem,
        arch=args.arch or "",
        reference_project=args.reference_project or str(root),
        notes=args.notes,
        allow_unknown=args.allow_unknown,
        min_grade=args.min_grade,
        aim=aim,
        route="kernel",
        project=ProjectCapture(file, root, data, compares="outputs" in project.commands),
    )


ALLOWED = ("network", "variables")
"""What a project file may ask for besides its commands, which the user named with the file."""


def _ask_for(args: argparse.Namespace, project: ProjectFile) -> None:
    """Show what a project's commands would have of this machine besides its files, and ask once.

    Raises:
        BadInput: It asks for the network or variables, and nobody allowed them.
    """
    network = (Grant("network", ""),) if project.network and "network" not in args.allow else ()
    variables = project.environment if "variables" not in args.allow else ()
    require(Path(project.where), (*network, *(Grant("variable", name) for name in variables)), "kb init --project")


def _framework(args: argparse.Namespace, project: ProjectFile) -> str:
    """Return the language: as given, else the one that the project's backend is written in."""
    spoken, given = language_of(project.campaign.backend), args.framework or ""
    if spoken and given and framework_named(given) != framework_named(spoken):
        what = f"--framework {given}, and the backend {project.campaign.backend} is written in {spoken}"
        raise BadInput(what, where=project.where, fix="leave --framework out", code="KB103")
    return given or spoken


def _read(file: Path) -> bytes:
    return read_input(file)


def _printed(project: ProjectFile, root: Path, chosen: Selection) -> tuple[str, ...]:
    """Return the shapes the benchmark prints, by running it once on a copy of the project."""
    from kopt_kb.launch.project.executor import ProjectExecutor

    command = project.commands["benchmark"]
    print(f"kb: running the benchmark once for its shapes: {command.shown()}", file=sys.stderr, flush=True)
    executor = ProjectExecutor(project, root)
    try:
        return executor.shapes(bundle_of(root, chosen.editable), hash_files(root, chosen.protected))
    finally:
        executor.close()


def _problem(
    args: argparse.Namespace,
    project: ProjectFile,
    shapes: tuple[str, ...],
    options: dict[str, str],
) -> Problem:
    op, dtype = args.op or project.op, args.dtype or project.dtype
    asked = {**project.options, **options}
    combined = project.scoring.metric == "combined"
    if combined and asked.setdefault("step", "forward_backward") != "forward_backward":
        raise BadInput(
            "metric = combined counts a whole step", where=project.where, fix="leave option step out", code="KB103"
        )
    try:
        problem = Problem.of(op, shapes, dtype, options=asked)
    except BadInput as error:
        lacks = combined and "'step'" in error.what
        what = f"the backward pass of {op} has no closed form here" if lacks else error.what
        fix = "score the forward pass alone, metric = forward" if lacks else error.fix
        raise error.restated(what=what, where=project.where, fix=fix) from error
    known = problem.shape_names
    for key in ("core_shapes", "representative", "skewed"):
        strange = next((one for one in getattr(project.scoring, key) if one not in known), None)
        if strange is not None:
            fix = f"the shapes are {', '.join(known)}"
            raise ProjectFileError(f"[scoring] {key} names {strange}", where=project.where, fix=fix)
    return problem

"""Before a workspace is made: what its first gate would refuse is refused here, with the way out."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.analysis.frameworks import framework_named, functions_of, vendors_of
from kopt_kb.base.errors import BadInput
from kopt_kb.doors.language import plain_name
from kopt_kb.doors.languages import language_named, languages
from kopt_kb.doors.table import needed_pack
from kopt_kb.launch.kernel.declared import kernel_name
from kopt_kb.launch.kernel.other_language import in_other_language
from kopt_kb.launch.problems.find import source_of
from kopt_kb.tuning.lint import lint_source
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.route import LOGIC, choose_route
from kopt_kb.workspace.task import Task

__all__ = ["admit"]


def admit(task: Task, registry: Registry) -> None:
    """Let a task pass whose kernel the loop could begin with.

    Raises:
        BadInput: The framework can't build for the platform, the kernel is in another language, or the lint of the
            baseline would refuse it.
    """
    _check_framework(task, registry)
    demo = task.kernel_demo
    if demo is None or task.project is not None:
        return
    source = task.demo()
    if demo.suffix == ".toml" or source[:4] == b"\x7fELF":
        fix = (
            "name the .cu or .py that the header stands in; machine code is checked and timed by kb record, kb verify "
            "record and kb bench record"
        )
        raise BadInput("no source that a workspace could edit", where=str(demo), fix=fix, code="KB319")
    route = choose_route(task.route, demo, source, task.framework, has_reference=bool(task.reference))
    if route != "kernel":
        return
    if kernel_name(source) == "kernel.cu" and framework_named(task.framework) is not None:
        what = f"is CUDA C++, and --framework is {task.framework}, whose kernels are Python"
        raise BadInput(what, where=f"{demo}:1", fix="give --framework CUDA, or HIP for a product of AMD", code="KB319")
    named = framework_named(task.framework)
    if named is not None and named.start == "subscript":
        other = in_other_language(source, demo, task.framework)
        if other is not None:
            raise other
    own = task.problem.own
    entry = (own.entry or "") if own is not None else ""
    findings = lint_source(source, framework=task.framework, foreign=own is not None, entry=entry)
    if findings:
        first = findings[0]
        raise BadInput(first.what, where=f"{demo}:{first.line}", fix=_way_out(source, demo), code="KB319")


_OTHERS = ("", "python", "pytorch", "other")
"""What no compiler of kernels is asked about: a project's own language, and one that kb can't recognise."""


def _check_framework(task: Task, registry: Registry) -> None:
    if plain_name(task.framework) not in _OTHERS and language_named(task.framework) is None:
        needs = needed_pack(task.framework)
        known = f"one of {', '.join(one.name for one in languages())}; Other for one that kb can't recognise"
        fix = "install the pack, or name another framework" if needs else known
        what = f"{task.framework} {needs}" if needs else f"unknown framework {task.framework!r}"
        raise BadInput(what, where="--framework", fix=fix, code="KB319")
    identity = registry.platform(task.platform).identity
    vendors = vendors_of(task.framework)
    if vendors and identity.vendor not in vendors:
        raise BadInput(
            f"{task.framework} builds for {' and '.join(vendors)} only, {identity.platform} is of {identity.vendor}",
            where="--framework",
            fix="name another framework, Triton for example, or another platform",
            code="KB319",
        )


def _way_out(source: bytes, demo: Path) -> str:
    """Return what to do with a file that is no kernel."""
    if demo.suffix in {".cu", ".cuh", ".hip"} or b"__global__" in source:
        return "begin the file with a /* kb … */ header that says how it is launched (docs/launch_records.md)"
    try:
        functions = functions_of(source)
    except (SyntaxError, ValueError):
        return "name a kernel's Python file, or a CUDA C++ file with a /* kb … */ header"
    form = source_of(demo)
    if form is not None:
        return f"it is {form.what}: give it as --problem {demo}, and a kernel, if there is one, as --kernel-demo"
    if set(LOGIC) <= functions:
        return "it is PyTorch logic: leave --route out, or give --route pytorch, and Stage 1 starts from it"
    return (
        "kb verify source FILE lists all of it; PyTorch logic with make_inputs and reference, or a problem given by "
        "--problem, starts at Stage 1"
    )

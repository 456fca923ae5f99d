"""What is found out about a project before it is tuned: that its commands use the copy, and which shapes it has."""

from __future__ import annotations

from collections.abc import Mapping

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.project.bundle import files_of
from kopt_kb.launch.project.file import ProjectFile
from kopt_kb.launch.project.results_csv import CsvProblemError, read_shapes
from kopt_kb.launch.project.running import CommandFailedError, Commands, RunningJob

__all__ = ["broken", "printed_shapes", "unused_copy"]

_BROKEN = {
    True: 'raise RuntimeError("kb: this kernel is broken on purpose")\n',
    False: "#error kb: broken on purpose\n)]}\n",
}
"""Text of a kernel that can't work, in Python and in any other language."""


def broken(project: ProjectFile, files: Mapping[str, str]) -> dict[str, str]:
    """Return a version's files with a kernel that can't work."""
    return {**files, project.kernel_source: _BROKEN[project.is_python]}


def unused_copy(commands: Commands, session: RunningJob) -> str:
    """Return why the commands don't seem to use the copy: they pass although its kernel is broken."""
    job, project = session.job, commands.copies.project
    source = project.kernel_source
    copy = commands.copies.spare(broken(project, files_of(job.candidate)), job.body.protected)
    try:
        commands.build(session, copy)
        copy.built = True  # what it failed to build is not built again
        for text, reason in (
            ("test", commands.run(session, copy, project.commands["test"])),
            ("benchmark", commands.measure(session, copy, "broken", ())[0]),
        ):
            if not reason:
                return (
                    f"the {text} passes although {source} is broken: it does not use the copy of the project "
                    "(an installed package, or tests that are skipped?); docs/projects.md says what to do"
                )
    finally:
        commands.copies.remove(copy)
    session.say(f"test and benchmark fail, as they should, when {source} is broken")
    return ""


def printed_shapes(commands: Commands, session: RunningJob) -> tuple[str, ...]:
    """Return the shapes the benchmark prints, after one build and one run of the candidate.

    Raises:
        BadInput: It does not run, or its CSV is not as the project file says.
    """
    project, job = commands.copies.project, session.job
    try:
        copy = commands.copy(job, job.candidate)
        reason, report = commands.benchmark(session, copy, "baseline")
        if not reason:
            return read_shapes(report, project.csv)
    except (CommandFailedError, CsvProblemError) as error:
        reason = error.what
    fix = "list the shapes in [project] shapes, or make the benchmark run here"
    raise BadInput(reason, where=project.where, fix=fix, code="KB412")

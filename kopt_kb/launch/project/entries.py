"""Whether a project's results come from what its benchmark times: the same functions of the candidate's files.

Calls that come from outside into editable Python files are followed while the baseline's benchmark runs, and again
while `outputs` does. Where no such call is seen, as of a kernel in another language, both have to be one program.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kopt_kb.launch.project.bundle import files_of
from kopt_kb.launch.project.command import ProjectCommand
from kopt_kb.launch.project.probes import broken
from kopt_kb.launch.project.running import Commands, RunningJob

__all__ = ["unlike_benchmark"]

_SEEN = "kb_entered.txt"
"""File of a copy that calls are written to."""

_MOST_BYTES, _MOST_NAMED = 1 << 20, 3

_FOLLOW = """

def _kb_follow(own={own!r}, editable={editable!r}):
    import os
    import sys
    import threading

    root = os.path.realpath(__file__).removesuffix(own)
    files = {{root + one: one for one in editable}}
    seen, places = set(), {{}}

    def place(code):
        if code not in places:
            places[code] = files.get(os.path.realpath(code.co_filename))
        return places[code]

    def follow(frame, event, _):
        here = place(frame.f_code) if event == "call" and frame.f_code.co_name != "<module>" else None
        if here is None or frame.f_back is not None and place(frame.f_back.f_code):
            return
        name = here + ":" + getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
        if name not in seen:
            seen.add(name)
            with open(root + {seen!r}, "a") as file:
                file.write(name + "\\n")

    threading.setprofile(follow)
    sys.setprofile(follow)


_kb_follow()
"""
"""Added behind the last line of an editable file, so that its own lines keep their numbers."""


def unlike_benchmark(commands: Commands, session: RunningJob, inputs: Path, outputs: Path) -> str:
    """Return why the results are not known to be of what the benchmark times, or nothing.

    Args:
        commands: Of the project.
        session: The job of the baseline.
        inputs: Cases, as `outputs` was given them.
        outputs: A new folder with one of each case's name.
    """
    project, files = commands.copies.project, files_of(session.job.candidate)
    if not _fails(commands, session, broken(project, files), inputs, outputs):
        return f"outputs leaves results although {project.kernel_source} is broken: it does not use the copy"
    timed, compared = _entries(commands, session, files, inputs, outputs) if project.is_python else (set(), set())
    if not timed:
        return _other_program(project.commands)
    alone = sorted(timed - compared)
    if alone:
        more = f" and {len(alone) - _MOST_NAMED} more" if len(alone) > _MOST_NAMED else ""
        return (
            f"the benchmark calls {', '.join(alone[:_MOST_NAMED])}{more}, which outputs does not: what is timed is not "
            "what is compared; call the same in both, or keep what only the benchmark needs in a protected file"
        )
    session.say(f"outputs calls what the benchmark calls: {', '.join(sorted(timed))[:500]}")
    return ""


def _fails(commands: Commands, session: RunningJob, files: Mapping[str, str], inputs: Path, outputs: Path) -> bool:
    """Return whether a copy with these files leaves no result, or ends with an error."""
    copy = commands.copies.spare(files, session.job.body.protected)
    try:
        why = commands.build(session, copy) or commands.outputs(session, copy, inputs, outputs)
        return bool(why) or not any(outputs.glob("*/out.json"))
    finally:
        commands.copies.remove(copy)


def _entries(
    commands: Commands, session: RunningJob, files: Mapping[str, str], inputs: Path, outputs: Path
) -> tuple[set[str], set[str]]:
    """Return the functions of editable files that the benchmark calls, and those that outputs calls."""
    followed = {
        path: text + (_FOLLOW.format(own=path, editable=sorted(files), seen=_SEEN) if path.endswith(".py") else "")
        for path, text in files.items()
    }
    copy = commands.copies.spare(followed, session.job.body.protected)
    try:
        seen = copy.folder / _SEEN
        commands.benchmark(session, copy, "followed")
        timed = _read(seen)
        commands.outputs(session, copy, inputs, outputs)
        return timed, _read(seen)
    finally:
        commands.copies.remove(copy)


def _read(seen: Path) -> set[str]:
    """Return what was written of calls, and remove it."""
    if not seen.is_file() or seen.stat().st_size > _MOST_BYTES:
        return set()
    lines = seen.read_text(errors="replace").splitlines()
    seen.unlink()
    return set(lines)


def _other_program(commands: Mapping[str, ProjectCommand]) -> str:
    timed, compared = commands["benchmark"].program, commands["outputs"].program
    if timed == compared:
        return ""
    return (
        f"outputs runs {compared}, the benchmark {timed}, and no call into an editable Python file was seen: let one "
        "program do both, so that what is compared is what is timed"
    )

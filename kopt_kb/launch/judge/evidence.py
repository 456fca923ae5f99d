"""A profiler's report of a stored record: its replay under ncu, its launches and no others.

ncu repeats each launch once a pass and restores memory between them, so the outputs are those of one launch and are
compared like any others: a kernel that behaves differently under a profiler is no evidence. The page is printed while
it records: no second start of ncu imports a report.
"""

from __future__ import annotations

import math
import re
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.profile.launch import ProfiledLaunch as Profiled
from kopt_kb.analysis.profile.names import function_name
from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.base.errors import KoptError
from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.launch.judge.judging import Profile
from kopt_kb.launch.machine.profile import Options, ProfilePlan, ProfilerFailed, execute, plan
from kopt_kb.launch.record.judge import ReplayJob, ReplayVerdict, load_record
from kopt_kb.launch.record.model import Launch, LaunchRecord
from kopt_kb.launch.record.profiled import VERDICT
from kopt_kb.sandbox.deadline import left_s

__all__ = ["MOST_LAUNCHES", "PROFILED", "mismatch", "profile_record", "unavailable"]

PROFILED = (sys.executable, "-P", "-m", "kopt_kb.launch.record.profiled")
"""Command of the process that replays a record while a profiler watches; the job's file follows."""

MOST_LAUNCHES = 16
"""Launches of a record that are profiled: each is repeated some forty times."""

OutputCheck = Callable[[Path], str]
"""Returns why an output's file is wrong; empty when it is right."""


def unavailable() -> str:
    """Return why no record can be profiled here, or nothing."""
    return "" if shutil.which("ncu") else "ncu is not installed, or not on PATH"


def profile_record(
    folder: Path,
    inputs: Mapping[str, str],
    scratch: Path,
    ends_at: float = math.inf,
    *,
    held: OutputCheck = lambda _: "",
    program: Sequence[str] = PROFILED,
    env: Mapping[str, str] | None = None,
) -> Profile:
    """Return ncu's report of one replay of a record, or why there is none.

    Args:
        folder: The record's folder.
        inputs: Input buffer → file with its bytes.
        scratch: An empty folder for job, outputs and report.
        ends_at: Moment of `time.monotonic` after which the profiler is ended.
        held: Compares an output with the reference.
        program: Command of the process that replays.
        env: Variables that lead it to the device.

    Raises:
        BadInput: There is no usable record.
        TimeoutError: It is not over in time.
    """
    why_not = unavailable()
    if why_not:
        return Profile(problem=why_not)
    record, job = load_record(folder), scratch / "job.json"
    entries = tuple(one.entry for one in record.launches)[:MOST_LAUNCHES]
    if not entries:
        return Profile(problem="the record launches no kernel")
    job.write_bytes(canonical(ReplayJob(str(folder.resolve()), dict(inputs), str(scratch)).to_json()))
    names = "|".join(re.escape(one) for one in dict.fromkeys(entries))
    options = Options(kernel=f"^({names})$", launch_count=len(entries), mangled=True, page_only=True)
    try:
        commands, seconds = _recorded((*program, str(job)), scratch, options, ends_at, env or {})
        found = _replay_problem(scratch, record, held)
        report = commands.reports[0]
        found = found or mismatch(record, list(read_profiles(report)))
        text = report.read_text(encoding="utf-8", errors="replace")
        csv = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("=="))
    except KoptError as error:
        return Profile(problem=_why(error, scratch))
    return Profile(problem=found) if found else Profile(csv, entries, seconds=seconds)


def _recorded(
    command: Sequence[str], scratch: Path, options: Options, ends_at: float, env: Mapping[str, str]
) -> tuple[ProfilePlan, dict[str, float]]:
    """Record the command, its page printed at once, else through a report that is imported; return plan and seconds.

    The second way costs another start of ncu; it is for versions that print no whole page while they record.
    """
    commands = plan("ncu", command, scratch / "report", options)
    try:
        seconds = _run(commands, scratch / "report", ends_at, env)
        if _has_rows(commands.reports[0]):
            return commands, seconds
    except ProfilerFailed:
        if (said := _verdict(scratch)) is not None and (said.missing or said.error):
            raise
    (scratch / VERDICT).unlink(missing_ok=True)
    commands = plan("ncu", command, scratch / "report", replace(options, page_only=False))
    return commands, _run(commands, scratch / "report", ends_at, env)


def _has_rows(page: Path) -> bool:
    return page.is_file() and '"Kernel Name"' in page.read_text(encoding="utf-8", errors="replace")


def _run(commands: ProfilePlan, output: Path, ends_at: float, env: Mapping[str, str]) -> dict[str, float]:
    """Run the steps of a plan under these variables; return what each took, in seconds."""
    seconds = {}
    for step in commands.steps:
        begin = time.monotonic()
        alone = replace(commands, steps=(replace(step, environment=env),))
        execute(alone, output, limit_s=0.0 if math.isinf(ends_at) else left_s(ends_at))
        seconds[step.name] = time.monotonic() - begin
    return seconds


def _why(error: KoptError, scratch: Path) -> str:
    """Return an error of the profiler as a reason, with what the replay itself said, which comes first."""
    said = _verdict(scratch)
    words = [said.missing or said.error] if said is not None else []
    return "; ".join([*filter(None, words), f"{error.what}; {error.fix}" if error.fix else error.what])[:500]


def _verdict(scratch: Path) -> ReplayVerdict | None:
    path = scratch / VERDICT
    return read(ReplayVerdict, parse(path.read_bytes(), where=VERDICT), where=VERDICT) if path.is_file() else None


def _replay_problem(scratch: Path, record: LaunchRecord, held: OutputCheck) -> str:
    """Return what was wrong with the replay that the profiler watched, or nothing."""
    verdict = _verdict(scratch)
    if verdict is None:
        return "the replay under the profiler left no verdict"
    said = verdict.missing or verdict.error or "; ".join(verdict.touched)
    wrong = said or next(filter(None, (held(scratch / f"{at}.bin") for at in range(len(record.outputs)))), "")
    return f"under the profiler: {wrong}" if wrong else ""


def mismatch(record: LaunchRecord, profiles: Sequence[KernelProfile]) -> str:
    """Return why a report is not one of the record's launches, in order; empty when it is.

    A launch is matched by the kernel's name, grid and block.
    """
    wanted = record.launches[:MOST_LAUNCHES]
    found = sorted((one for profile in profiles for one in profile.launches), key=_place)
    if len(found) != len(wanted):
        return f"the report has {len(found)} launches, the record {len(wanted)}"
    for number, (asked, seen) in enumerate(zip(wanted, found, strict=True)):
        if not _same(asked, seen):
            shape = f"{seen.name} with grid {_text(seen.grid)} and block {_text(seen.block)}"
            return f"launch {number} of the report is {shape}, of the record {asked.entry} with {_text(asked.grid)}"
    return ""


def _same(asked: Launch, seen: Profiled) -> bool:
    named = seen.name == asked.entry or function_name(seen.demangled or seen.name) == function_name(asked.entry)
    return named and (seen.grid, seen.block) == (asked.grid, asked.block)


def _place(profiled: Profiled) -> tuple[int, str]:
    return (int(profiled.id), "") if profiled.id.isdigit() else (sys.maxsize, profiled.id)


def _text(extents: tuple[int, ...] | None) -> str:
    return "x".join(map(str, extents)) if extents is not None else "unknown"

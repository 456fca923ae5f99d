"""Run a program under the profiler that is installed: command lines, and what a failed run means."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kopt_kb.analysis.profile.amd_counters import counter_passes
from kopt_kb.base.errors import BadInput, FindingError, MissingTool
from kopt_kb.doors.languages import languages
from kopt_kb.sandbox.process import ChildLimits, environment, run

__all__ = [
    "SETS",
    "STEPS",
    "TOOLS",
    "ProfilePlan",
    "ProfileStep",
    "ProfilerFailed",
    "Tool",
    "choose_tool",
    "execute",
    "plan",
]

Tool = Literal["ncu", "rocprofv3"]
TOOLS: tuple[Tool, ...] = ("ncu", "rocprofv3")
SETS = ("basic", "detailed", "full")
STEPS = ("pmc", "att", "asm")
_NO_PERMISSION = "ERR_NVGPUCTRPERM"
_NO_KERNELS = "No kernels were profiled"


class ProfilerFailed(FindingError):
    """The profiler ran and returned an error, or recorded nothing."""

    code = "KB220"


@dataclass(frozen=True, slots=True)
class ProfileStep:
    """One command of a run.

    Attributes:
        name: What it records: `ncu`, `export`, `trace`, `pmc_0`, `att`, `asm`.
        argv: Program and arguments.
        environment: Variables set for it.
        stdout: File that its standard output becomes, None to leave it alone.
        optional: Whether a failure only means that its counters are missing (a counter the device lacks).
    """

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stdout: Path | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class ProfilePlan:
    """What a run does, in order.

    Attributes:
        tool: Profiler.
        steps: Commands.
        reports: Files or folders to read afterwards.
    """

    tool: Tool
    steps: tuple[ProfileStep, ...]
    reports: tuple[Path, ...]


def choose_tool(asked: str | None = None) -> Tool:
    """Return the profiler to use: the one asked for, else the first that is installed.

    Raises:
        MissingTool: It, or any, is not on the PATH.
    """
    wanted = [one for one in TOOLS if asked in {None, one}]
    for one in wanted:
        if shutil.which(one):
            return one
    names = (len(wanted) > 1) * "neither " + " nor ".join(wanted)
    fix = "install Nsight Compute or ROCm's rocprofiler-sdk, or add its folder to PATH; --dry-run --tool NAME prints"
    raise MissingTool(f"{names} is not installed", fix=fix, code="KB121")


@dataclass(frozen=True, slots=True)
class Options:
    """What to record.

    Attributes:
        kernel: Regular expression of the kernels; None records all.
        launch_skip: Matching launches to let pass first (ncu).
        launch_count: Matching launches to record (ncu); None records all.
        section_set: Set of sections (ncu); the verdict needs `full`.
        lock_clocks: Let ncu lock the clocks to base; False leaves them alone.
        mangled: Whether names are those of the code object, in the expression and in the report (ncu).
        target: Compiler target that decides the counters (rocprofv3), such as `gfx942`.
        steps: What to record (rocprofv3): counters, thread traces, assembly.
        ranges: NVTX ranges whose launches are recorded (ncu); empty records all.
        from_start: Whether recording begins with the program; False: when it calls cudaProfilerStart (ncu).
        page_only: Whether the page is printed while recording, without a report that has to be imported for it (ncu).
    """

    kernel: str | None = None
    launch_skip: int = 0
    launch_count: int | None = None
    section_set: str = "full"
    lock_clocks: bool = False
    mangled: bool = False
    target: str = ""
    steps: tuple[str, ...] = ("pmc",)
    ranges: tuple[str, ...] = ()
    from_start: bool = True
    page_only: bool = False


def plan(tool: Tool, command: Sequence[str], output: Path, options: Options | None = None) -> ProfilePlan:
    """Return the commands that profile a program.

    Args:
        tool: Profiler.
        command: Program and arguments.
        output: Folder for the reports.
        options: What to record.

    Raises:
        BadInput: No command, or an option outside its set.
    """
    chosen = options or Options()
    if not command:
        raise BadInput("no command to profile", fix="kb profile run -- PROGRAM ARGUMENTS", code="KB102")
    if chosen.section_set not in SETS:
        raise BadInput(f"unknown set {chosen.section_set!r}", fix=f"one of {', '.join(SETS)}", code="KB106")
    unknown = sorted(set(chosen.steps) - set(STEPS))
    if unknown or not chosen.steps:
        raise BadInput(f"unknown step {''.join(unknown[:1])!r}", fix=f"one of {', '.join(STEPS)}", code="KB106")
    if chosen.launch_skip < 0 or (chosen.launch_count is not None and chosen.launch_count < 1):
        raise BadInput(
            "launches are counted from 0, and at least 1 is recorded",
            fix="--launch-skip 0 --launch-count 1",
            code="KB105",
        )
    if chosen.ranges and tool != "ncu":
        fix = "leave the ranges out, or record with ncu"
        raise BadInput(f"{tool} records no ranges here", where=chosen.ranges[0], fix=fix, code="KB103")
    return _ncu(command, output, chosen) if tool == "ncu" else _rocprof(command, output, chosen)


def _ncu(command: Sequence[str], output: Path, options: Options) -> ProfilePlan:
    report, page = output / "profile.ncu-rep", output / "profile.csv"
    clocks = "base" if options.lock_clocks else "none"
    argv = ["ncu", "--set", options.section_set, "--clock-control", clocks, "--force-overwrite"]
    base = "mangled" if options.mangled else "demangled"
    printed = ["--page", "raw", "--csv", "--print-units", "base"]
    printed += ["--print-kernel-base", base] if options.mangled else []
    argv += ["--target-processes", "all"]
    argv += [*printed, "--log-file", str(page)] if options.page_only else ["--export", str(report)]
    if options.kernel is not None:
        argv += ["--kernel-name-base", base, "--kernel-name", f"regex:{options.kernel}"]
    for name in options.ranges:
        argv += ["--nvtx", "--nvtx-include", f"{name}/"]
    if not options.from_start:
        argv += ["--profile-from-start", "off"]
    if options.launch_skip:
        argv += ["--launch-skip", str(options.launch_skip)]
    if options.launch_count is not None:
        argv += ["--launch-count", str(options.launch_count)]
    recorded = ProfileStep("ncu", (*argv, *command))
    if options.page_only:
        return ProfilePlan("ncu", (recorded,), (page,))
    return ProfilePlan(
        "ncu", (recorded, ProfileStep("export", ("ncu", "--import", str(report), *printed), stdout=page)), (page,)
    )


def _rocprof(command: Sequence[str], output: Path, options: Options) -> ProfilePlan:
    chosen = [] if options.kernel is None else ["--kernel-include-regex", options.kernel]

    def rocprof(name: str, *arguments: str, formats: Sequence[str] = ("csv",), optional: bool = False) -> ProfileStep:
        where = ["--output-format", *formats, "-d", str(output / name)]
        return ProfileStep(name, ("rocprofv3", *arguments, *chosen, *where, "--", *command), optional=optional)

    steps: list[ProfileStep] = []
    reports: list[Path] = []
    if "asm" in options.steps:
        dumps = [pair for language in languages() for pair in language.dumps.items()]
        named = {name: text.replace("{folder}", str(output / "asm")) for name, text in dumps}
        steps.append(ProfileStep("asm", tuple(command), named))
    if "att" in options.steps:
        geometry = ("--att-target-cu", "1", "--att-shader-engine-mask", "0xf", "--att-simd-select", "0xf")
        steps.append(rocprof("att", "--att", *geometry, "--att-buffer-size", "0x6000000", formats=("csv", "json")))
    if "pmc" in options.steps:
        steps.append(rocprof("pmc/trace", "--kernel-trace"))
        for number, group in enumerate(counter_passes(options.target)):
            steps.append(rocprof(f"pmc/pmc_{number}", "--pmc", *group, optional=True))
        reports.append(output / "pmc")
    return ProfilePlan("rocprofv3", tuple(steps), tuple(reports))


def execute(plan_: ProfilePlan, output: Path, limit_s: float = 0.0) -> tuple[str, ...]:
    """Run every step and return one line for each optional step that failed.

    Args:
        plan_: The steps.
        output: Folder for the reports.
        limit_s: Seconds that all steps may take together; 0: as long as they take, since the program is the user's.

    Raises:
        MissingTool: A program is not there, or counters need a permission.
        ProfilerFailed: A step failed, or no kernel was recorded.
        TimeoutError: The limit was passed, and the step was ended.
    """
    ends_at = time.monotonic() + limit_s if limit_s else 0.0
    output.mkdir(parents=True, exist_ok=True)
    failed = []
    for step in plan_.steps:
        try:
            _run(step, max(ends_at - time.monotonic(), 0.001) if ends_at else 0.0)
        except ProfilerFailed as error:
            if not step.optional:
                raise
            failed.append(str(error))
    return tuple(failed)


def _run(step: ProfileStep, limit_s: float) -> None:
    try:  # whatever it prints: a report may be long
        done = run(step.argv, env=environment(step.environment), limits=ChildLimits(limit_s, printed_bytes=0))
    except FileNotFoundError as error:
        raise MissingTool(
            f"{step.argv[0]} is not installed", where=step.name, fix="check the name and PATH", code="KB121"
        ) from error
    except PermissionError as error:
        raise BadInput(
            f"{step.argv[0]} can't be executed", where=step.name, fix="check its mode", code="KB126"
        ) from error
    if done.passed == "hang":
        raise TimeoutError(f"{step.argv[0]} was ended: its time was over")
    said = (done.stdout + b"\n" + done.stderr).decode(errors="replace")
    if _NO_PERMISSION in said:
        raise MissingTool(
            f"the driver does not let this user read GPU counters ({_NO_PERMISSION})",
            where=step.name,
            fix="run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0",
            code="KB123",
        )
    if done.code != 0:
        last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "no output")
        raise ProfilerFailed(f"{step.argv[0]} returned {done.code}: {last[:200]}", where=step.name)
    if _NO_KERNELS in said:
        raise ProfilerFailed(
            "no kernel was recorded", where=step.name, fix="check --kernel and --launch-skip", code="KB222"
        )
    if step.stdout is not None:
        step.stdout.write_bytes(done.stdout)

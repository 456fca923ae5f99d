"""Command lines of the profilers, and what their failures mean."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.launch.machine.profile import (
    Options,
    ProfilePlan,
    ProfilerFailed,
    ProfileStep,
    choose_tool,
    execute,
    plan,
)

COMMAND = ("python", "bench.py")


def _fake(folder: Path, name: str, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program on the PATH that does what a profiler does."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_ncu_leaves_the_clocks_alone(tmp_path: Path) -> None:
    """No clock control unless asked; the kernel filter is a regex of the full name; the page is exported."""
    made = plan("ncu", COMMAND, tmp_path, Options(kernel="gemm.*", launch_skip=3, launch_count=1))
    record, export = (" ".join(one.argv) for one in made.steps)
    assert "--set full --clock-control none" in record
    assert "--kernel-name-base demangled --kernel-name regex:gemm.* --launch-skip 3 --launch-count 1" in record
    assert record.endswith("python bench.py")
    assert "--page raw --csv --print-units base" in export
    assert made.steps[1].stdout == made.reports[0] == tmp_path / "profile.csv"
    locked = plan("ncu", COMMAND, tmp_path, Options(lock_clocks=True))
    assert "--clock-control base" in " ".join(locked.steps[0].argv)


def test_rocprof_steps(tmp_path: Path) -> None:
    """Assembly, thread trace, one run for times and one for each group of counters."""
    made = plan("rocprofv3", COMMAND, tmp_path, Options(target="gfx942", steps=("pmc", "att", "asm"), kernel="k"))
    names = [one.name for one in made.steps]
    assert names[:3] == ["asm", "att", "pmc/trace"]
    assert made.steps[0].argv == COMMAND
    assert made.steps[0].environment["TRITON_CACHE_DIR"] == str(tmp_path / "asm")
    assert "--att-target-cu 1" in " ".join(made.steps[1].argv)
    assert all("--kernel-include-regex k" in " ".join(one.argv) for one in made.steps[1:])
    assert made.reports == (tmp_path / "pmc",)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ((), Options()),
        (COMMAND, Options(section_set="everything")),
        (COMMAND, Options(steps=("magic",))),
        (COMMAND, Options(launch_count=0)),
    ],
)
def test_bad_options(command: tuple[str, ...], options: Options, tmp_path: Path) -> None:
    """No command, an unknown set or step, no launch."""
    with pytest.raises(BadInput):
        plan("ncu", command, tmp_path, options)


def test_the_installed_tool_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one on the PATH; none is exit 3."""
    _fake(tmp_path / "bin", "rocprofv3", "true", monkeypatch)
    assert choose_tool() == "rocprofv3"
    with pytest.raises(MissingTool, match="ncu is not installed"):
        choose_tool("ncu")


@pytest.mark.parametrize(
    ("script", "error", "says"),
    [
        ("echo '==ERROR== ERR_NVGPUCTRPERM - no permission' >&2; exit 1", MissingTool, "NVreg_Restrict"),
        ("echo '==WARNING== No kernels were profiled.'; exit 0", ProfilerFailed, "no kernel"),
        ("echo broken >&2; exit 7", ProfilerFailed, "returned 7: broken"),
    ],
)
def test_failures(
    script: str, error: type[Exception], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Permission, nothing recorded, any other failure: one line each."""
    _fake(tmp_path / "bin", "ncu", script, monkeypatch)
    with pytest.raises(error, match=says):
        execute(plan("ncu", COMMAND, tmp_path), tmp_path)


def test_a_counter_the_device_lacks_is_missing_not_fatal(tmp_path: Path) -> None:
    """An optional step that fails is reported, the others run; a program that is not there is exit 3."""
    steps = (
        ProfileStep("pmc/pmc_0", ("false",), optional=True),
        ProfileStep("export", ("echo", "hi"), stdout=tmp_path / "o.csv"),
    )
    failed = execute(ProfilePlan("rocprofv3", steps, ()), tmp_path)
    assert len(failed) == 1
    assert (tmp_path / "o.csv").read_text() == "hi\n"
    with pytest.raises(MissingTool):
        execute(ProfilePlan("ncu", (ProfileStep("ncu", ("no-such-program",)),), ()), tmp_path)

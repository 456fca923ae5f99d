"""The machine a project's commands run on, as far as files and the driver's own tool say; no torch is needed."""

from __future__ import annotations

import platform
import shutil
from dataclasses import replace
from pathlib import Path

from kopt_kb.launch.candidate.machine import HOST, Environment
from kopt_kb.sandbox.process import ChildLimits, environment, run

__all__ = ["host_environment"]


def host_environment() -> Environment:
    """Return device, uuid, driver, clocks and versions; without a GPU the device is `host` and the processor's name."""
    versions = {"python": platform.python_version()}
    found = _nvidia() or _amd()
    if found is not None:
        return replace(found, versions=versions)
    return Environment(f"{HOST}{_processor()}", None, None, {}, versions)


def _nvidia() -> Environment | None:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    names = ("name", "uuid", "driver_version", "clocks.sm", "clocks.mem", "power.limit", "persistence_mode")
    command = [tool, f"--query-gpu={','.join(names)}", "--format=csv,noheader"]
    try:
        done = run(command, env=environment(), limits=ChildLimits(30.0))
    except OSError:
        return None
    cells = [one.strip() for one in done.stdout.decode(errors="replace").partition("\n")[0].split(",")]
    if done.code or len(cells) != len(names):
        return None
    known = dict(zip(names, cells, strict=True))
    clocks = {name.replace(".", "_"): known[name] for name in names[3:]}
    return Environment(known["name"], known["uuid"], known["driver_version"], clocks, {})


def _amd() -> Environment | None:
    for path in sorted(Path("/sys/class/drm").glob("card*/device/product_name")):
        name = _first_line(path)
        if name:
            driver = _first_line(Path("/sys/module/amdgpu/version"))
            return Environment(name, None, driver or None, {}, {})
    return None


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown"


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").partition("\n")[0].strip()
    except OSError:
        return ""

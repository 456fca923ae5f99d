"""The machine a project's commands run on, as far as files and the driver's own tool say; no torch is needed."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path
from typing import Any

from kopt_kb.process import Limits, environment, run

__all__ = ["HOST", "host_environment"]

HOST = "host "
"""What the device of a machine without a GPU begins with."""


def host_environment() -> dict[str, Any]:
    """Return device, uuid, driver, clocks and versions; without a GPU the device is `host` and the processor's name."""
    versions = {"python": platform.python_version()}
    found = _nvidia() or _amd()
    if found is not None:
        return {**found, "versions": versions}
    return {"device": f"{HOST}{_processor()}", "uuid": None, "driver": None, "clocks": {}, "versions": versions}


def _nvidia() -> dict[str, Any] | None:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    names = ("name", "uuid", "driver_version", "clocks.sm", "clocks.mem", "power.limit", "persistence_mode")
    command = [tool, f"--query-gpu={','.join(names)}", "--format=csv,noheader"]
    try:
        done = run(command, env=environment(), limits=Limits(30.0))
    except OSError:
        return None
    cells = [one.strip() for one in done.stdout.decode(errors="replace").partition("\n")[0].split(",")]
    if done.code or len(cells) != len(names):
        return None
    known = dict(zip(names, cells, strict=True))
    clocks = {name.replace(".", "_"): known[name] for name in names[3:]}
    return {"device": known["name"], "uuid": known["uuid"], "driver": known["driver_version"], "clocks": clocks}


def _amd() -> dict[str, Any] | None:
    for path in sorted(Path("/sys/class/drm").glob("card*/device/product_name")):
        name = _first_line(path)
        if name:
            driver = _first_line(Path("/sys/module/amdgpu/version"))
            return {"device": name, "uuid": None, "driver": driver or None, "clocks": {}}
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

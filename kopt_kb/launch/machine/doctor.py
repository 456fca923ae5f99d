"""What this machine offers to kb, line by line, and what to do about each line that is not right.

Everything is asked through a `Host`, so that a test can be any machine. What can't be asked is `unknown`, with the
reason: nothing is taken for granted, and nothing is changed.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from kopt_kb.doors.pack import Pack
from kopt_kb.doors.table import packs
from kopt_kb.launch.machine.health import Health, HealthFinding, HealthState, Host
from kopt_kb.launch.machine.package_health import package_line
from kopt_kb.quantity.readable import si

__all__ = ["examine"]


def examine(host: Host) -> Health:
    """Return what was found on a machine."""
    parts = (_nvidia, _amd, _profilers, _processor, _packages, _packs, _programs, _isolation, _caches)
    return Health(tuple(finding for part in parts for finding in part(host)))


# ---- devices -------------------------------------------------------------------------------------

_QUERY = ("name", "driver_version", "persistence_mode", "clocks.sm", "clocks.max.sm")


def _is_nvidia(host: Host) -> bool:
    return host.exists("proc/driver/nvidia/version") or host.which("nvidia-smi") is not None


def _is_amd(host: Host) -> bool:
    return host.exists("sys/module/amdgpu") or host.exists("dev/kfd")


def _nvidia(host: Host) -> Iterator[HealthFinding]:
    """Driver, CUDA, devices, persistence and clocks."""
    group = "nvidia"
    if not _is_nvidia(host):
        yield HealthFinding(
            group, "driver", "absent", "no NVIDIA driver here; what needs a GPU is refused, the rest works"
        )
        return
    said = host.text("proc/driver/nvidia/version")
    loaded = re.search(r"\b(\d+\.\d+(?:\.\d+)?)\b", said) if said else None
    if loaded:
        yield HealthFinding(group, "driver", "ok", loaded[1])
    else:
        fix = "load it: sudo modprobe nvidia; in a container: start it with --gpus all"
        yield HealthFinding(group, "driver", "wrong", "nvidia-smi is here, the kernel module is not loaded", fix)
    tool = host.which("nvidia-smi")
    if tool is None:
        fix = "install the driver's tools (nvidia-utils), or in a container: NVIDIA_DRIVER_CAPABILITIES=compute,utility"
        yield HealthFinding(group, "devices", "unknown", "nvidia-smi is not on PATH, so nothing could be asked", fix)
        return
    yield _cuda(host, tool)
    yield from _devices(host, tool)


def _cuda(host: Host, tool: str) -> HealthFinding:
    code, text = _asked(host, tool)
    match = re.search(r"CUDA (?:UMD )?Version:\s*([\d.]+)", text)
    if code or not match:
        return HealthFinding("nvidia", "cuda", "unknown", f"nvidia-smi does not say: {_line(text) or f'exit {code}'}")
    return HealthFinding("nvidia", "cuda", "ok", f"{match[1]} is the newest that the driver runs")


def _devices(host: Host, tool: str) -> Iterator[HealthFinding]:
    code, text = _asked(host, tool, f"--query-gpu={','.join(_QUERY)}", "--format=csv,noheader")
    lines = [line.split(",") for line in text.splitlines()]
    rows = [[cell.strip() for cell in cells] for cells in lines if len(cells) == len(_QUERY)]
    if code or not rows:
        fix = "read `nvidia-smi`; a driver that was updated under running programs needs a reboot"
        yield HealthFinding("nvidia", "devices", "wrong", _line(text) or f"nvidia-smi ended with {code}", fix)
        return
    for at, (name, _, persistence, clock, most) in enumerate(rows):
        yield HealthFinding("nvidia", f"gpu {at}", "ok", name)
        on = persistence.casefold() == "enabled"
        fix = "" if on else f"sudo nvidia-smi -i {at} -pm 1 (else the first call of each process waits for the driver)"
        yield HealthFinding("nvidia", f"gpu {at} persistence", "ok" if on else "note", persistence, fix)
        known = clock[:1].isdigit()
        yield HealthFinding("nvidia", f"gpu {at} clock", "ok" if known else "unknown", f"{clock} now, {most} at most")


def _amd(host: Host) -> Iterator[HealthFinding]:
    """Kernel module, ROCm, access to the device."""
    group = "amd"
    if not _is_amd(host):
        yield HealthFinding(group, "driver", "absent", "no AMD driver here")
        return
    version = host.text("sys/module/amdgpu/version")
    yield HealthFinding(group, "driver", "ok", version or "the kernel's own amdgpu (it names no version)")
    rocm = host.text("opt/rocm/.info/version")
    fix = "" if rocm else "install ROCm, or mount /opt/rocm into the container"
    yield HealthFinding(group, "rocm", "ok" if rocm else "unknown", rocm or "no /opt/rocm/.info/version", fix)
    kfd = host.root / "dev/kfd"
    if not kfd.exists():
        fix = "in a container: --device /dev/kfd --device /dev/dri"
        yield HealthFinding(group, "device", "wrong", "there is no /dev/kfd", fix)
    elif os.access(kfd, os.R_OK | os.W_OK):
        yield HealthFinding(group, "device", "ok", "/dev/kfd can be opened")
    else:
        fix = "sudo usermod -aG render,video $USER, then log in again"
        yield HealthFinding(group, "device", "wrong", "/dev/kfd can't be opened by this user", fix)


# ---- profilers -----------------------------------------------------------------------------------


def _profilers(host: Host) -> Iterator[HealthFinding]:
    """Profilers of the vendors that are here, and whether this user may count."""
    yield from _profiler(host, "ncu", "Nsight Compute", needed=_is_nvidia(host))
    if _is_nvidia(host):
        yield _counting(host)
    yield from _profiler(host, "rocprofv3", "ROCm's rocprofiler-sdk", needed=_is_amd(host))
    yield from _profiler(host, "rocprof-compute", "ROCm's rocprofiler-compute", needed=False)


def _profiler(host: Host, name: str, product: str, *, needed: bool) -> Iterator[HealthFinding]:
    path = host.which(name)
    if path is None:
        fix = f"install {product}, or add its folder to PATH" if needed else ""
        text = "not on PATH; reports are read without it"
        yield HealthFinding("profilers", name, "wrong" if needed else "absent", text, fix)
        return
    code, text = _asked(host, path, "--version")
    version = re.search(r"\b(\d+\.\d+(?:\.\d+)*)\b", text)
    if code or version is None:
        fix = f"run `{name} --version`; it says: {_line(text)}" if text else f"install {product} again"
        yield HealthFinding("profilers", name, "unknown", f"{path} does not say its version (exit {code})", fix)
    else:
        yield HealthFinding("profilers", name, "ok", f"{version[1]}, {path}")


def _counting(host: Host) -> HealthFinding:
    """Whether the driver lets this user read counters (NVIDIA, ERR_NVGPUCTRPERM)."""
    name, said = "ncu permission", host.text("proc/driver/nvidia/params")
    only = re.search(r"^RmProfilingAdminOnly:\s*(\d)", said, re.MULTILINE) if said else None
    if only is None:
        return HealthFinding("profilers", name, "unknown", "/proc/driver/nvidia/params does not say who may count")
    if only[1] == "0":
        return HealthFinding("profilers", name, "ok", "every user may read counters")
    status = host.text("proc/self/status") or ""
    held = re.search(r"^CapEff:\s*([0-9a-f]+)", status, re.MULTILINE)
    if held is not None and int(held[1], 16) >> _SYS_ADMIN & 1:
        return HealthFinding("profilers", name, "ok", "administrators only, and this process is one")
    fix = (
        "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/ncu.conf, then reboot; "
        "in a container: --cap-add SYS_ADMIN"
    )
    return HealthFinding(
        "profilers", name, "wrong", "RmProfilingAdminOnly: 1, and this process lacks CAP_SYS_ADMIN", fix
    )


_SYS_ADMIN = 21
"""Number of CAP_SYS_ADMIN in capability.h."""


# ---- processor, packages, programs ---------------------------------------------------------------


def _processor(host: Host) -> Iterator[HealthFinding]:
    """The governor of the processor: a slow one stretches short kernels' launches."""
    files = sorted((host.root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor"))
    governors = {one.read_text(encoding="utf-8").strip() for one in files}
    if not governors:
        yield HealthFinding("processor", "governor", "unknown", "no cpufreq here, as in most virtual machines")
        return
    is_fast = governors == {"performance"}
    fix = "" if is_fast else "sudo cpupower frequency-set -g performance"
    yield HealthFinding("processor", "governor", "ok" if is_fast else "note", ", ".join(sorted(governors)), fix)


def _packages(host: Host) -> Iterator[HealthFinding]:
    """Python packages against the versions that are supported."""
    for name in ("triton", "torch", "cuda-bindings", "ncu-report", "nvidia-cuda-nvrtc"):
        yield package_line(host, name)


_MOST_LINES = 50
"""Lines that one pack may print."""


def _packs(host: Host) -> Iterator[HealthFinding]:
    """Yield what packs say of the machine."""
    for pack in packs().usable.values():
        if pack.doctor is not None:
            yield from _said_by(pack, host)


def _said_by(pack: Pack, host: Host) -> list[HealthFinding]:
    """Return the lines of one pack: as many as fit a screen, and one that says so where it can't speak."""
    try:
        lines = list(itertools.islice(pack.doctor(host) if pack.doctor is not None else (), _MOST_LINES))
        if {one.state for one in lines} <= set(get_args(HealthState)):
            return lines
        why = "it yields something else than findings"
    except Exception as error:  # noqa: BLE001 - whatever a stranger's pack raises, the others speak
        why = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return [
        HealthFinding("packs", pack.name, "wrong", f"can't look at this machine: {why}", "report it to its authors")
    ]


def _programs(host: Host) -> Iterator[HealthFinding]:
    """Programs that workspaces and readers start."""
    path = host.which("git")
    if path is None:
        yield HealthFinding("programs", "git", "wrong", "not on PATH; a workspace is a repository", "install git")
        return
    code, text = _asked(host, path, "--version")
    yield HealthFinding("programs", "git", "unknown" if code else "ok", _line(text))


# ---- isolation and caches ------------------------------------------------------------------------

_NAMESPACES = "sudo sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0"
_FIXES = {
    "user namespace": _NAMESPACES,
    "pid namespace": _NAMESPACES,
    "net namespace": _NAMESPACES,
    "ipc namespace": _NAMESPACES,
    "mount namespace": _NAMESPACES,
    "own /proc": "a container hides parts of /proc: start it with --security-opt systempaths=unconfined",
    "own file tree": _NAMESPACES,
    "Landlock": "a kernel of 5.13 or newer with landlock in /sys/kernel/security/lsm",
    "filtered system calls": "a kernel with CONFIG_SECCOMP_FILTER",
    "cgroup limits": "start it in a cgroup that is handed on: systemd-run --user --scope -p Delegate=yes kb ...",
}
"""What could not be had → what the machine's owner may do."""


def _isolation(host: Host) -> Iterator[HealthFinding]:
    """What holds the commands of projects and the makers of launch records."""
    try:
        isolation = host.isolate()
    except OSError as error:
        yield HealthFinding("isolation", "cage", "unknown", f"could not be tried: {error.strerror or error}")
        return
    for name in isolation.held:
        yield HealthFinding("isolation", name, "ok", "held")
    for name, why in isolation.missing.items():
        fix = _FIXES.get(name, "code of strangers runs with less around it: use a machine that has it")
        yield HealthFinding("isolation", name, "note", why, fix)


def _caches(host: Host) -> Iterator[HealthFinding]:
    """Where caches are, how large, and whether they can be written."""
    base = Path(host.environ.get("XDG_CACHE_HOME") or host.home / ".cache")
    own = Path(host.environ.get("KOPT_CACHE") or base / "kopt-kb")
    triton = Path(host.environ.get("TRITON_CACHE_DIR") or host.home / ".triton" / "cache")
    yield _cache("pages", own, "KOPT_CACHE")
    yield _cache("triton", triton, "TRITON_CACHE_DIR")


def _cache(name: str, folder: Path, variable: str) -> HealthFinding:
    there = next(one for one in (folder, *folder.parents) if one.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        fix = f"make it writable, or name another folder: {variable}=DIR"
        return HealthFinding("caches", name, "note", f"{folder} can't be written", fix)
    files = [one for one in folder.rglob("*") if one.is_file()] if folder.is_dir() else []
    size = sum(one.stat().st_size for one in files)
    return HealthFinding("caches", name, "ok", f"{folder}, {len(files)} file(s), {si(size, 'B')}")


def _asked(host: Host, *command: str) -> tuple[int, str]:
    try:
        return host.ask(command)
    except OSError as error:
        return 127, error.strerror or str(error)


def _line(text: str) -> str:
    return next((line.strip()[:160] for line in text.splitlines() if line.strip()), "")

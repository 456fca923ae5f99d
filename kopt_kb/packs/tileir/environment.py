"""What a machine has of the TileIR backend, and what it lacks."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.wire import Wire
from kopt_kb.launch.machine.health import HealthFinding, Host

__all__ = ["Gpu", "TileirEnvironment", "backends_here", "examine"]

_DISTRIBUTIONS = ("triton", "pytorch-triton", "pytorch-triton-rocm", "triton-windows", "nvtriton")
"""Packages that all install `import triton`: one at a time."""

_BLACKWELL = (10, 11, 12)
_AMPERE = (8,)
_TWO_CTA = ("10.0", "10.3")
"""Compute capabilities with matrix instructions over two CTAs: `tcgen05` with `cta_group::2`, sm_100 and its family."""

_WHERE = (
    "build triton-lang/Triton-to-tile-IR, or take a wheel of it: no package index has one, and they are for Blackwell "
    "and Ampere only (nvtriton on PyPI is an empty placeholder)"
)


@dataclass(frozen=True, slots=True)
class Gpu(Wire):
    """One device.

    Attributes:
        name: As the driver calls it.
        capability: Compute capability.
        family: `Blackwell`, `Ampere`, or nothing for one that wheels of the backend are not for.
        two_cta: Whether num_ctas=2 gives matrix instructions over two CTAs.
    """

    name: str
    capability: str
    family: str
    two_cta: bool


@dataclass(frozen=True, slots=True)
class TileirEnvironment(Wire):
    """What there is of TileIR here.

    Attributes:
        triton_installed: Version of what `import triton` is; empty when there is none.
        packages: All packages installed that provide it, with versions.
        nvtriton_installed: Whether the Triton here has the backend.
        enable_tile: Whether ENABLE_TILE=1 is set.
        tileiras: The compiler; empty when there is none.
        tileir_active: Whether a kernel started here would be compiled by it.
        blackwell_gpu: Whether there is one.
        gpu_capability: Of the first device; empty when there is none.
        gpus: All devices.
        findings: What is right, missing or in the way, with a fix.
        recommendation: What to do next.
    """

    triton_installed: str
    packages: tuple[str, ...]
    nvtriton_installed: bool
    enable_tile: bool
    tileiras: str
    tileir_active: bool
    blackwell_gpu: bool
    gpu_capability: str
    gpus: tuple[Gpu, ...]
    findings: tuple[HealthFinding, ...]
    recommendation: str


def backends_here() -> tuple[str, ...]:
    """Return the backends of the Triton that would be imported, without importing it."""
    spec = importlib.util.find_spec("triton")
    folders = [Path(one) / "backends" for one in (spec.submodule_search_locations or ())] if spec else []
    return tuple(sorted(one.name for folder in folders if folder.is_dir() for one in folder.iterdir() if one.is_dir()))


def examine(host: Host, backends: tuple[str, ...]) -> TileirEnvironment:
    """Return what a machine has of TileIR.

    Args:
        host: The machine as it can be asked.
        backends: Folders of the installed Triton's backends.
    """
    found = {name: version for name in _DISTRIBUTIONS if (version := host.package(name))}
    real = {name: version for name, version in found.items() if not version.startswith("0.0.0")}
    gpus = _gpus(host)
    has = "tileir" in backends
    enabled = host.environ.get("ENABLE_TILE") == "1"
    tileiras = _tileiras(host)
    findings = (
        *_package_findings(found, real, has=has),
        _tool(has=has, path=tileiras),
        HealthFinding("tileir", "ENABLE_TILE", "ok" if enabled else "note", "1" if enabled else "not 1",
                "" if enabled else "export ENABLE_TILE=1 for the processes that are to use it"),
        _device(gpus),
    )  # fmt: skip
    usable = has and bool(tileiras) and any(one.family for one in gpus)
    return TileirEnvironment(
        next(iter(real.values()), ""), tuple(f"{name} {version}" for name, version in found.items()), has, enabled,
        tileiras, usable and enabled, any(one.family == "Blackwell" for one in gpus),
        gpus[0].capability if gpus else "", gpus, findings, _recommendation(usable=usable, enabled=enabled),
    )  # fmt: skip


def _package_findings(found: dict[str, str], real: dict[str, str], *, has: bool) -> tuple[HealthFinding, ...]:
    several = len(real) > 1
    shown = ", ".join(f"{name} {version}" for name, version in found.items()) or "none"
    fix = (
        "uninstall all but one: they overwrite each other's files" if several else "" if real else "pip install triton"
    )
    packages = HealthFinding(
        "tileir", "packages of triton", "wrong" if several else "ok" if real else "absent", shown, fix
    )
    backend = HealthFinding(
        "tileir", "backend", "ok" if has else "absent", "triton/backends/tileir" if has else "this Triton has none",
        "" if has else _WHERE,
    )  # fmt: skip
    return packages, backend


def _tool(*, has: bool, path: str) -> HealthFinding:
    fix = "" if path else "set TRITON_TILEIRAS_PATH or CUDA_HOME"
    return HealthFinding("tileir", "tileiras", "ok" if path else "wrong" if has else "absent", path or "not found", fix)


def _device(gpus: tuple[Gpu, ...]) -> HealthFinding:
    if not gpus:
        return HealthFinding("tileir", "gpu", "absent", "no NVIDIA GPU is visible; kernels can be prepared, not run")
    shown = ", ".join(f"{one.name} ({one.capability}{', two-CTA products' if one.two_cta else ''})" for one in gpus)
    if any(one.family for one in gpus):
        return HealthFinding("tileir", "gpu", "ok", shown)
    return HealthFinding(
        "tileir", "gpu", "wrong", shown, "wheels of the backend are for Blackwell and Ampere; use PTX here"
    )


def _recommendation(*, usable: bool, enabled: bool) -> str:
    if usable:
        return "run with it" if enabled else "set ENABLE_TILE=1"
    return (
        "prepare kernels now (kb tileir apply): every other backend runs them as before; validate and time them where "
        "TileIR is"
    )


def _tileiras(host: Host) -> str:
    """Return the compiler by the order in which the backend looks for it."""
    named = host.environ.get("TRITON_TILEIRAS_PATH", "")
    home = host.environ.get("CUDA_HOME", "")
    for one in (named, f"{home}/bin/tileiras" if home else ""):
        if one and host.exists(one.lstrip("/")):
            return one
    return host.which("tileiras") or ""


def _gpus(host: Host) -> tuple[Gpu, ...]:
    tool = host.which("nvidia-smi")
    if tool is None:
        return ()
    try:
        code, text = host.ask((tool, "--query-gpu=name,compute_cap", "--format=csv,noheader"))
    except OSError:
        return ()
    rows = [line.rpartition(",") for line in text.splitlines()] if code == 0 else []
    return tuple(
        _gpu(name.strip(), capability.strip()) for name, _, capability in rows if capability.strip()[:1].isdigit()
    )


def _gpu(name: str, capability: str) -> Gpu:
    major = int(capability.partition(".")[0])
    family = "Blackwell" if major in _BLACKWELL else "Ampere" if major in _AMPERE and capability != "8.9" else ""
    return Gpu(name, capability, family, capability in _TWO_CTA)

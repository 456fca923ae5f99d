"""What a project's command has around it: a cage, folders of its own, and variables that are no secrets."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from kopt_kb.doors.languages import languages
from kopt_kb.sandbox.caged import Cage
from kopt_kb.sandbox.mounts import PROC

__all__ = ["GPU_DEVICES", "cage_of", "home_of", "passed_on"]

_NAMES = frozenset({
    "CC", "CFLAGS", "CPATH", "CPLUS_INCLUDE_PATH", "CXX", "CXXFLAGS", "LANG", "LANGUAGE", "LDFLAGS", "LIBRARY_PATH",
    "LOGNAME", "MAKEFLAGS", "MAX_JOBS", "NINJA_STATUS", "OMP_NUM_THREADS", "PATH", "PKG_CONFIG_PATH", "SHELL", "TERM",
    "TZ", "USER", "KOPT_READABLE", "VIRTUAL_ENV", "VISIBLE_DEVICES", "XLA_FLAGS",
})  # fmt: skip
_PREFIXES = (
    "AMD_", "CMAKE_", "CONDA_", "CUBLAS", "CUDA", "CUDNN", "CUTLASS_", "GPU_", "HIP", "HSA_", "LC_",
    "LD_LIBRARY", "MIOPEN_", "MKL_", "NCCL_", "NVCC_", "NVIDIA_", "NVTE_", "PYTHON", "PYTORCH_", "RCCL_", "ROCBLAS_",
    "ROCM", "ROCR_", "TORCH", "TRITON_",
)  # fmt: skip
"""Variables of compilers, drivers and GPU libraries; whoever runs this may have secrets among the others."""
_SECRET = ("TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "API_KEY")

GPU_DEVICES = ("/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/dri/*", "/dev/kfd", "/dev/dxg")
"""Devices that programs open for writing to use a GPU."""
_DISK_BYTES = 64 << 30
"""That a command's folders may grow by."""
_OTHER = ("/dev/shm", "/dev/full", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty")  # noqa: S108 - a device


def passed_on(named: Sequence[str]) -> dict[str, str]:
    """Return the variables of this process that a command gets: those of its kind, and those that its file names."""
    begins = (*_PREFIXES, *(begin for language in languages() for begin in language.variables))
    return {
        name: value
        for name, value in os.environ.items()
        if name in named
        or ((name in _NAMES or name.startswith(begins)) and not any(word in name.upper() for word in _SECRET))
    }


def home_of(copy: Path) -> Mapping[str, str]:
    """Return the variables that lead a command to folders beside its copy; they are made."""
    places = {"HOME": copy.parent / "home", "TMPDIR": copy.parent / "tmp"}
    for one in places.values():
        one.mkdir(exist_ok=True)
    return {name: str(one) for name, one in places.items()}


def cage_of(
    copy: Path, report: Path, written: Path | None, *, network: bool = False, builds: bool = False,
    shown: tuple[str, ...] = (), memory_bytes: int = 0,
) -> Cage:  # fmt: skip
    """Return the cage of a command.

    Args:
        copy: The copy it runs in; it may write there and beside it, in no other copy.
        report: File for what held.
        written: The CSV it has to write; its folder is writable too.
        network: Whether it keeps the network.
        builds: Whether it is a command of a project, which may be a build.
        shown: What it may read besides, such as inputs.
        memory_bytes: Most memory of all its processes; 0: no limit.
    """
    devices = [str(one) for glob in GPU_DEVICES for one in sorted(Path("/").glob(glob.lstrip("/")))]
    others = [one for one in _OTHER if Path(one).exists()]
    folders = [str(copy.parent), *([str(written.parent)] if written else []), *devices, *others, str(PROC)]
    return Cage(
        tuple(folders), str(report), network, shown, builds, memory_bytes, _DISK_BYTES,
    )  # fmt: skip

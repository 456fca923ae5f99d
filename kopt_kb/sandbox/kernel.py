"""AllowedCalls of the C library that `os` does not have; a failure is an `OSError`."""

from __future__ import annotations

import ctypes
import os
import platform
from functools import cache

__all__ = ["DETACH", "invoke", "mount", "pivot_root"]

_PIVOT = {"x86_64": 155, "aarch64": 41}
DETACH = 2
"""Numbers of pivot_root, and MNTDETACH of sys/mount.h."""


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def invoke(name: str, *words: object) -> int:
    """Return what a function of the C library returned; raises `OSError`."""
    done = int(getattr(_library(), name)(*words))
    if done < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return done


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """Put a file system or a place of one at a target, which the `OSError` of a failure names."""
    words = [None if one is None else os.fsencode(one) for one in (source, target, kind)]
    try:
        invoke("mount", *words, ctypes.c_ulong(flags), None if options is None else options.encode())
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror} ({target})") from None


def pivot_root() -> None:
    """Make the working folder, which is a mount, the root here and take the old root off; raises `OSError`."""
    number = _PIVOT.get(platform.machine())
    if number is None:
        raise OSError(38, f"no number of pivot_root for {platform.machine()}")
    invoke("syscall", number, b".", b".")
    invoke("umount2", b".", DETACH)
    os.chdir("/")

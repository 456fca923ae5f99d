"""What an untrusted child may read: the system's programs and libraries, Python with its packages, what it is about.

Nothing else of a user's is on the list: no home, no keys, no other project. Folders that hold a home are never listed
whole, whoever names them.
"""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

__all__ = ["DEVICES", "SYSTEM", "files_of", "named_by", "packages"]

SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store",
    "/run/opengl-driver", "/run/current-system", "/sys", "/proc",
    *(f"/etc/{name}" for name in (
        "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld.so.preload", "alternatives", "localtime", "timezone", "passwd",
        "group", "nsswitch.conf", "hosts", "host.conf", "resolv.conf", "protocols", "services", "os-release",
        "debian_version", "lsb-release", "redhat-release", "OpenCL", "vulkan", "mime.types", "locale.alias",
        "terminfo", "ssl/certs", "ssl/openssl.cnf", "pki/tls/certs", "ca-certificates", "java", "gai.conf",
    )),
)  # fmt: skip
"""Programs, libraries, the loader's cache, and what the C library asks; all of it is open to every user."""

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
"""Devices that every program may open."""

_TOO_WIDE = frozenset(
    f"/{name}" for name in ("", "home", "root", "tmp", "var", "var/tmp", "etc", "run", "dev", "mnt", "srv")
)
"""Never listed whole."""
_SUFFIXES = frozenset({".py", ".pyi", ".cu", ".cuh", ".h", ".hpp", ".cpp", ".hip"})
_MOST = 512


@cache
def packages() -> tuple[str, ...]:
    """Return where this interpreter is, and where it finds packages, those of projects under work included."""
    own = Path(__file__).resolve().parents[1]
    asked = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = [one for one in sys.path if one in asked or one != os.getcwd()]  # noqa: PTH109 - `python -m` puts it there
    found = [sys.base_prefix, sys.prefix, sys.exec_prefix, sys.executable, *paths, str(own)]
    found += [str(one.resolve()) for one in own.iterdir() if one.is_symlink()]
    if (own.parent / "pyproject.toml").is_file():
        found.append(str(own.parent / "gpuwiki"))
    for name, module in list(sys.modules.items()):
        if name.startswith("__editable__"):
            found += [str(one) for one in getattr(module, "MAPPING", {}).values()]
    return tuple(dict.fromkeys(one for one in found if one.startswith("/") and not _is_wide(one)))


def named_by(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the places that variables of a child name, alone or as a list."""
    parts = (part for value in variables.values() if "/" in value for part in value.split(os.pathsep))
    return tuple(dict.fromkeys(one for one in parts if one.startswith("/") and not _is_wide(one)))


def files_of(file: Path) -> tuple[str, ...]:
    """Return what belongs to a file: its folder; where that holds more than a project, its sources and packages."""
    folder = file.resolve().parent
    if not _is_wide(str(folder)):
        return str(folder), str(file.absolute())
    return (str(file.absolute()), *(_sources(folder)))


def _sources(folder: Path) -> Iterator[str]:
    with suppress(OSError):
        for count, one in enumerate(folder.iterdir()):
            if count < _MOST and (one.suffix in _SUFFIXES or (one / "__init__.py").exists()):
                yield str(one)


def _is_wide(place: str) -> bool:
    real = os.path.realpath(place)
    return real in _TOO_WIDE or any((home + "/").startswith(real.rstrip("/") + "/") for home in _homes())


@cache
def _homes() -> tuple[str, ...]:
    with suppress(KeyError):
        return (os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir),)
    return ()

"""Versions of installed packages."""

from __future__ import annotations

import re
from importlib import metadata

__all__ = ["extra_of", "version_of"]


def version_of(package: str, missing: str = "") -> str:
    """Return the version of an installed package, or `missing` where it is not: kb itself may run from files."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return missing


def extra_of(package: str) -> str:
    """Return the extra of kb that brings a package or module, the first that does; empty where none is known to."""
    name = {"cuda": "cuda-bindings"}.get(package, package.replace("_", "-"))
    try:
        lines = metadata.requires("kopt-kb") or ()
    except metadata.PackageNotFoundError:
        return ""
    for line in lines:
        found = re.match(r"([\w.-]+)[^;]*;.*\bextra == ['\"]([\w-]+)['\"]", line)
        if found is not None and found[1] == name and found[2] != "test":
            return found[2]
    return ""

"""Versions of installed packages."""

from __future__ import annotations

__all__ = ["version_of"]


def version_of(package: str, missing: str = "") -> str:
    """Return the version of an installed package, or `missing` where it is not: kb itself may run from files."""
    from importlib import metadata  # most commands ask for none

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return missing

"""Entry points of installed distributions; importlib.metadata takes longer to load than `kb --help` to run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib import import_module

__all__ = ["EntryPoint", "entry_points"]


class EntryPoint:
    """A line of a distribution's `entry_points.txt`.

    Args:
        name: Left of the equals sign.
        value: `module:attribute`.
        group: The section that it stands in.
    """

    def __init__(self, name: str, value: str, group: str) -> None:
        self.name, self.value, self.group = name, value, group

    @property
    def module(self) -> str:
        """Its module."""
        return self.value.partition(":")[0]

    def load(self) -> object:
        """Return what stands there; raises whatever its import raises."""
        return getattr(import_module(self.module), self.value.partition(":")[2])


def entry_points(*, group: str) -> list[EntryPoint]:
    """Return the entry points of a group, those of a distribution that stands on the path twice once."""
    return [one for text in _texts() if group in text for one in _read(text) if one.group == group]


def _texts() -> Iterator[str]:
    seen: set[str] = set()
    for folder in sys.path:
        for name in _listed(folder or "."):
            project, _, suffix = name.rpartition(".")
            if suffix not in {"dist-info", "egg-info"}:
                continue
            project = project.partition("-")[0].lower().replace(".", "_")
            if project not in seen:
                seen.add(project)
                yield _text(f"{folder or '.'}/{name}/entry_points.txt")


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - pathlib is not loaded yet
    except OSError:
        return []


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - pathlib is not loaded yet
            return file.read()
    except OSError:
        return ""


def _read(text: str) -> Iterator[EntryPoint]:
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[]").strip()
        elif "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield EntryPoint(name.strip(), value.partition("[")[0].strip(), group)

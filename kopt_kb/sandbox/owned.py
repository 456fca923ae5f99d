"""Temporary folders that name their owner, so that the next program removes what a killed one left behind."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kopt_kb.sandbox.process import start_ticks

__all__ = ["owned_folder", "owner_prefix", "remove_orphans"]


def owner_prefix(kind: str) -> str:
    """Return the beginning of a temporary folder's name: its kind, this machine, this process and when it started.

    The owner is in the name, not in a file, because a name is there from the first moment on.
    """
    return f"{kind}{_machine()}-{os.getpid()}-{start_ticks(os.getpid()) or 0}-"


@contextlib.contextmanager
def owned_folder(kind: str, parent: Path | None = None) -> Iterator[Path]:
    """Make a temporary folder that names its owner, and remove it; what killed processes left goes before.

    Args:
        kind: The beginning of its name: `kb-`, lower-case letters, and a hyphen at its end.
        parent: Where; None: where temporary files go.
    """
    remove_orphans(parent)
    prefix = owner_prefix(kind)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True) as name:
        yield Path(name)


def remove_orphans(parent: Path | None = None) -> None:
    """Remove folders of processes of this machine, since its start, that are gone; others are left alone."""
    machine = _machine()
    own = re.compile(rf"kb-[a-z-]+-{re.escape(machine)}-(\d+)-(\d+)-\w+")
    try:
        folders = list((parent or Path(tempfile.gettempdir())).iterdir()) if machine else []
    except OSError:
        return
    for folder in folders:
        found = own.fullmatch(folder.name)
        if found and start_ticks(int(found[1])) != int(found[2]) and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)


def _machine() -> str:
    """Return what process ids are unique in: one start of a machine, and one pid namespace; empty when unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
        return f"{boot}{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return ""

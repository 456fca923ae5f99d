"""The folder plan of a workspace, its names in one place, and its creation in one step."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.doors.view import views
from kopt_kb.workspace.journal.disk import sync_folder

__all__ = ["FOLDER_PREFIX", "Layout", "LayoutError", "create_workspace", "find_layout", "folder_name", "refuse_links"]

FOLDER_PREFIX = "kernel_opt_"
"""What the name of every workspace folder starts with."""

MAX_NAME_CHARS = 64

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


class LayoutError(BadInput):
    """A workspace can't be made, or a folder is none."""

    code = "KB308"


class _Below:
    """A place below a workspace's root, by its name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, layout: Layout, _: type[Layout] | None = None) -> Path:
        """Return the place in this workspace."""
        return layout.root / self._name


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything of a workspace stands; nothing is opened or made."""

    root: Path

    reference = _Below("reference.py")
    """Of a problem outside the list: the file whose inputs and reference judge."""
    readme = _Below("README.md")
    """The page people read, with rendered blocks."""
    gitignore = _Below(".gitignore")
    """What git leaves out."""
    journal = _Below("journal.jsonl")
    """The truth: all events."""
    objects = _Below("objects")
    """Blobs by hash."""
    plans = _Below("plans")
    """Authored: one plan a version."""
    notes = _Below("notes")
    """Authored: whatever people and agents want to remember."""
    profiles = _Below("profiles")
    """Profiler reports."""
    logs = _Below("logs")
    """Rendered: logs of the campaign."""

    @property
    def kernel(self) -> Path:
        """The checked-out kernel: `kernel.cu` of a workspace that began with CUDA C++, else `kernel.py`."""
        cuda = self.root / "kernel.cu"
        return cuda if cuda.is_file() else self.root / "kernel.py"

    @property
    def folders(self) -> tuple[Path, ...]:
        """All folders below the root, those of views that packs bring among them."""
        own = (self.objects, self.plans, self.notes, self.profiles, self.logs)
        brought = (self.root / folder for _, view in views() for folder in view.folders)
        return tuple(dict.fromkeys((*own, *brought)))


def folder_name(name: str) -> str:
    """The folder of a workspace called `name`.

    Raises:
        LayoutError: The name is empty, longer than 64 characters, starts with a dot or a dash, or holds
            anything but ASCII letters, digits, `.`, `_` and `-` (so no path separators either).
    """
    fix = "use up to 64 letters, digits, '.', '_' and '-', not starting with '.' or '-'"
    if not name:
        raise LayoutError("the workspace's name is empty", where="name", fix=fix, code="KB327")
    if len(name) > MAX_NAME_CHARS:
        raise LayoutError(f"the workspace's name has {len(name)} characters", where="name", fix=fix, code="KB327")
    if not _NAME.fullmatch(name):
        raise LayoutError(f"{name!r} can't be a workspace's name", where="name", fix=fix, code="KB327")
    return FOLDER_PREFIX + name


def find_layout(path: Path) -> Layout:
    """The layout of an existing workspace.

    Raises:
        LayoutError: The folder doesn't exist, holds no journal, or one of its folders is a link.
    """
    if not path.is_dir():
        raise LayoutError("there is no such folder", where=str(path), code="KB110")
    layout = Layout(path)
    if not layout.journal.is_file():
        raise LayoutError("is not a workspace: it has no journal", where=str(path), fix="make one with kb init")
    for folder in layout.folders:
        refuse_links(path, folder)
    return layout


def refuse_links(root: Path, folder: Path) -> None:
    """Raise `LayoutError` when a folder below the root, or one on the way to it, is a link: it may lead anywhere."""
    path = root
    for part in folder.relative_to(root).parts:
        path /= part
        if path.is_symlink():
            fix = "put the folder itself in its place"
            raise LayoutError("is a link, and what a workspace holds lies in the workspace", where=str(path), fix=fix)


def create_workspace(parent: Path, name: str, build: Callable[[Layout], None]) -> Layout:
    """Make a workspace in one step: it appears complete, or not at all.

    `build` fills a hidden folder next to the final one, which is renamed when `build` has returned; on
    any failure the hidden folder is removed. A kill in between can leave it behind, never a half
    workspace under the final name; the next creation of this name removes it.

    Args:
        parent: Existing folder the workspace goes into.
        name: Name as for `folder_name`.
        build: Writes all files; gets the layout of the hidden folder, whose subfolders exist.

    Returns:
        The layout under its final name.

    Raises:
        LayoutError: Bad name, no such parent, something has the name already, or the disk refuses.
    """
    final = parent / folder_name(name)
    if not parent.is_dir():
        raise LayoutError(
            "there is no such folder", where=str(parent), fix="create it or choose another parent", code="KB110"
        )
    _refuse_existing(final)
    _sweep(parent, final.name)
    hidden = parent / f".{final.name}.{secrets.token_hex(6)}.partial"
    lock = -1
    try:
        hidden.mkdir()
        lock = os.open(hidden, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX)
        for folder in Layout(hidden).folders:
            folder.mkdir()
        build(Layout(hidden))
        _refuse_existing(final)
        hidden.rename(final)
    except OSError as error:
        shutil.rmtree(hidden, ignore_errors=True)
        raise LayoutError(f"can't be made: {error.strerror or error}", where=str(final), code="KB112") from error
    except BaseException:
        shutil.rmtree(hidden, ignore_errors=True)
        raise
    finally:
        if lock >= 0:
            os.close(lock)
    sync_folder(parent)
    return Layout(final)


def _sweep(parent: Path, name: str) -> None:
    """Remove hidden folders of this name that nobody builds any more: a builder holds a lock on its own."""
    for folder in parent.glob(f".{name}.*.partial"):
        with suppress(OSError):
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(fd)


def _refuse_existing(final: Path) -> None:
    if os.path.lexists(final):
        raise LayoutError(
            "exists already and is never overwritten",
            where=str(final),
            fix="choose another name or parent",
            code="KB113",
        )

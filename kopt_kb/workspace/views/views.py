"""Files rendered from the journal: a header that names their origin, and no edit ever overwritten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from kopt_kb.errors import BadInput
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.chain import Head
from kopt_kb.workspace.journal.disk import read_regular, replace_file
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.views.conflict import Conflict, Difference, first_difference, unified_diff
from kopt_kb.workspace.views.header import RenderedFile, ViewError, split_view, with_header

__all__ = [
    "BlobReader",
    "View",
    "ViewRegistry",
    "ViewWrite",
    "compare_view",
    "discard_view",
    "one_file",
    "view_conflict",
    "view_header",
    "write_view",
]

BlobReader = Callable[[str], bytes]
"""sha256 → bytes; `ObjectStore.get`."""
Render = Callable[[tuple[Event, ...], BlobReader], Mapping[str, str]]
"""Events and blobs → path below the workspace → text. Pure: same events, same texts."""


@dataclass(frozen=True, slots=True)
class View:
    """A named pure function from the journal to the texts of one or more files."""

    name: str
    render: Render


@dataclass(frozen=True, slots=True)
class ViewWrite:
    """What happened to one file; `conflict` is set exactly when `status` is "conflict"."""

    path: Path
    status: Literal["written", "unchanged", "conflict"]
    conflict: Conflict | None = None


def one_file(name: str, path: str, text: Callable[[tuple[Event, ...], BlobReader], str]) -> View:
    """A view that always renders the same single file."""
    return View(name, lambda events, blob: {path: text(events, blob)})


class ViewRegistry:
    """The views of a workspace, by name, in the order given."""

    def __init__(self, views: Iterable[View]) -> None:
        self._views: dict[str, View] = {}
        for view in views:
            if view.name in self._views:
                raise BadInput(f"two views are called {view.name}", where="views")
            self._views[view.name] = view

    def __iter__(self) -> Iterator[View]:
        return iter(self._views.values())

    def get(self, name: str) -> View:
        """The view of this name; BadInput lists the names there are."""
        if name not in self._views:
            raise BadInput(f"no view is called {name!r}", where="view", fix=f"one of {', '.join(self._views)}")
        return self._views[name]

    def render(self, events: tuple[Event, ...], blob: BlobReader) -> dict[str, str]:
        """Path → text (without header) of all files of all views.

        Raises:
            BadInput: Two views render one file, or a path leaves the workspace.
        """
        texts: dict[str, str] = {}
        for view in self._views.values():
            for path, text in view.render(events, blob).items():
                if path in texts:
                    raise BadInput(f"view {view.name} renders a file of another view", where=path)
                texts[_inside(path, view.name)] = text
        return texts


def _inside(path: str, name: str) -> str:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or str(pure) != path or not pure.name:
        raise BadInput(f"view {name} renders outside the workspace", where=path)
    return path


def write_view(root: Path, relative: str, text: str, head: Head) -> ViewWrite:
    """Write one rendered file, unless the disk holds something else than what was last rendered.

    Args:
        root: The workspace.
        relative: Path below it, with `/`.
        text: The new text without header.
        head: End of the journal the text was rendered from.

    Returns:
        Written; unchanged (the disk has this text already, its header is left as it is); or the conflict.

    Raises:
        ViewError: The kind of file can't carry a header, or reading or writing failed.
    """
    path = root / relative
    data = with_header(relative, text, head)
    disk = _read(path)
    if disk is not None:
        old = split_view(relative, disk)
        if old and old.intact and old.body == text.encode("utf-8"):
            return ViewWrite(path, "unchanged")
        conflict = _conflict(path, relative, text, head, disk)
        if conflict is not None:
            return ViewWrite(path, "conflict", conflict)
    _replace(path, disk, data)
    return ViewWrite(path, "written")


def view_conflict(root: Path, relative: str, text: str, head: Head) -> Conflict | None:
    """Return what `write_view` would refuse to overwrite, without writing anything."""
    path = root / relative
    disk = _read(path)
    return None if disk is None else _conflict(path, relative, text, head, disk)


def view_header(root: Path, relative: str) -> RenderedFile | None:
    """Return the header and body of a rendered file; None when there is no file or it has no header."""
    disk = _read(root / relative)
    return None if disk is None else split_view(relative, disk)


def _conflict(path: Path, relative: str, text: str, head: Head, disk: bytes) -> Conflict | None:
    old = split_view(relative, disk)
    if old is not None and (old.intact or old.body == text.encode("utf-8")):
        return None
    reason = "the file was edited by hand" if old else "the file was not written by kb"
    diff = unified_diff(with_header(relative, text, head), disk, relative, path)
    return Conflict(path, relative, 1, reason, diff)


def discard_view(root: Path, relative: str, text: str, head: Head, store: ObjectStore) -> str | None:
    """Write one rendered file over any edit; the old bytes go into the store first.

    Returns:
        The blob of the old file, or None when there was no file.
    """
    path = root / relative
    disk = _read(path)
    sha = None if disk is None else store.put(disk)
    _replace(path, disk, with_header(relative, text, head))
    return sha


def compare_view(root: Path, relative: str, text: str) -> Difference | None:
    """The first byte in which the file's body differs from a fresh rendering; the header isn't trusted.

    Returns:
        None when they are equal. Offset and line count from the start of the body; a missing file or one
        without a header differs at byte 0.
    """
    disk = _read(root / relative)
    view = None if disk is None else split_view(relative, disk)
    if view is None:
        return Difference(0, 1, text.partition("\n")[0], "")
    return first_difference(text.encode("utf-8"), view.body)


def _read(path: Path) -> bytes | None:
    try:
        return read_regular(path)
    except OSError as error:
        raise ViewError(f"can't be read: {error.strerror or error}", where=str(path)) from error


def _replace(path: Path, old: bytes | None, new: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if replace_file(path, new, expected=old):
            return
    except OSError as error:
        raise ViewError(f"can't be written: {error.strerror or error}", where=str(path)) from error
    raise ViewError("changed while it was rendered; nothing was written", where=str(path), fix="run it again")

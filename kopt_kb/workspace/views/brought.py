"""Files that packs render: each view is asked for its texts, and where it fails all others are rendered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from kopt_kb.base.errors import KoptError
from kopt_kb.doors.view import views
from kopt_kb.workspace.journal.blobs import BlobReader
from kopt_kb.workspace.layout import Layout
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.views.files import ViewError, carries_header, split_view

__all__ = [
    "Brought",
    "brought_texts",
    "headed_files",
    "is_rendered",
    "raw_files",
    "rendered_files",
    "written_folders",
]

_CORE = ("logs/*",)
"""Patterns of the files that are rendered without any pack."""

_OWN = frozenset(
    {"README.md", "journal.jsonl", "kernel.py", "kernel.cu", "reference.py", "objects", "plans", "notes", "profiles"}
)
"""First names below a workspace that are no view's."""

_DEPTH = 3
_LONGEST_HEADER = 1024


@dataclass(slots=True)
class Brought:
    """What the views of packs give.

    Attributes:
        texts: Path below the workspace → text without its header.
        faults: Why a view gave nothing, a line each, which names its pack.
    """

    texts: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def brought_texts(state: WorkspaceState, blob: BlobReader) -> Brought:
    """Return the texts of every view of this workspace.

    Raises:
        ObjectError: A blob that a text needs is missing or damaged.
    """
    brought = Brought()
    for pack, view in views():
        try:
            texts = dict(view.texts(state, blob)) if view.applies(state) else {}
        except KoptError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever the view of a pack raises, the others are rendered
            brought.faults.append(_fault(pack.name, view.name, error))
            continue
        kinds: set[tuple[type[object], type[object]]] = {(type(path), type(text)) for path, text in texts.items()}
        if kinds - {(str, str)}:
            brought.faults.append(f"the pack {pack.name} gives no texts by path in its view {view.name}")
            continue
        refused = [path for path in texts if path in brought.texts or not _is_free(path)]
        if refused:
            brought.faults.append(
                f"the pack {pack.name} may not render {refused[0]}, which is not its own or can't carry a header"
            )
            continue
        brought.texts |= texts
    return brought


def _fault(pack: str, view: str, error: Exception) -> str:
    return f"the pack {pack} can't render its view {view}: {type(error).__name__}: {error}"


def _is_free(path: str) -> bool:
    return _is_below(path) and carries_header(path)


def _is_below(path: str) -> bool:
    """Return whether a path stays in the workspace and names nothing that is no view's."""
    parts = PurePosixPath(path).parts
    return bool(parts) and ".." not in parts and parts[0][0] not in "./" and parts[0] not in _OWN


def raw_files(state: WorkspaceState, blob: BlobReader) -> dict[str, bytes]:
    """Return path → bytes of what views render without a header.

    Raises:
        ObjectError: A blob is missing or damaged.
        ViewError: A view fails.
    """
    files: dict[str, bytes] = {}
    for pack, view in views():
        if view.raw is None:
            continue
        try:
            brought = dict(view.raw(state, blob)) if view.applies(state) else {}
        except KoptError:
            raise
        except Exception as error:
            raise ViewError(_fault(pack.name, view.name, error), where=f"the pack {pack.name}") from error
        kinds: set[tuple[type[object], type[object]]] = {(type(path), type(body)) for path, body in brought.items()}
        if kinds - {(str, bytes)}:
            what = f"the pack {pack.name} gives no bytes by path in its view {view.name}"
            raise ViewError(what, where=f"the pack {pack.name}")
        refused = [path for path in brought if path in files or not _is_below(path)]
        if refused:
            what = f"the pack {pack.name} may not render {refused[0]}, which is not its own"
            raise ViewError(what, where=f"the pack {pack.name}")
        files |= brought
    return files


def _patterns() -> tuple[str, ...]:
    return (*(pattern for _, view in views() for pattern in view.patterns), *_CORE)


def rendered_files(layout: Layout) -> Iterator[Path]:
    """Yield what lies under the names of rendered files."""
    for pattern in dict.fromkeys(_patterns()):
        yield from sorted(layout.root.glob(pattern))


def is_rendered(path: str) -> bool:
    """Return whether a path below a workspace is a name of rendered files."""
    return any(fnmatchcase(path, pattern) for pattern in _patterns())


def headed_files(root: Path) -> Iterator[str]:
    """Yield the paths that carry the header of a rendered file, whoever wrote them, in the folders where views lie."""
    for path in sorted(each for depth in range(1, _DEPTH + 1) for each in root.glob("/".join("*" * depth))):
        name = path.relative_to(root).as_posix()
        if _is_free(name) and path.is_file() and not path.is_symlink():
            with suppress(OSError), path.open("rb") as file:
                if split_view(name, file.read(_LONGEST_HEADER)) is not None:
                    yield name


def written_folders(layout: Layout) -> tuple[Path, ...]:
    """Return every folder that rendering writes into, the root first."""
    parents = (PurePosixPath(pattern).parent.as_posix() for pattern in _patterns())
    below = (folder for parent in parents if parent != "." for folder in layout.root.glob(parent))
    return tuple(dict.fromkeys((layout.root, *layout.folders, *below)))

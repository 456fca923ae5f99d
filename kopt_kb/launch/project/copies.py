"""Copies of a project, one for each version: made once, used until something disturbed them, removed at the end."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.project.bundle import files_of
from kopt_kb.launch.project.file import ProjectFile
from kopt_kb.launch.project.scratch import Scratch, UnwritableFilesError, make_scratch
from kopt_kb.sandbox.owned import owner_prefix, remove_orphans

__all__ = ["Copies"]


@dataclass(slots=True, weakref_slot=True)
class Copies:
    """The copies of one project; close them.

    Attributes:
        project: Says which files are editable and which protected.
        root: The project's folder; it is only read.
        kept: sha256 of a version's bundle → its copy.
    """

    project: ProjectFile
    root: Path
    kept: dict[str, Scratch] = field(default_factory=dict)
    _folders: set[Path] = field(default_factory=set)
    _ended: Callable[[], object] | None = None

    def of(self, source: bytes, protected: Mapping[str, str]) -> Scratch:
        """Return the copy that holds a bundle's files; it is made once and used until something disturbed it.

        Raises:
            UnwritableFilesError: No file system takes these files.
            BadInput: The project can't be copied, or a protected file is not what it was.
        """
        sha = sha256(source).hexdigest()
        known = self.kept.get(sha)
        if known is not None and not known.disturbed() and not known.meddled():
            return known
        self._drop({sha})
        made = self.spare(files_of(source), protected)
        changed = made.disturbed()
        if changed:
            raise BadInput(
                f"{changed[0]} is not what it was at the baseline", where=str(self.root / changed[0]),
                fix="restore it, or make another workspace", code="KB416",
            )  # fmt: skip
        self.kept[sha] = made
        return made

    def spare(self, files: Mapping[str, str], protected: Mapping[str, str]) -> Scratch:
        """Return a copy for one use, with nothing of any other copy beside it; `remove` it. Raises like `of`."""
        if self._ended is None:
            remove_orphans()
            self._ended = weakref.finalize(self, _remove, self._folders)
        folder = Path(tempfile.mkdtemp(prefix=owner_prefix("kb-project-")))
        self._folders.add(folder)
        try:
            return make_scratch(self.project, self.root, folder / "project", files, protected)
        except UnwritableFilesError:
            self._forget(folder)
            raise
        except OSError as error:
            self._forget(folder)
            raise BadInput(f"the project can't be copied: {error}", where=str(self.root), code="KB415") from error

    def keep_only(self, sources: Collection[bytes]) -> None:
        """Remove the copies of all other versions."""
        self._drop(set(self.kept) - {sha256(one).hexdigest() for one in sources})

    def meddled(self, but: Scratch) -> tuple[str, ...]:
        """Return what changed in all copies but one, none of which had a command running; they are removed."""
        found = {sha: one.meddled() for sha, one in self.kept.items() if one is not but}
        self._drop({sha for sha, paths in found.items() if paths})
        return tuple(f"{path} of another version's copy" for paths in found.values() for path in paths)

    def remove(self, copy: Scratch) -> None:
        """Remove a copy from disk."""
        self._forget(copy.folder.parent)

    def close(self) -> None:
        """Remove all copies."""
        self.kept.clear()
        _remove(self._folders)

    def _forget(self, folder: Path) -> None:
        self._folders.discard(folder)
        shutil.rmtree(folder, ignore_errors=True)

    def _drop(self, names: set[str]) -> None:
        for name in names & self.kept.keys():
            self.remove(self.kept.pop(name))


def _remove(folders: set[Path]) -> None:
    """Remove folders, and what the set holds."""
    while folders:
        shutil.rmtree(folders.pop(), ignore_errors=True)

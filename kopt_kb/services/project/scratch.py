"""A copy of a project that a candidate runs in: its own files in place of the editable ones, all others as they are."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.services.project.file import ProjectFile
from kopt_kb.services.project.paths import changed_files, hash_files, matches, walk

__all__ = ["Scratch", "make_scratch"]


@dataclass(slots=True)
class Scratch:
    """One copy.

    Attributes:
        folder: Its root.
        hashes: Path → sha256 of every file that must stay as it is: the candidate's own and the protected ones.
        built: Whether the build command succeeded in it.
    """

    folder: Path
    hashes: Mapping[str, str]
    built: bool = False

    def disturbed(self) -> tuple[str, ...]:
        """Return the files that something changed since the copy was made."""
        return changed_files(self.folder, self.hashes)


def make_scratch(
    project: ProjectFile, root: Path, folder: Path, files: Mapping[str, str], protected: Mapping[str, str]
) -> Scratch:
    """Copy a project; the project itself is only read.

    Args:
        project: Says which files are editable and which protected.
        root: The project's folder.
        folder: Folder to make.
        files: The candidate's editable files; editable files of the project that are not among them are left out.
        protected: Path → sha256 that protected files must have.

    Raises:
        OSError: Something can't be read or written.
    """
    folder.mkdir(parents=True)
    for path in walk(root, project.exclude):
        if matches(project.editable, path) and path not in files:
            continue
        _copy(root, root / path, folder / path)
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    return Scratch(folder, {**protected, **hash_files(folder, files)})


def _copy(root: Path, source: Path, target: Path) -> None:
    """Copy a file with its times and mode, or a link; one that leads into the project leads into the copy instead."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink():
        place = source.readlink()
        if place.is_absolute() and place.is_relative_to(root):
            inside = target.parents[len(source.relative_to(root).parts) - 1] / place.relative_to(root)
            place = Path(os.path.relpath(inside, target.parent))
        target.symlink_to(place)
    elif source.is_file():  # no socket and no pipe
        shutil.copy2(source, target)

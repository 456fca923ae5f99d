"""A copy of a project that a candidate runs in: its own files in place of the editable ones, all others as they are."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from errno import EEXIST, EILSEQ, EINVAL, EISDIR, ELOOP, ENAMETOOLONG, ENOTDIR
from pathlib import Path

from kopt_kb.launch.project.file import ProjectFile
from kopt_kb.launch.project.harness import STARTUP, Named, changes_harness, named_by_commands, shadow_fault
from kopt_kb.launch.project.paths import RUBBISH, changed_files, hash_files, link_place, matches, walk

__all__ = ["Scratch", "UnwritableFilesError", "make_scratch"]

_OWN_FAULT = frozenset({EEXIST, EILSEQ, EINVAL, EISDIR, ELOOP, ENAMETOOLONG, ENOTDIR})
_CODE = (".py", ".pyc")

Stamp = tuple[int, int, int, int]
"""Inode, size in bytes, time of the last write and of the last change in nanoseconds; the last one can't be set."""


class UnwritableFilesError(Exception):
    """No file system takes the candidate's files: a path is too long, or a file is where a folder must be."""


@dataclass(slots=True)
class Scratch:
    """One copy.

    Attributes:
        project: Says which files are editable and which protected.
        root: The project's folder.
        named: What the project's commands name.
        folder: The copy's root.
        hashes: Path → sha256 of every file that must stay as it is: the candidate's own and the protected ones.
        built: Whether the build command succeeded in it.
    """

    project: ProjectFile
    root: Path
    named: Named
    folder: Path
    hashes: Mapping[str, str]
    built: bool = False
    _others: dict[str, tuple[Stamp, str]] = field(default_factory=dict)
    _made: set[str] = field(default_factory=set)
    _seen: dict[str, Stamp] = field(default_factory=dict)

    def disturbed(self, *, building: bool = False) -> tuple[str, ...]:
        """Return the files that something changed or added since the copy was made, as far as a command may not.

        Candidate's and protected files must stay. Other files may change, and Python files may be new, only while the
        build runs. New files that change how tests run, or that stand in front of a library, are never allowed.
        """
        now = self._stamps()
        added = now.keys() - self._others.keys() - self.hashes.keys()
        foreign = [path for path in sorted(added) if self._is_foreign(path, building=building)]
        changed = [] if building else [path for path in self._others if self._differs(path, now.get(path))]
        gone = [path for path, sha in self.hashes.items() if sha and path not in now]  # its folder may be a link now
        return tuple(dict.fromkeys([*changed_files(self.folder, self.hashes), *gone, *foreign, *changed]))

    def verb(self, path: str) -> str:
        """Return what was done to a file that `disturbed` names."""
        new = (self.folder / path).exists() and path not in self.hashes and path not in self._others
        return "added" if new else "changed"

    def meddled(self) -> tuple[str, ...]:
        """Return every file that is new, gone or written since `settle`: no command of this copy ran since then."""
        now = self._stamps()
        return tuple(sorted(path for path in now.keys() | self._seen.keys() if now.get(path) != self._seen.get(path)))

    def settle(self, *, building: bool = False) -> None:
        """Take the copy as its own command left it; what a build made or changed may be written again later on.

        But not what is loaded or run: what the benchmark times is what the test and `outputs` used.
        """
        self._seen = self._stamps()
        if not building:
            return
        for path in self._seen.keys() - self.hashes.keys():
            known = self._others.get(path)
            if known is None or self._differs(path, self._seen[path]):
                self._others[path] = (self._seen[path], _hash(self.folder / path))
                if not _is_loadable(self.folder / path):
                    self._made.add(path)
        for path in self._others.keys() - self._seen.keys():
            del self._others[path]

    def forget_caches(self) -> None:
        """Remove compiled Python files: one that a candidate wrote would be run in place of a protected module."""
        for here, folders, _ in os.walk(self.folder):
            if "__pycache__" in folders:
                folders.remove("__pycache__")
                place = Path(here, "__pycache__")
                if place.is_symlink():
                    place.unlink()
                else:
                    shutil.rmtree(place, ignore_errors=True)

    def _is_foreign(self, path: str, *, building: bool) -> bool:
        name = path.rpartition("/")[2]
        if name in STARTUP or name.endswith(".pth"):
            return True
        module = f"{path}/__init__.py" if (self.folder / path).is_symlink() and not path.endswith(_CODE) else path
        if shadow_fault(self.named, self.root, module, installed=not building):
            return True
        if matches(self.project.exclude, path):
            return False
        named = self.named.covers(path) and not matches(self.project.editable, path)
        protected = named or path in self.named.files or matches(self.project.protected, path)
        return protected or changes_harness(path) or (not building and name.endswith(_CODE))

    def _differs(self, path: str, now: Stamp | None) -> bool:
        stamp, sha = self._others[path]
        if now == stamp:
            return False
        free = path in self._made and not path.endswith(_CODE)
        return not free and (now is None or _hash(self.folder / path) != sha)

    def _stamps(self) -> dict[str, Stamp]:
        return dict(_stamps(self.folder))


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
        UnwritableFilesError: The candidate's files can't lie in a folder together.
        OSError: Something can't be read or written, and the candidate is not to blame.
    """
    folder.mkdir(parents=True)
    for path in walk(root, project.exclude):
        if matches(project.editable, path) and path not in files:
            continue
        _copy(root, root / path, folder / path)
    for path, text in files.items():
        _write(folder / path, path, text)
    made = Scratch(project, root, named_by_commands(project, root), folder, {**protected, **hash_files(folder, files)})
    made.settle()
    made._others = {
        path: (stamp, _hash(folder / path)) for path, stamp in made._seen.items() if path not in made.hashes
    }
    return made


def _write(target: Path, path: str, text: str) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    except OSError as error:
        if error.errno in _OWN_FAULT:
            raise UnwritableFilesError(f"{path[:200]!r} can't be written: {error.strerror}") from error
        raise


def _copy(root: Path, source: Path, target: Path) -> None:
    """Copy a file with its times and mode, or a link.

    A link that leads into the project leads into the copy instead; any other leads to the same place as before.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink():
        place = link_place(root, source)
        if not place.is_absolute():
            top = target.parents[len(source.relative_to(root).parts) - 1]
            place = Path(os.path.relpath(top / place, target.parent))
        target.symlink_to(place)
    elif source.is_file():  # no socket and no pipe
        shutil.copy2(source, target)


def _stamps(folder: Path) -> Iterator[tuple[str, Stamp]]:
    """Yield path and stamp of every file and link of a copy; links are not followed, caches are left out."""
    for here, folders, files in os.walk(folder):
        links = {one for one in folders if Path(here, one).is_symlink()}
        folders[:] = [one for one in folders if one not in links and one not in RUBBISH]
        inside = Path(here).relative_to(folder).as_posix()
        prefix = "" if inside == "." else f"{inside}/"
        for name in (*files, *links):
            try:
                found = os.lstat(f"{here}/{name}")
            except OSError:  # it ended its life meanwhile
                continue
            yield f"{prefix}{name}", (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _is_loadable(path: Path) -> bool:
    """Return whether a file is an object file, a library or a program."""
    try:
        with path.open("rb") as file:
            return path.is_file() and file.read(4) == b"\x7fELF"
    except OSError:
        return False


def _hash(path: Path) -> str:
    """Return the sha256 of a file, or of a link's text; empty for what is neither."""
    try:
        if path.is_symlink():
            return hashlib.sha256(b"link:" + bytes(path.readlink())).hexdigest()
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""

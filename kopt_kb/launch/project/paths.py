"""Files of a project: which may be changed, which must not, and whether they still are what they were."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kopt_kb.launch.project.bounded_read import open_regular
from kopt_kb.launch.project.file import ProjectFile
from kopt_kb.launch.project.harness import changes_harness, named_by_commands, shadow_fault
from kopt_kb.launch.project.toml_file import ProjectFileError

__all__ = [
    "RUBBISH", "Selection", "changed_files", "hash_files", "link_place", "matches", "path_fault", "protected_files",
    "select", "walk",
]  # fmt: skip

_NAME_BYTES = 255
"""Longest name of a file in the file systems in use."""
_PATH_CHARACTERS = 1000
"""Longest path inside a project: a copy's own folder comes before it, and 4096 bytes are the limit of Linux."""

RUBBISH = frozenset(
    {
        ".git", ".hg", ".svn", "__pycache__", ".venv", "venv", "node_modules", ".pytest_cache", ".mypy_cache",
        ".ruff_cache", ".tox", ".cache",
    }
)  # fmt: skip
"""Folders no copy needs."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Files of a project, relative to its root, sorted."""

    editable: tuple[str, ...]
    protected: tuple[str, ...]


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    words = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    return re.compile("".join(parts.get(one, re.escape(one)) for one in words))


def matches(globs: Iterable[str], path: str) -> bool:
    """Return whether a path fits one of the globs: `*` stays in a folder, `**` crosses folders."""
    return any(_pattern(one).fullmatch(path) for one in globs)


def walk(root: Path, exclude: Iterable[str] = ()) -> Iterator[str]:
    """Yield files and links below a folder, sorted; caches, version control and tuning workspaces are left out."""
    left_out = tuple(exclude)
    for folder, folders, files in os.walk(root):
        here = Path(folder).relative_to(root).as_posix()
        prefix = "" if here == "." else f"{here}/"
        kept = [one for one in sorted(folders) if one not in RUBBISH and not _is_workspace(Path(folder, one))]
        links = [one for one in kept if Path(folder, one).is_symlink()]
        folders[:] = [one for one in kept if one not in links and not matches(left_out, f"{prefix}{one}")]
        for name in sorted((*files, *links)):
            path = f"{prefix}{name}"
            if not matches(left_out, path) and not name.endswith(".pyc"):
                yield path


def _is_workspace(folder: Path) -> bool:
    hidden = folder.name.endswith(".partial") and folder.name.startswith(".kernel_opt_")
    return hidden or (folder.name.startswith("kernel_opt_") and (folder / "journal.jsonl").is_file())


def select(project: ProjectFile, root: Path) -> Selection:
    """Return the files a candidate may and may not change; see `protected_files` for what is protected.

    Raises:
        ProjectFileError: The root or a file is missing, a glob fits nothing, both sides claim a file, or an editable
            file is no plain UTF-8 text.
    """
    if not root.is_dir():
        raise ProjectFileError(f"the project's folder {root} does not exist", where=project.where)
    files = tuple(walk(root, project.exclude))
    for key, globs in (("editable", project.editable), ("protected", project.protected)):
        empty = next((one for one in globs if not any(matches((one,), path) for path in files)), None)
        if empty is not None:
            raise ProjectFileError(f"[project] {key}: {empty} fits no file of {root}", where=project.where)
    editable = tuple(path for path in files if matches(project.editable, path))
    protected = protected_files(project, root)
    both = sorted(set(editable) & set(protected))
    if both:
        how = "" if matches(project.protected, both[0]) else " (a command or a protected link names it)"
        fix = "what tests and benchmarks rest on can't be edited: narrow the globs"
        raise ProjectFileError(f"{both[0]} is both editable and protected{how}", where=project.where, fix=fix)
    if project.kernel_source not in editable:
        what = "is not editable" if (root / project.kernel_source).is_file() else "does not exist"
        raise ProjectFileError(f"[project] kernel_source: {project.kernel_source} {what}", where=project.where)
    if project.reference and project.reference not in protected:
        raise ProjectFileError(f"[project] reference: {project.reference} does not exist", where=project.where)
    for path in editable:
        _check_text(root / path, path, project.where)
    return Selection(editable, protected)


def protected_files(project: ProjectFile, root: Path) -> tuple[str, ...]:
    """Return the files that nothing may change, sorted as `walk` does.

    They fit a protected glob, are named by a command, lie below a folder that a command names and are not editable, or
    are what a protected link inside the project leads to.
    """
    files, named = tuple(walk(root, project.exclude)), named_by_commands(project, root)
    found = {path for path in files if matches(project.protected, path) or path in named.files}
    found |= {path for path in files if named.covers(path) and not matches(project.editable, path)}
    new = found
    while new:
        places = [link_place(root, root / path) for path in new if (root / path).is_symlink()]
        inside = [one.as_posix() for one in places if not one.is_absolute()]
        new = {path for path in files if any(path == one or path.startswith(f"{one}/") for one in inside)} - found
        found |= new
    return tuple(path for path in files if path in found)


def _check_text(path: Path, shown: str, where: str) -> None:
    if path.is_symlink():
        raise ProjectFileError(f"{shown} is editable and a link", where=where, fix="make its target editable instead")
    try:
        path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ProjectFileError(
            f"{shown} is editable and not UTF-8 text", where=where, fix="narrow the globs"
        ) from error


def path_fault(project: ProjectFile, path: str, known: Iterable[str], root: Path | None = None) -> str:
    """Return why a candidate may not write this path, or nothing.

    Args:
        project: Says which files are editable.
        path: Relative to the project's root.
        known: Files of the candidate and its incumbent; any other is new.
        root: The project's folder, in which links, files on the way and modules are looked for; None: not looked for.
    """
    parts, known = path.split("/"), set(known)
    if path.startswith("/") or "\\" in path or any(ord(one) < 32 for one in path) or {"", ".", ".."} & set(parts):
        return "is no plain path inside the project"
    if any(len(one.encode(errors="replace")) > _NAME_BYTES for one in parts) or len(path) > _PATH_CHARACTERS:
        return "is too long for a file system"
    if not matches(project.editable, path) or matches(project.exclude, path) or RUBBISH & set(parts):
        return f"is outside the editable paths ({', '.join(project.editable)})"
    if matches(project.protected, path):
        return "is protected"
    above = ["/".join(parts[:at]) for at in range(1, len(parts))]
    if known & set(above) or (root is not None and any((root / one).is_file() for one in above)):
        return "lies below a file"
    if any(one.startswith(f"{path}/") for one in known) or (root is not None and (root / path).is_dir()):
        return "is a folder"
    if root is not None and any((root / one).is_symlink() for one in (*above, path)):
        return "goes through a link"
    return "" if path in known else _fault_of_new(project, path, root)


def _fault_of_new(project: ProjectFile, path: str, root: Path | None) -> str:
    if changes_harness(path):
        return "would change how tests run"
    if root is None:
        return ""
    named = named_by_commands(project, root)
    if path in named.files:
        return "would be what a command runs"
    return shadow_fault(named, root, path)


def link_place(root: Path, link: Path) -> Path:
    """Return where a link of a project leads: relative to the root for what is inside, else absolute."""
    real = root.resolve()
    place = Path(os.path.normpath(link.parent.resolve() / link.readlink()))
    for one in (place, Path(os.path.realpath(place))):  # Path.resolve raises on loops before Python 3.13
        if one.is_relative_to(real):
            return one.relative_to(real)
    return place


def hash_files(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """Return path → sha256 of its bytes; empty when no regular file can be read there.

    A link is hashed by the place it leads to, and by the bytes there too when that is outside the root.
    """
    found = {}
    for path in paths:
        try:
            own = root / path
            if own.is_symlink():
                found[path] = _hash_link(root, own)
                continue
            with open_regular(own) as file:  # a command may have put a pipe there
                found[path] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            found[path] = ""
    return found


def _hash_link(root: Path, link: Path) -> str:
    """Hash where a link leads; a copy's link that leads to the same file of the copy has the same hash."""
    place = link_place(root, link)
    found = hashlib.sha256(f"link:{place}".encode(errors="surrogateescape"))
    if place.is_absolute():
        inner = walk(place) if place.is_dir() else [""] if place.is_file() else []
        for path in inner:
            own = place / path
            data = bytes(own.readlink()) if path and own.is_symlink() else own.read_bytes() if own.is_file() else b""
            found.update(f"\0{path}\0{hashlib.sha256(data).hexdigest()}".encode(errors="surrogateescape"))
    return found.hexdigest()


def changed_files(root: Path, hashes: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files that are gone or no longer have their hash."""
    now = hash_files(root, hashes)
    return tuple(path for path, sha in hashes.items() if now[path] != sha)

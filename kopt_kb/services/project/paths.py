"""Files of a project: which may be changed, which must not, and whether they still are what they were."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kopt_kb.services.project.bounded_read import open_regular
from kopt_kb.services.project.file import ProjectFile
from kopt_kb.services.project.strict_toml import ProjectFileError

__all__ = ["Selection", "changed_files", "hash_files", "matches", "path_fault", "select", "walk"]

_RUBBISH = frozenset(
    {
        ".git", ".hg", ".svn", "__pycache__", ".venv", "venv", "node_modules", ".pytest_cache", ".mypy_cache",
        ".ruff_cache", ".tox", ".cache",
    }
)  # fmt: skip
"""Folders no copy needs."""
_HARNESS = frozenset(
    {
        "conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.ini", "tox.ini", "setup.cfg", "setup.py",
        "pyproject.toml",
    }
)  # fmt: skip
"""Names that change how tests run wherever they stand: a candidate may not add one."""
_MAX_PATH, _MAX_NAME = 2000, 255


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
        kept = [one for one in sorted(folders) if one not in _RUBBISH and not _is_workspace(Path(folder, one))]
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
    """Return the files a candidate may and may not change; files that commands name are protected too.

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
    named = _named(project, root)
    protected = tuple(path for path in files if matches(project.protected, path) or path in named)
    both = sorted(set(editable) & set(protected))
    if both:
        fix = "what tests and benchmarks rest on can't be edited: narrow the globs"
        raise ProjectFileError(f"{both[0]} is both editable and protected", where=project.where, fix=fix)
    if project.kernel_source not in editable:
        what = "is not editable" if (root / project.kernel_source).is_file() else "does not exist"
        raise ProjectFileError(f"[project] kernel_source: {project.kernel_source} {what}", where=project.where)
    for path in editable:
        _check_text(root / path, path, project.where)
    return Selection(editable, protected)


def _named(project: ProjectFile, root: Path) -> frozenset[str]:
    """Return the files that the words of commands name, without what follows `::`."""
    commands = (one for name, one in project.commands.items() if name != "build")
    words = {os.path.normpath(word.split("::")[0]) for one in commands for word in one.words}
    return frozenset(word for word in words if not word.startswith(("/", "..", "-")) and (root / word).is_file())


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
        known: Editable files there are; any other is new.
        root: The project's folder, in which links on the way are looked for; None: not looked for.
    """
    parts = path.split("/")
    if path.startswith("/") or "\\" in path or any(ord(one) < 32 for one in path) or {"", ".", ".."} & set(parts):
        return "is no plain path inside the project"
    if len(path) > _MAX_PATH or any(len(part.encode()) > _MAX_NAME for part in parts):
        return "is too long for a file"
    names = {*known}
    if {"/".join(parts[:at]) for at in range(1, len(parts))} & names or any(
        one.startswith(f"{path}/") for one in names
    ):
        return "is a folder and a file at once"
    if not matches(project.editable, path) or matches(project.exclude, path) or _RUBBISH & set(parts):
        return f"is outside the editable paths ({', '.join(project.editable)})"
    if matches(project.protected, path):
        return "is protected"
    if path not in known and parts[-1] in _HARNESS:
        return "would change how tests run"
    if root is not None and any((root / "/".join(parts[:at])).is_symlink() for at in range(1, len(parts) + 1)):
        return "goes through a link"
    return ""


def hash_files(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """Return path → sha256 of its bytes, or of the place it links to; empty when no regular file can be read there."""
    found = {}
    for path in paths:
        try:
            own = root / path
            if own.is_symlink():
                found[path] = hashlib.sha256(b"link:" + bytes(own.readlink())).hexdigest()
                continue
            with open_regular(own) as file:  # a command may have put a pipe there
                found[path] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            found[path] = ""
    return found


def changed_files(root: Path, hashes: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files that are gone or no longer have their hash."""
    now = hash_files(root, hashes)
    return tuple(path for path, sha in hashes.items() if now[path] != sha)

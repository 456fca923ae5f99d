"""What a project's tests and benchmarks rest on: what its commands name, and which new files would take its place.

A new file that Python takes for a library, for a protected module or for a setting of the test tool would be judged
instead of the real one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path, PurePosixPath

from kopt_kb.launch.project.command import ProjectCommand
from kopt_kb.launch.project.file import ProjectFile

__all__ = ["STARTUP", "Named", "changes_harness", "named_by_commands", "shadow_fault"]

_HARNESS = frozenset(
    {
        "conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.ini", ".pytest.ini", "pytest.toml",
        ".pytest.toml", "tox.ini", "setup.cfg", "setup.py", "pyproject.toml",
    }
)  # fmt: skip
"""Names that change how tests run wherever they stand: a candidate may not add one."""
STARTUP = frozenset({"sitecustomize.py", "usercustomize.py"})
"""Names that Python runs by itself when it starts."""
_MODULES = frozenset({".py", ".pyc", ".so", ".pyd"})
"""Last suffixes of what Python imports."""


@dataclass(frozen=True, slots=True)
class Named:
    """What tests and benchmarks rest on by their command lines alone; paths are relative to the root, with `/`.

    Attributes:
        files: Files, and every place where a module after `-m` is looked for, whether there is one or not.
        folders: Folders below the root.
        modules: First names of modules after `-m`, and names of programs: what they import must be the real ones.
        looked_in: Folders of the project that Python looks in before it looks for installed packages; `.` is the root.
    """

    files: frozenset[str]
    folders: tuple[str, ...]
    modules: frozenset[str]
    looked_in: tuple[str, ...]

    def covers(self, path: str) -> bool:
        """Return whether a command names the file or a folder above it."""
        return path in self.files or any(path.startswith(f"{one}/") for one in self.folders)


def named_by_commands(project: ProjectFile, root: Path) -> Named:
    """Return what all commands but the build name, as the project's folder is now."""
    commands = [one for name, one in project.commands.items() if name != "build"]
    modules = {one for command in commands for one in _modules(command)}
    words = {one for command in commands for word in command.words for one in _paths(word, root)}
    words |= {project.reference} if project.reference else set()
    files = {one for one in words if (root / one).is_file()}
    folders = {one for one in words if one != "." and (root / one).is_dir()}
    python_path = [*project.python_path, *(one for command in commands for one in _python_path(command))]
    looked_in = dict.fromkeys([*python_path, *(["."] if modules else [])])
    for module in modules:
        inner = module.replace(".", "/")
        for base in looked_in:
            places = (f"{inner}.py", f"{inner}/__init__.py", f"{inner}/__main__.py")
            files |= {os.path.normpath(f"{base}/{one}") for one in places}
    scripts = {str(PurePosixPath(one).parent) for one in words & files}  # Python puts a script's folder first
    programs = {PurePosixPath(command.words[0]).name for command in commands}
    return Named(
        frozenset(files),
        tuple(sorted(folders)),
        frozenset({one.partition(".")[0] for one in modules} | programs),
        tuple(dict.fromkeys([*looked_in, *sorted(scripts), *sorted(folders)])),
    )


def _paths(word: str, root: Path) -> Iterator[str]:
    """Yield the paths below the root that a word may name: itself or what follows `--option=`, without `::test`."""
    text = (word.partition("=")[2] if word.startswith("-") else word).split("::")[0]
    if not text or "{" in text or "\0" in text:
        return
    plain = os.path.relpath(text, root) if text.startswith("/") else os.path.normpath(text)
    if plain != ".." and not plain.startswith("../"):
        yield plain


def _modules(command: ProjectCommand) -> Iterator[str]:
    """Yield dotted names after `-m`; the marker of `pytest -m` looks the same, and one too many does no harm."""
    for at, word in enumerate(command.words):
        if word.startswith("-m"):
            name = word[2:] or next(iter(command.words[at + 1 :]), "")
            if name and all(map(str.isidentifier, name.split("."))):
                yield name


def _python_path(command: ProjectCommand) -> Iterator[str]:
    """Yield the project's own folders in a `PYTHONPATH=…` in front of a command."""
    for one in filter(None, command.environment().get("PYTHONPATH", "").split(os.pathsep)):
        plain = os.path.normpath(one)
        if not plain.startswith(("/", "..")):
            yield plain


def changes_harness(path: str) -> bool:
    """Return whether a file of this name changes how tests run, wherever it stands."""
    name = PurePosixPath(path).name
    return name in _HARNESS or name.endswith(".pth")


def shadow_fault(named: Named, root: Path, path: str, *, installed: bool = True) -> str:
    """Return what a new file would stand in front of, or nothing.

    Args:
        named: What the project's commands name.
        root: The project's folder.
        path: The new file, relative to the root.
        installed: Whether libraries installed for this Python count; those of the standard library always do.
    """
    module = _module(path)
    if module is None:
        return ""
    if PurePosixPath(path).name.startswith("__init__.") and (root / f"{module}.py").is_file():
        return f"would stand in front of {module}.py"
    base, _, name = module.rpartition("/")
    if (base or ".") not in named.looked_in or _is_module(root / module):
        return ""
    if name in sys.stdlib_module_names:
        return f"would stand in front of the standard library's {name}"
    if name in named.modules or (installed and _is_installed(name, root)):
        return f"would stand in front of the library {name}"
    return ""


def _module(path: str) -> str | None:
    """Return the path without what makes it a module: `a/b` for `a/b.py`, `a/b.abi3.so` and `a/b/__init__.py`."""
    place = PurePosixPath(path)
    if place.suffix not in _MODULES:
        return None
    plain = place.with_name(place.name.removesuffix(".py") if place.suffix == ".py" else place.name.partition(".")[0])
    return str(plain.parent if plain.name == "__init__" else plain)


def _is_module(place: Path) -> bool:
    """Return whether the project itself has a module of this name there: a candidate's file shadows nothing new."""
    return place.with_name(f"{place.name}.py").is_file() or (place / "__init__.py").is_file()


def _is_installed(name: str, root: Path) -> bool:
    real = Path(root).resolve()
    own = [one for one in sys.path if Path(one).resolve().is_relative_to(real) and "site-packages" not in one]
    return PathFinder.find_spec(name, [one for one in sys.path if one and one not in own]) is not None

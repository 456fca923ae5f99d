"""New files that Python would take for a library or for a protected module: tests must import the real ones."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from pathlib import Path, PurePosixPath

from kopt_kb.runners.project.named import Named

__all__ = ["STARTUP", "changes_harness", "shadow_fault"]

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

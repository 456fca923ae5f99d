"""Import a file of somebody else as it was published: inside its package, without a GPU, script or module.

Three ways are tried in turn, each on the modules that were there before: as a module of its package; without running
the `__init__` files above it, which import the rest of a library; and statement by statement, so that a script that
launches, times or plots where it stands still yields the kernels that it defines. What stays missing is said by the
first way's error, with the file and line that asked for it.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

from kopt_kb.base.errors import BadInput, KoptError, MissingTool
from kopt_kb.doors.languages import language_of_module
from kopt_kb.launch.compile.loader import imported

__all__ = ["ModulePlace", "Published", "import_name", "load_published", "missing_package", "place_of"]


@dataclass(frozen=True, slots=True)
class Published:
    """A module, and what of it could not be run.

    Attributes:
        module: With everything that could be defined.
        skipped: Line of a statement that failed → why; only of the file itself.
    """

    module: ModuleType
    skipped: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModulePlace:
    """Where a file stands: the folder that its package is imported from, and its dotted name there."""

    root: Path
    name: str


_LOADED: dict[Path, tuple[str, Published]] = {}


def load_published(file: str) -> Published:
    """Return the file's module, imported again when its content has changed.

    Raises:
        BadInput: The file is absent, is no Python, or fails whichever way it is imported.
        MissingTool: It needs a package that is not installed, which the error names.
    """
    path = Path(file).resolve()
    if not path.is_file():
        raise BadInput("no such file", where=file, code="KB110")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if path in _LOADED and _LOADED[path][0] == digest:
        return _LOADED[path][1]
    place = place_of(path)
    ways: list[Callable[[], Published]] = [lambda: _alone(path, digest)]
    if place is not None:
        here = place
        ways = [lambda: Published(_named(here)), lambda: _without_parents(here)]
    found = _first_of([*ways, lambda: _by_statement(path, place, digest)], str(path))
    _LOADED[path] = (digest, found)
    return found


def import_name(name: str) -> ModuleType:
    """Return the module of a dotted name; the `__init__` files above it are left out where they can't be run.

    Raises:
        BadInput: There is none, or it fails.
        MissingTool: It needs a package that is not installed.
    """

    def without_parents() -> Published:
        spec = _found_without_parents(name)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        root = Path(spec.origin).parents[name.count(".") + (Path(spec.origin).stem == "__init__")]
        return _without_parents(ModulePlace(root, name))

    return _first_of([lambda: Published(importlib.import_module(name)), without_parents], name).module


def place_of(path: Path) -> ModulePlace | None:
    """Return where a file stands in its package; None for a file of its own.

    Folders with `__init__.py` belong to the package, and so do those that the file's own relative imports climb to.
    """
    depth = _climbs(path)
    folders = 0
    for folder in path.parents:
        if folders >= depth and not (folder / "__init__.py").is_file():
            break
        folders += 1
    parts = [one.name for one in list(path.parents)[:folders]][::-1]
    if not parts or not all(part.isidentifier() for part in parts):
        return None
    stem = [] if path.stem == "__init__" else [path.stem]
    return ModulePlace(list(path.parents)[folders], ".".join([*parts, *stem]))


def _climbs(path: Path) -> int:
    """Return how many folders above a file its relative imports name."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return 0
    return max((node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)), default=0)


def _first_of(ways: list[Callable[[], Published]], where: str) -> Published:
    """Return what the first way that works yields; raises the error of the first way when none does."""
    first: BaseException = ImportError("there is no way to import it")
    for way in ways:
        before = dict(sys.modules)
        try:
            with _no_launch():
                return way()
        except (KoptError, MemoryError):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a file of somebody does while it is imported
            first = error if way is ways[0] else first
            _forget(before)
    raise _refusal(first, where) from first


def _forget(before: dict[str, ModuleType]) -> None:
    """Drop the modules that a failed import left, and what they registered with torch."""
    for name in [name for name in sys.modules if name not in before]:
        if name.partition(".")[0] not in {"torch", "triton", "numpy"}:
            del sys.modules[name]
    gc.collect()


def missing_package(error: ImportError, where: str) -> MissingTool:
    """Return the error that names the package that is not installed, where it was asked for, and what to install."""
    package = (error.name or "").partition(".")[0]
    fix = f"install the package that has {package or 'it'}, or put it on PYTHONPATH"
    language = language_of_module(package, _asked_at(error).rpartition(":")[0] or where) if package else None
    if package and package != error.name and _is_installed(package):
        fix = f"the {package} that is installed has no {error.name}: the file is of another version of it"
    elif language is not None:
        extra = next(one for name, one in language.modules.items() if name.partition(".")[0] == package)
        fix = f"install kopt-kb[{extra}]"
    return MissingTool(
        f"{error.name or error} is not installed", where=_asked_at(error) or where, fix=fix, code="KB120"
    )


def _refusal(error: BaseException, where: str) -> KoptError:
    if isinstance(error, ModuleNotFoundError) and error.name and not _is_installed(error.name):
        return missing_package(error, where)
    place = _asked_at(error) or where
    fix = "it fails as it is imported; run `python -c` with the same import to see more"
    return BadInput(f"import fails: {_line(error)}", where=place, fix=fix, code="KB084")


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _asked_at(error: BaseException) -> str:
    """Return file:line of the innermost statement outside the import system that ran into an error."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [
        one for one in frames if not one.filename.startswith("<") and Path(one.filename).parent != Path(__file__).parent
    ]
    own = [one for one in own if "importlib" not in Path(one.filename).parts]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else ""


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__


@contextmanager
def _no_launch() -> Iterator[None]:
    """Refuse launches while a file is imported: nothing would run, and compiling takes long."""
    from triton.runtime.jit import JITFunction

    def run(kernel: Any, *_: object, **__: object) -> None:
        name = getattr(kernel, "__name__", "a kernel")
        raise RuntimeError(f"{name} is launched while the file is imported")

    with mock.patch.object(JITFunction, "run", run):
        yield


@contextmanager
def _looking_in(root: Path) -> Iterator[None]:
    """Put a folder first on the path: the copy at hand comes before one that is installed."""
    sys.path.insert(0, str(root))
    try:
        yield
    finally:
        sys.path.remove(str(root))


def _named(place: ModulePlace) -> ModuleType:
    _drop_other_copies(place)
    with _looking_in(place.root):
        importlib.invalidate_caches()
        return importlib.import_module(place.name)


def _drop_other_copies(place: ModulePlace) -> None:
    """Forget a package of the same name that came from elsewhere."""
    top = place.name.partition(".")[0]
    loaded = sys.modules.get(top)
    folders = [str(one) for one in getattr(loaded, "__path__", [])]
    if loaded is not None and str(place.root / top) not in folders:
        for name in [one for one in sys.modules if one == top or one.startswith(f"{top}.")]:
            del sys.modules[name]


def _without_parents(place: ModulePlace) -> Published:
    """Import a module whose packages are folders only: what their `__init__` files would run is left out."""
    _bare_parents(place)
    with _looking_in(place.root):
        return Published(importlib.import_module(place.name))


def _bare_parents(place: ModulePlace) -> None:
    _drop_other_copies(place)
    parts = place.name.split(".")[:-1]
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        if name in sys.modules:
            continue
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(place.root.joinpath(*parts[:count]))]
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        if count > 1:
            setattr(sys.modules[".".join(parts[: count - 1])], parts[count - 1], module)


def _found_without_parents(name: str) -> ModuleSpec | None:
    """Return where a dotted name would be found, without importing what stands above it."""
    path: list[str] | None = None
    spec: ModuleSpec | None = None
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        spec = PathFinder.find_spec(".".join(parts[:count]), path)
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or [])
    return spec


def _alone(path: Path, digest: str) -> Published:
    """Import a file of its own, which may import the files beside it."""
    with _looking_in(path.parent):
        return Published(imported(f"_kopt_{path.stem}_{digest[:12]}", path))


def _by_statement(path: Path, place: ModulePlace | None, digest: str) -> Published:
    """Run a file's statements one by one, going on behind those that fail."""
    tree = ast.parse(path.read_bytes(), filename=str(path))
    name = place.name if place else f"_kopt_{path.stem}_{digest[:12]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    module.__package__ = name.rpartition(".")[0] if place else ""
    if place is not None:
        _bare_parents(place)
    sys.modules[name] = module
    skipped: dict[int, str] = {}
    with _looking_in(place.root if place else path.parent):
        _run_each(tree.body, module, skipped)
    if not any(hasattr(one, "fn") for one in vars(module).values()):
        raise ImportError("nothing that can be launched is left of the file")
    return Published(module, skipped)


def _run_each(body: list[ast.stmt], module: ModuleType, skipped: dict[int, str]) -> None:
    """Run statements one by one, those of a branch too; note the lines of those that fail."""
    for statement in body:
        try:
            if isinstance(statement, ast.If):
                branch = statement.body if _value(statement.test, module) else statement.orelse
                _run_each(branch, module, skipped)
            else:
                exec(compile(ast.Module([statement], []), str(module.__file__), "exec"), vars(module))  # noqa: S102
        except MemoryError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the next statement may be a kernel
            skipped[statement.lineno] = _line(error)


def _value(expression: ast.expr, module: ModuleType) -> object:
    return eval(compile(ast.Expression(expression), str(module.__file__), "eval"), vars(module))  # noqa: S307

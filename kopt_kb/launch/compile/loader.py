"""Import a Python file in a worker and find its Triton kernels."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.launch.compile.compat import know_old_names
from kopt_kb.launch.compile.decorated import unwrap

__all__ = ["imported", "jit_functions", "load_module"]

_LOADED: dict[Path, tuple[str, ModuleType]] = {}


def load_module(file: str) -> ModuleType:
    """Return the file's module, imported again when its content has changed.

    Raises:
        BadInput: The file is absent, or fails while it is imported; the reason is one line.
    """
    path = Path(file).resolve()
    if not path.is_file():
        raise BadInput("no such file", where=file, code="KB110")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if path in _LOADED and _LOADED[path][0] == digest:
        return _LOADED[path][1]
    module = _import(path, digest)
    _LOADED[path] = (digest, module)
    return module


def _import(path: Path, digest: str) -> ModuleType:
    know_old_names()
    folder = str(path.parent)
    sys.path.append(folder)
    try:
        return imported(f"_kopt_{path.stem}_{digest[:12]}", path)
    except (KoptError, ImportError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise BadInput(
            f"import fails: {_line(error)}", where=str(path), fix="make it importable", code="KB084"
        ) from error
    finally:
        sys.path.remove(folder)


class _Uncached(SourceFileLoader):
    """Compiles a file as it stands now.

    Python keeps compiled code beside a file and knows it by size and whole seconds: a second edit in one second, of a
    64 into a 32, would run the first.
    """

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - as the import system calls it
        """Return the code of the file's present bytes; none is kept."""
        return self.source_to_code(self.get_data(self.path), self.path)


def imported(name: str, path: Path) -> ModuleType:
    """Import a file under a name and leave nothing beside it; what the file raises passes through.

    Raises:
        BadInput: It is no Python file.
    """
    spec = importlib.util.spec_from_file_location(name, path, loader=_Uncached(name, str(path)))
    if spec is None or spec.loader is None or path.suffix != ".py":
        raise BadInput("not a Python file", where=str(path), code="KB116")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__


def jit_functions(module: ModuleType) -> dict[str, object]:
    """Return the kernels that the module itself defines, decorated as they are, in order of their lines."""
    found = {
        name: value
        for name, value in vars(module).items()
        if hasattr(value, "fn") and (inner := unwrap(value)) is not None and inner.__module__ == module.__name__
    }
    return dict(sorted(found.items(), key=lambda item: unwrap(item[1]).starting_line_number))

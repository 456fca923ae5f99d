"""Reads a kernel's file and the files that its imports name; nothing is imported."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kopt_kb.analysis.ir.source.source import KernelModule, Project, parse_module
from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_words
from kopt_kb.base.wire import Wire
from kopt_kb.packs.tileir.classify import Classification, classify

__all__ = ["Classified", "classify_source", "module_of", "project_of", "source_text"]

_LARGEST = 4 << 20
_PARENTS = 8
_INLINE = "--code"


@dataclass(frozen=True, slots=True)
class Classified(Wire):
    """What the kernels of a text are.

    Attributes:
        path: The file, or `--code`.
        kernels: One entry a kernel that a host starts.
    """

    path: str
    kernels: tuple[Classification, ...]


def source_text(path: str, code: str) -> tuple[str, str]:
    """Return name and text of what was given: a file, or code in the words of the command."""
    return (_INLINE, code) if code else (path, read_words(path, _LARGEST))


def module_of(path: str, text: str) -> KernelModule:
    """Return a parsed file, named by the folders it lies in so that its relative imports can be found.

    Raises:
        BadInput: It is no Python.
    """
    parts = Path(path).absolute().parts[1:-1][-_PARENTS:] if path != _INLINE else ()
    while any("." in one for one in parts):
        parts = parts[1:]
    name = ".".join((*parts, Path(path).stem)) if path != _INLINE else ""
    try:
        return parse_module(text, name)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        where = f"{path}:{line}" if line else path
        what = f"is not valid Python: {getattr(error, 'msg', None) or error}"
        raise BadInput(what, where=where, fix="give the file of a Triton kernel", code="KB116") from error


def project_of(path: str) -> Project:
    """Return where a file's callees are looked for: below the folders above it."""
    if path == _INLINE:
        return Project(lambda _name: None)
    roots = tuple(Path(path).absolute().parents)[: 2 * _PARENTS]

    def read(name: str) -> str | None:
        parts = [one for one in name.split(".") if one]
        if not parts or any("/" in one for one in parts):
            return None
        for root in roots:
            for file in (root.joinpath(*parts[:-1], f"{parts[-1]}.py"), root.joinpath(*parts, "__init__.py")):
                if file.is_file():
                    try:
                        return read_words(file, _LARGEST)
                    except BadInput:
                        return None
        return None

    return Project(read)


def classify_source(path: str, code: str = "", kernel: str = "") -> Classified:
    """Return what the kernels of a file, or of inline code, are.

    Args:
        path: The file; not read when there is code.
        code: Python text with kernels.
        kernel: Only this one, started by a host or not.

    Raises:
        BadInput: No such file, no Python, no kernel, or none of that name.
    """
    where, text = source_text(path, code)
    module = module_of(where, text)
    if not module.functions:
        fix = "give a file with functions decorated by triton.jit"
        raise BadInput("the file has no Triton kernel", where=where, fix=fix, code="KB079")
    if kernel and kernel not in module.functions:
        fix = f"one of {', '.join(list(module.functions)[:12])}"
        raise BadInput(f"no kernel {kernel!r}", where=where, fix=fix, code="KB044")
    project = project_of(where)
    try:
        names = (kernel,) if kernel else module.entries()
        return Classified(where, tuple(classify(project, module, name) for name in names))
    except RecursionError as error:
        raise BadInput("nests too deep to be followed", where=where, fix="split it", code="KB116") from error

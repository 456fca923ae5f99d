"""Frameworks of kernels in Python files: which functions are kernels, and does `launch` start one; read, never run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from kopt_kb.doors.language import Language
from kopt_kb.doors.languages import language_named, languages

__all__ = [
    "FOREIGN_ENTRIES",
    "aliases",
    "dotted_name",
    "framework_named",
    "framework_of",
    "frameworks",
    "functions_of",
    "kernel_marks",
    "kernels_of",
    "marks_of",
    "missing",
    "vendors_of",
]


FOREIGN_ENTRIES = ("launch", "run", "custom_kernel", "solution", "ModelNew")
"""What candidates of problems outside the list are called by: functions, or the class of a torch module."""


def frameworks() -> tuple[Language, ...]:
    """Return the languages whose kernels can be recognised in a Python file."""
    return tuple(language for language in languages() if language.mark)


def framework_named(name: str) -> Language | None:
    """Return the framework users call by this name, or None for one whose kernels can't be recognised."""
    language = language_named(name)
    return language if language is not None and language.mark else None


def kernel_marks() -> frozenset[str]:
    """Return the dotted names of decorators that make device code of a function, in any framework."""
    return frozenset(mark for language in frameworks() for mark in (language.mark, *language.inner_marks))


def vendors_of(name: str) -> tuple[str, ...]:
    """Return the vendors that a framework's compiler builds for; none where it is no question, or nobody knows."""
    language = language_named(name)
    return language.vendors if language is not None else ()


def aliases(tree: ast.Module, module: str | None = None) -> dict[str, str]:
    """Return local name → dotted name of everything imported anywhere in a file.

    Args:
        tree: The file.
        module: Its dotted name, which relative imports start from; None: they are left out.
    """
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                names[one.asname or one.name.split(".")[0]] = one.name if one.asname else one.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and (node.level == 0 or module is not None):
            package = (module or "").split(".")[: -node.level] if node.level else []
            base = ".".join([*package, *([node.module] if node.module else [])])
            names.update({one.asname or one.name: f"{base}.{one.name}" for one in node.names})
    return names


def dotted_name(node: ast.expr, names: Mapping[str, str]) -> str:
    """Return the dotted name of an expression with imported names resolved, or nothing."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([names.get(node.id, node.id), *reversed(parts)])


def functions_of(source: bytes) -> frozenset[str]:
    """Return the names of a file's functions at its top level; raises SyntaxError or ValueError if it is no Python."""
    return frozenset(one.name for one in ast.parse(source).body if isinstance(one, ast.FunctionDef))


def framework_of(path: str, source: bytes) -> str:
    """Return the framework that a kernel file is written in by its suffix and its decorators; nothing when unknown."""
    if by_suffix := next((one.name for one in languages() if path.endswith(one.suffixes)), ""):
        return by_suffix
    try:
        return next((one.name for one in frameworks() if kernels_of(source, one)), "")
    except (SyntaxError, ValueError):
        return ""


def kernels_of(source: bytes, framework: Language) -> tuple[str, ...]:
    """Return the top-level kernels of a framework in a file; raises SyntaxError or ValueError if it is no Python."""
    return _kernels(ast.parse(source), framework)


def _kernels(tree: ast.Module, framework: Language) -> tuple[str, ...]:
    names = aliases(tree)
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    return tuple(dict.fromkeys(one.name for one in functions if framework.mark in marks_of(one, names)))


def marks_of(function: ast.FunctionDef, names: Mapping[str, str]) -> set[str]:
    """Return the dotted names of a function's decorators, called or not."""
    marks = (mark.func if isinstance(mark, ast.Call) else mark for mark in function.decorator_list)
    return {dotted_name(mark, names) for mark in marks}


def missing(source: bytes, framework: Language, entries: tuple[str, ...] = ("launch",)) -> str:
    """Return what a file lacks to be a kernel of a framework that its `launch` starts; nothing when it is one.

    Of several possible entries any that is there counts; where none is, every function whose name is no private one.

    A name counts as used when `launch` reaches it through functions and tables of the file. Whether the kernel does
    the work is not seen here: the lint of library calls and the roofline gate are there for that.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return "the file is not valid Python"
    kernels = _kernels(tree, framework)
    if not kernels:
        return f"the file has no {framework.name} kernel (a function decorated with {framework.mark})"
    names = [one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef)]
    begin = [one for one in entries if one in names]
    if len(entries) > 1 and not begin:
        begin = [one for one in names if one not in kernels and not one.startswith("_")]
    entry = begin[0] if begin else entries[0]
    if not begin:
        return f"the file has no function {entry}"
    reached = _reached(tree, begin)
    if not set(kernels) & reached.keys():
        return f"{entry} starts no {framework.name} kernel: it never reaches {', '.join(kernels)}"
    host = [node for name, nodes in reached.items() if name not in kernels for node in nodes]
    if not any(_starts(node, framework) for top in host for node in ast.walk(top)):
        how = "kernel[grid](...)" if framework.start == "subscript" else "a call of launch"
        return f"{entry} starts no {framework.name} kernel: nothing it reaches is {how}"
    return ""


def _reached(tree: ast.Module, entries: list[str]) -> dict[str, list[ast.stmt]]:
    """Return the top-level names that the entries reach, with the statements that define them."""
    defined: dict[str, list[ast.stmt]] = {}
    for top in tree.body:
        for name in _defines(top):
            defined.setdefault(name, []).append(top)
    found: dict[str, list[ast.stmt]] = {}
    waiting = list(entries)
    while waiting:
        name = waiting.pop()
        if name in found or name not in defined:
            continue
        # Of two functions of one name the later one counts.
        found[name] = defined[name][-1:]
        waiting += [node.id for top in found[name] for node in ast.walk(top) if isinstance(node, ast.Name)]
    return found


def _defines(top: ast.stmt) -> Iterator[str]:
    if isinstance(top, ast.FunctionDef | ast.ClassDef):
        yield top.name
    elif isinstance(top, ast.Assign | ast.AnnAssign):
        for target in top.targets if isinstance(top, ast.Assign) else [top.target]:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _starts(node: ast.AST, framework: Language) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if framework.start == "subscript":
        return isinstance(node.func, ast.Subscript)
    return isinstance(node.func, ast.Attribute) and node.func.attr == "launch"

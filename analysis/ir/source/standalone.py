"""A Python file reduced to what one function of it reaches: imports, constants, functions, kernels, as written.

What a file runs when it is imported (tests, benchmarks, plots) is left out, and so is what nothing reaches.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kopt_kb.analysis.frameworks import aliases, dotted_name
from kopt_kb.base.errors import BadInput

__all__ = ["Reduced", "reduced"]

_SETTING_UP = frozenset({"triton.set_allocator"})
"""Calls at the top of a file that its kernels need."""


@dataclass(frozen=True, slots=True)
class Reduced:
    """What is left of a file.

    Attributes:
        source: Its text.
        lines: Line of the file that each of its lines is.
        left_out: Lines (first, last) of statements that are not in it, although importing the file runs them.
    """

    source: bytes
    lines: tuple[int, ...]
    left_out: tuple[tuple[int, int], ...]


def reduced(source: bytes, entry: str, where: str) -> Reduced:
    """Return the part of a file that a function needs.

    Args:
        source: The file.
        entry: Function, or class before a dot.
        where: The file's name, for errors.

    Raises:
        BadInput: It is no Python, or has no such function at its top level.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        what = f"is not valid Python: {getattr(error, 'msg', error)}"
        raise BadInput(what, where=f"{where}:{line}", fix="fix the file first", code="KB116") from error
    defined: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in _defines(statement):
            defined.setdefault(name, []).append(statement)
    first = entry.partition(".")[0]
    if first not in defined:
        functions = [one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef)]
        near = ", ".join(functions[:12]) or "none"
        raise BadInput(f"the file has no function {entry}", where=where, fix=f"it has {near}", code="KB447")
    kept = _reached(defined, first)
    names = aliases(tree)
    lines = source.decode().splitlines(keepends=True)
    kept_lines, left_out, above = _head(lines, tree), list[tuple[int, int]](), tree.body[0].lineno - 1
    for statement in tree.body:
        begin, end = _lines_of(statement, lines, above)
        above = end
        if id(statement) in kept or _is_kept(statement, names):
            kept_lines += [one for one in range(begin, end + 1) if one not in kept_lines[-1:]]
        elif _runs(statement):
            left_out.append((statement.lineno, end))
    text = "".join(lines[one - 1] if lines[one - 1].endswith("\n") else lines[one - 1] + "\n" for one in kept_lines)
    return Reduced(text.encode(), tuple(kept_lines), tuple(left_out))


def _head(lines: list[str], tree: ast.Module) -> list[int]:
    """Return the lines of the comments at the head of a file, its licence for one; a docstring is a statement."""
    head = lines[: tree.body[0].lineno - 1]
    return [*range(1, len(head) + 1)] if any(line.strip() for line in head) else []


def _lines_of(statement: ast.stmt, lines: list[str], above: int) -> tuple[int, int]:
    """Return the first and last line of a statement, with decorators, comments straight above and space before it.

    `above` is the last line of what stands before it.
    """
    marks: list[ast.expr] = getattr(statement, "decorator_list", [])
    begin = min([statement.lineno, *(one.lineno for one in marks)])
    while begin - 1 > above and lines[begin - 2].startswith("#"):
        begin -= 1
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        while begin - 1 > above and not lines[begin - 2].strip():
            begin -= 1
    return begin, statement.end_lineno or statement.lineno


def _defines(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement at the top level gives a meaning, in all its branches."""
    for node in _outside(statement):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (one.asname or one.name.split(".")[0] for one in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            root: ast.expr = node
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            if isinstance(root, ast.Name):
                yield root.id


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a statement's nodes without those inside functions and classes."""
    yield node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _outside(child)


def _reached(defined: Mapping[str, list[ast.stmt]], entry: str) -> set[int]:
    kept: set[int] = set()
    waiting = [entry]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for statement in defined.get(name, ()):
            kept.add(id(statement))
            # A branch at the top level is kept whole, so what its other names need is, too.
            waiting += _free(symtable.symtable(ast.unparse(statement), "statement", "exec"))
    return kept


def _free(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the names that a statement takes from outside: a function's own variables are none."""
    is_top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (is_top or symbol.is_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _free(inner)


def _is_kept(statement: ast.stmt, names: Mapping[str, str]) -> bool:
    """Return whether a statement is kept although no name leads to it."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and dotted_name(call.func, names) in _SETTING_UP


def _runs(statement: ast.stmt) -> bool:
    """Return whether importing the file does something by this statement, beyond giving a name a meaning."""
    plain = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    if isinstance(statement, plain) or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
        return False
    if isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test):
        return False
    return any(isinstance(node, ast.Call) for node in _outside(statement))

"""Edits of a cuTile file that recipes make: keywords, persistent loops, walks in groups; the text around stays."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from kopt_kb.packs.cutile.source.contiguous import Untiled
from kopt_kb.packs.cutile.source.source import CuTileFile, TextEdit, TileCall

__all__ = ["grouped", "is_persistent", "persistent", "with_keyword"]


def with_keyword(file: CuTileFile, place: TileCall, word: str) -> TextEdit:
    """Return the edit that adds a keyword argument to a call."""
    call = place.call
    end = file.span(call)[1] - 1
    last = max((file.span(one)[1] for one in (*call.args, *(each.value for each in call.keywords))), default=end)
    between = file.text[last:end]
    return (
        TextEdit(last, last, f", {word}")
        if "," not in between
        else TextEdit(last, last + between.index(",") + 1, f", {word},")
    )


def is_persistent(file: CuTileFile, kernel: ast.FunctionDef) -> bool:
    """Return whether a kernel's blocks walk their work by the number of blocks."""
    return any(one.function is kernel for one in file.calls("num_blocks"))


def persistent(file: CuTileFile, kernel: ast.FunctionDef, blocks_per_sm: int) -> tuple[TextEdit, ...] | Untiled:
    """Return the edits that let a fixed number of blocks walk the grid of a kernel, and its launch start no more."""
    why = _why_not_walked(file, kernel)
    launch = [one for one in file.launches if _kernel_of(one) == kernel.name]
    if why or len(launch) != 1:
        return Untiled(why or f"{len(launch)} launches name {kernel.name}")
    grid, arguments = launch[0].args[1], launch[0].args[3]
    sizes = grid.elts if isinstance(grid, ast.Tuple) else []
    others = [one for one in sizes[1:] if not (isinstance(one, ast.Constant) and one.value == 1)]
    if not sizes or others or not isinstance(arguments, ast.Tuple) or not arguments.elts:
        return Untiled("its grid is no tuple of one size, or its arguments are no tuple")
    if "torch" not in file.names.values():
        return Untiled("the file does not import torch, which knows the number of SMs")
    at, count = _fresh(file.tree, "block"), _fresh(file.tree, "BLOCKS")
    ct, torch = file.module, next(one for one, full in file.names.items() if full == "torch")
    size = file.source(sizes[0])
    sms = f"{torch}.cuda.get_device_properties({torch}.cuda.current_device()).multi_processor_count"
    more = f"min({size}, {sms} * {blocks_per_sm})"
    own = [one for one in file.calls("bid") if one.function is kernel]
    head = f"for {at} in range({ct}.bid(0), {count}, {ct}.num_blocks(0)):\n"
    parameters = [*kernel.args.posonlyargs, *kernel.args.args]
    return (
        TextEdit(*file.span(sizes[0]), more),
        TextEdit(file.span(arguments.elts[-1])[1], file.span(arguments.elts[-1])[1], f", {size}"),
        TextEdit(file.span(parameters[-1])[1], file.span(parameters[-1])[1], f", {count}"),
        *(TextEdit(*file.span(one.call), at) for one in own),
        *_indented(file, kernel, head),
    )


def _why_not_walked(file: CuTileFile, kernel: ast.FunctionDef) -> str:
    own = [one for one in file.calls("bid") if one.function is kernel]
    axes = {one.call.args[0].value for one in own if one.call.args and isinstance(one.call.args[0], ast.Constant)}
    found = (
        (is_persistent(file, kernel), "its blocks walk the grid already"),
        (
            axes != {0},
            "it asks for another axis of the grid than the first" if axes else "it asks for no block's number",
        ),
        (any(one.function in file.helpers for one in file.calls("bid")), "a function that it calls asks for the block"),
        (any(isinstance(one, ast.Return) for one in ast.walk(kernel)), "it returns early"),
        (bool(kernel.args.kwonlyargs or kernel.args.defaults or kernel.args.vararg), "its parameters have defaults"),
        (_has_long_strings(kernel), "a text in it spans lines"),
    )
    return next((why for is_so, why in found if is_so), "")


def _kernel_of(launch: ast.Call) -> str:
    return launch.args[2].id if len(launch.args) == 4 and isinstance(launch.args[2], ast.Name) else ""


def _statements(kernel: ast.FunctionDef) -> list[ast.stmt]:
    """Return a function's body without its docstring."""
    return kernel.body[1:] if ast.get_docstring(kernel) is not None and len(kernel.body) > 1 else kernel.body


def _has_long_strings(kernel: ast.FunctionDef) -> bool:
    texts = [node for one in _statements(kernel) for node in ast.walk(one) if isinstance(node, ast.Constant)]
    return any(isinstance(one.value, str) and one.end_lineno != one.lineno for one in texts)


def _indented(file: CuTileFile, kernel: ast.FunctionDef, head: str) -> Iterator[TextEdit]:
    """Yield the edits that put a function's statements under a header."""
    body = _statements(kernel)
    first, last = body[0].lineno, body[-1].end_lineno or body[-1].lineno
    start = file.line_start(first)
    margin = file.text[start : file.span(body[0])[0]]
    for line in range(first, last + 1):
        at = file.line_start(line)
        end = file.text.find("\n", at)
        if line == first:
            yield TextEdit(at, at, f"{margin}{head}    ")
        elif file.text[at : end if end >= 0 else None].strip():
            yield TextEdit(at, at, "    ")


def grouped(file: CuTileFile, kernel: ast.FunctionDef, group: int) -> tuple[TextEdit, ...] | Untiled:
    """Return the edits that walk a grid of two axes in groups of rows, so that neighbours share operands in cache."""
    own = [one for one in file.calls("bid") if one.function is kernel]
    axes = [one.call.args[0].value for one in own if one.call.args and isinstance(one.call.args[0], ast.Constant)]
    if set(axes) != {0, 1} or len(axes) != len(own):
        return Untiled("its blocks are not of a grid with two axes")
    if is_persistent(file, kernel) or re.search(r"group|swizzle", file.source(kernel), re.IGNORECASE):
        return Untiled("its blocks are walked in an order of their own already")
    rows, cols, at, first, height, row, col = (
        _fresh(file.tree, one) for one in ("rows", "cols", "at", "first", "height", "row", "col")
    )
    ct, body = file.module, _statements(kernel)
    margin = " " * body[0].col_offset
    lines = (
        f"{rows}, {cols} = {ct}.num_blocks(0), {ct}.num_blocks(1)",
        f"{at} = {ct}.bid(1) * {rows} + {ct}.bid(0)",
        f"{first} = {at} // ({group} * {cols}) * {group}",
        f"{height} = min({rows} - {first}, {group})",
        f"{row} = {first} + {at} % ({group} * {cols}) % {height}",
        f"{col} = {at} % ({group} * {cols}) // {height}",
    )
    start = file.line_start(body[0].lineno)
    head = TextEdit(start, start, "".join(f"{margin}{one}\n" for one in lines))
    names: dict[object, str] = {0: row, 1: col}
    return (head, *(TextEdit(*file.span(one.call), names[axis]) for one, axis in zip(own, axes, strict=True)))


def _fresh(tree: ast.Module, wanted: str) -> str:
    """Return a name that the file does not use."""
    used = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
    used |= {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
    names: Iterable[str] = (wanted, *(f"{wanted}_{at}" for at in range(2, 99)))
    return next(one for one in names if one not in used)

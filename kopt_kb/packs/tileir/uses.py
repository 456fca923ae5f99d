"""How a kernel uses names: as numbers, as pointers handed on, as tiles of a known shape."""

from __future__ import annotations

import ast

from kopt_kb.analysis.ir.source.source import language_name

__all__ = ["handed_on", "shape_of", "tile_shapes", "used_as_numbers"]


def used_as_numbers(function: ast.FunctionDef, names: dict[str, str]) -> set[str]:
    """Return names that are multiplied, compared, divided or counted with: no pointers."""
    found: set[str] = set()
    for node in ast.walk(function):
        inside: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add | ast.Sub):
            inside = [node.left, node.right]
        elif isinstance(node, ast.Call) and language_name(node.func, names) in {"cdiv", "range", "arange", "minimum"}:
            inside = list(node.args)
        elif isinstance(node, ast.Compare) and not any(isinstance(one, ast.Is | ast.IsNot) for one in node.ops):
            inside = [node.left, *node.comparators]
        found |= {one.id for one in inside if isinstance(one, ast.Name)}
    return found


_ADDRESSING = frozenset({
    "load", "store", "make_block_ptr", "advance", "multiple_of", "max_contiguous", "prefetch", "static_assert", "to",
})  # fmt: skip


def handed_on(function: ast.FunctionDef, names: dict[str, str]) -> dict[str, str]:
    """Return parameter → the callee that gets it, or an address made of it: what happens there is not known."""
    origin = {
        one.arg: {one.arg} for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    }
    assigned = [node for node in ast.walk(function) if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)]
    for _ in range(3):  # assignments in any order
        for node in assigned:
            sources = {each for name in _outside_calls(node.value) for each in origin.get(name, ())}
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and sources:
                    origin.setdefault(target.id, set()).update(sources)
    found: dict[str, str] = {}
    for call in (one for one in ast.walk(function) if isinstance(one, ast.Call)):
        name = language_name(call.func, names) or (call.func.attr if isinstance(call.func, ast.Attribute) else "")
        arguments = [*call.args, *(one.value for one in call.keywords)]
        if name.startswith(("atomic", "inline_asm")) or (
            not language_name(call.func, names) and name not in _ADDRESSING
        ):
            for one in (each for argument in arguments for each in _outside_calls(argument)):
                found.update(dict.fromkeys(origin.get(one, ()), ast.unparse(call.func)))
    return found


def _outside_calls(node: ast.expr | None) -> set[str]:
    """Return the names that an expression adds up, those inside calls and attributes left out."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.BinOp):
        return _outside_calls(node.left) | _outside_calls(node.right)
    if isinstance(node, ast.Tuple | ast.List):
        return {each for one in node.elts for each in _outside_calls(one)}
    if isinstance(node, ast.IfExp):
        return _outside_calls(node.body) | _outside_calls(node.orelse)
    return _outside_calls(node.value) if isinstance(node, ast.Subscript | ast.Starred) else set()


def tile_shapes(function: ast.FunctionDef, names: dict[str, str]) -> dict[str, list[str]]:
    """Return name → block shape, of names that hold a tile of that shape at every assignment.

    Tiles begin as `tl.zeros` or `tl.full`; arithmetic with anything that broadcasts to one keeps its shape.
    """
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.Assign | ast.For | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            inner = [one for each in targets for one in ast.walk(each) if isinstance(one, ast.Name)]
            for one in inner:
                values.setdefault(one.id, []).append(ast.Constant(None))
    shapes: dict[str, list[str]] = {}
    for _ in range(6):  # a chain of assignments settles sooner
        known = dict(shapes)
        for name, every in values.items():
            shape = next((found for one in every if (found := _shape(one, names, shapes))), None)
            if shape:
                known[name] = shape
        shapes = {name: one for name, one in known.items() if _agree(values[name], one, names, known)}
    return shapes


def _agree(every: list[ast.expr], shape: list[str], names: dict[str, str], known: dict[str, list[str]]) -> bool:
    return all(_shape(one, names, known) == shape for one in every)


_BY_LANE = frozenset({
    "to", "cast", "exp", "exp2", "log", "log2", "where", "sigmoid", "maximum", "minimum", "abs", "sqrt", "rsqrt", "fma",
    "tanh",
})  # fmt: skip


def _shape(node: ast.expr, names: dict[str, str], shapes: dict[str, list[str]]) -> list[str] | None:
    if isinstance(node, ast.Name):
        return shapes.get(node.id)
    if isinstance(node, ast.UnaryOp):
        return _shape(node.operand, names, shapes)
    if isinstance(node, ast.BinOp):
        return _shape(node.left, names, shapes) or _shape(node.right, names, shapes)
    return _called_shape(node, names, shapes) if isinstance(node, ast.Call) else None


def _called_shape(node: ast.Call, names: dict[str, str], shapes: dict[str, list[str]]) -> list[str] | None:
    called = language_name(node.func, names)
    if called in {"zeros", "full"} and node.args and isinstance(node.args[0], ast.Tuple | ast.List):
        return [ast.unparse(one) for one in node.args[0].elts]
    if called == "dot":
        given = [one.value for one in node.keywords if one.arg == "acc"] or node.args[2:3]
        return _shape(given[0], names, shapes) if given else None
    if not called and isinstance(node.func, ast.Attribute) and node.func.attr == "to":
        return _shape(node.func.value, names, shapes)
    if called in _BY_LANE:
        return next((found for one in node.args if (found := _shape(one, names, shapes))), None)
    return None


def shape_of(node: ast.expr, function: ast.FunctionDef, names: dict[str, str]) -> list[str] | None:
    """Return the block shape of what an expression gives, or None where it is not known."""
    return _shape(node, names, tile_shapes(function, names))

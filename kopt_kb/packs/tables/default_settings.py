"""The settings that an engine takes where no table serves a shape: its own function, read and worked out, never run.

Only what such functions are made of is known: choices by comparisons, names, small arithmetic, tables of plain values.
Anything else is refused, so that no default is guessed.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_input
from kopt_kb.packs.tables.engine import TableEngine
from kopt_kb.packs.tables.moe_problem import MoeProblem
from kopt_kb.problem.tuned_table import Setting

__all__ = ["default_settings"]

_FILES: Mapping[str, tuple[str, ...]] = {
    "vllm": ("vllm/model_executor/layers/fused_moe/fused_moe.py",),
    "sglang": (
        "sglang/srt/layers/moe/moe_runner/triton_utils/fused_moe_triton_config.py",
        "sglang/srt/layers/moe/fused_moe_triton/fused_moe_triton_config.py",
        "sglang/srt/layers/moe/fused_moe_triton/fused_moe.py",
    ),
}
_FUNCTION = "get_default_config"
_MOST_BYTES = 4 << 20
_SWITCHES = frozenset({"VLLM_BATCH_INVARIANT", "enable_deterministic_inference", "_use_low_smem_fp8_default"})
"""Words of the engines for what is off unless somebody turns it on, or a small part has less shared memory."""
_AMD = frozenset({"is_rocm", "is_hip", "_is_hip", "is_hip_"})
_BINARY: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}  # fmt: skip
_COMPARED: Mapping[type[ast.cmpop], Callable[[object, object], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.Lt: lambda a, b: _whole(a) < _whole(b), ast.LtE: lambda a, b: _whole(a) <= _whole(b),
    ast.Gt: lambda a, b: _whole(a) > _whole(b), ast.GtE: lambda a, b: _whole(a) >= _whole(b),
    ast.In: lambda a, b: isinstance(b, list) and a in b, ast.NotIn: lambda a, b: isinstance(b, list) and a not in b,
}  # fmt: skip


def default_settings(problem: MoeProblem, root: Path) -> dict[str, Setting]:
    """Return what an engine's `get_default_config` returns for a problem.

    Raises:
        BadInput: The engine has no such function, or it does what is not known here.
    """
    layer = problem.layer
    engine = TableEngine(layer.table.engine, root)
    path = engine.file(_FILES.get(engine.name, ()))
    if path is None:
        raise BadInput(f"has no {_FUNCTION}", where=str(root), fix="name another folder of it", code="KB110")
    tokens, experts, top_k, hidden, width = problem.shape
    given: dict[str, object] = {
        "M": tokens, "E": experts, "N": width, "K": hidden, "topk": top_k, "dtype": layer.table.dtype or None,
        "is_marlin": False, "block_shape": list(layer.table.block_shape) or None,
    }  # fmt: skip
    found = _Reading(path, layer.target.startswith("gfx")).of(given)
    settings = {str(name): value for name, value in found.items() if isinstance(value, int)}
    if len(settings) != len(found) or not {"BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K"} <= set(settings):
        raise _unknown(path, 0, "gives no block sizes for this type")
    return dict(settings)


class _Reading:
    """A function's text, worked out statement by statement."""

    def __init__(self, path: Path, is_amd: bool) -> None:
        self._path, self._is_amd = path, is_amd
        self._names: dict[str, object] = {}

    def of(self, given: Mapping[str, object]) -> dict[object, object]:
        """Return the table that the function returns for arguments by name."""
        try:
            tree = ast.parse(read_input(self._path, _MOST_BYTES))
        except (SyntaxError, ValueError) as error:
            what = "is not valid Python"
            raise BadInput(what, where=str(self._path), fix="name the program's files", code="KB116") from error
        made = next((one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == _FUNCTION), None)
        if made is None:
            raise BadInput(f"has no {_FUNCTION}", where=str(self._path), fix="name another version", code="KB110")
        wanted = [one.arg for one in (*made.args.args, *made.args.kwonlyargs)]
        if strange := [one for one in wanted if one not in given]:
            raise _unknown(self._path, made.lineno, f"takes {strange[0]}, which is not known here")
        self._names = {one: given[one] for one in wanted}
        found = self._body(made.body)
        if not isinstance(found, dict):
            raise _unknown(self._path, made.lineno, "returns no table")
        return found

    def _body(self, statements: list[ast.stmt]) -> object:
        """Return what the first `return` that is reached gives; None where none is."""
        for one in statements:
            if isinstance(one, ast.Return) and one.value is not None:
                return self._value(one.value)
            if isinstance(one, ast.If):
                found = self._body(one.body if self._value(one.test) else one.orelse)
                if found is not None:
                    return found
            elif isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name):
                self._names[one.targets[0].id] = self._value(one.value)
            elif not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)):
                self._refuse(one)
        return None

    def _value(self, node: ast.expr) -> object:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in self._names:
                return self._names[name]
            case ast.Name() | ast.Attribute():
                return self._switch(node)
            case ast.Call():
                return self._called(node)
            case ast.Dict(keys=keys, values=values):
                return {self._value(key): self._value(value)
                        for key, value in zip(keys, values, strict=True) if key is not None}  # fmt: skip
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self._value(one) for one in parts]
            case ast.Subscript(value=whole, slice=place):
                return self._element(node, self._value(whole), self._value(place))
            case _:
                return self._operation(node)

    def _operation(self, node: ast.expr) -> object:
        match node:
            case ast.IfExp(test=test, body=body, orelse=other):
                return self._value(body if self._value(test) else other)
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self._value(one) for one in values)
            case ast.BoolOp(values=values):
                return any(self._value(one) for one in values)
            case ast.UnaryOp(op=ast.Not(), operand=one):
                return not self._value(one)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                first, second = _whole(self._value(left)), _whole(self._value(right))
                if not second and isinstance(op, ast.FloorDiv | ast.Mod):
                    self._refuse(node)
                return _BINARY[type(op)](first, second)
            case ast.Compare(left=left, ops=ops, comparators=others):
                found = [self._value(each) for each in (left, *others)]
                pairs = zip(ops, found[:-1], found[1:], strict=True)
                return all(_COMPARED[type(op)](first, second) for op, first, second in pairs)
            case _:
                return self._refuse(node)

    def _called(self, node: ast.Call) -> object:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in {"min", "max"} and not node.keywords:
            values = [_whole(self._value(one)) for one in node.args]
            return min(values) if name == "min" else max(values)
        if name == "next_power_of_2" and len(node.args) == 1:
            return 1 << max(_whole(self._value(node.args[0])) - 1, 0).bit_length()
        return self._switch(node.func)

    def _switch(self, node: ast.expr) -> bool:
        """Return whether a switch of the engine's is on, which no argument says."""
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        if name in _AMD:
            return self._is_amd
        return False if name in _SWITCHES else self._refuse(node)

    def _element(self, node: ast.expr, whole: object, place: object) -> object:
        if isinstance(whole, list) and isinstance(place, int) and place < len(whole):
            return whole[place]
        return self._refuse(node)

    def _refuse(self, node: ast.stmt | ast.expr) -> NoReturn:
        raise _unknown(self._path, node.lineno, f"does what is not known here: {ast.unparse(node)[:80]}")


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise BadInput(f"{value!r} is no number", where=_FUNCTION, fix="name another version of it", code="KB082")
    return value


def _unknown(path: Path, line: int, what: str) -> BadInput:
    where = f"{path}:{line}" if line else str(path)
    return BadInput(f"{_FUNCTION} {what}", where=where, fix="name a version of the engine that is known", code="KB082")

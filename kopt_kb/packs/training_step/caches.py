"""Caches in host code and what their keys are made of; the file is parsed and never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from kopt_kb.analysis.frameworks import aliases, dotted_name
from kopt_kb.base.wire import Wire

__all__ = ["CachePart", "CacheUse", "KeyPart", "cache_uses", "role_of"]

CachePart = Literal[
    "id(weight)", "weight version", "id(activation)", "id(grad_out)", "id(scale)", "version", "layout", "other"
]
"""What a component of a key is: an identity of a tensor, its version, shape with stride and dtype, or anything else."""

_WEIGHT = re.compile(r"(?:^|_)(?:w\d*|wt|weights?|params?|parameters?)(?:_|$)|^w[tq]?$", re.IGNORECASE)
_GRAD = re.compile(r"grad|(?:^|_)d(?:y|o|out|_out)(?:_|$)", re.IGNORECASE)
_SCALE = re.compile(r"scales?(?:_|$)", re.IGNORECASE)
_DICTS = {
    "dict", "collections.OrderedDict", "OrderedDict", "collections.defaultdict", "defaultdict",
    "weakref.WeakKeyDictionary", "weakref.WeakValueDictionary",
}  # fmt: skip
_MEMO = {"functools.lru_cache", "functools.cache", "lru_cache", "cache"}
_ASKED = {"get", "setdefault", "pop", "__getitem__", "__contains__"}
_LAYOUT = {"shape", "stride", "dtype", "device", "size", "numel", "ndim", "is_contiguous"}
_ALLOCATES = {
    "empty",
    "zeros",
    "ones",
    "full",
    "empty_like",
    "zeros_like",
    "Config",
    "cdiv",
    "next_power_of_2",
    "get_device_properties",
}


_DEEPEST = 4
"""How often a name of a key is followed to what it was given."""


@dataclass(frozen=True, slots=True)
class KeyPart(Wire):
    """One component of a key: as it stands in the file, and what it is."""

    text: str
    part: CachePart


@dataclass(frozen=True, slots=True)
class CacheUse(Wire):
    """One cache.

    Attributes:
        line: Where it is asked.
        name: What holds it.
        how: `dict`, `lru_cache` or `weakref`.
        key: Components of its key, each once.
        holds_results: Whether what it keeps is computed from a tensor, as far as the file shows.
    """

    line: int
    name: str
    how: Literal["dict", "lru_cache", "weakref"]
    key: tuple[KeyPart, ...]
    holds_results: bool = True


def role_of(name: str) -> Literal["weight", "grad_out", "scale", "activation"]:
    """Return what a tensor is by its name; what no name says is an activation, the strictest reading."""
    last = name.rsplit(".", 1)[-1]
    if _SCALE.search(last) and not _WEIGHT.search(last):
        return "scale"
    if _GRAD.search(last):
        return "grad_out"
    return "weight" if _WEIGHT.search(last) else "activation"


def cache_uses(source: bytes) -> tuple[CacheUse, ...]:
    """Return the caches of a file in order of lines; raises SyntaxError or ValueError where it is no Python."""
    tree = ast.parse(source)
    names = aliases(tree)
    holders = set(_holders(tree, names))
    found: dict[str, CacheUse] = {}
    for one in _memoised(tree, names):
        found[f"{one.line} {one.name}"] = one
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
        for one in _of_function(function, holders, names):
            earlier = found.get(one.name)
            key = tuple(dict.fromkeys((*(earlier.key if earlier else ()), *one.key)))
            first = min(one.line, earlier.line) if earlier else one.line
            holds = one.holds_results or (earlier is not None and earlier.holds_results)
            found[one.name] = CacheUse(first, one.name, one.how, key, holds)
    return tuple(sorted(found.values(), key=lambda one: (one.line, one.name)))


def _holders(tree: ast.Module, names: Mapping[str, str]) -> Iterator[str]:
    """Yield the names, also of attributes, that hold a dictionary which outlives a call."""
    inside = {id(node) for top in ast.walk(tree) if isinstance(top, ast.FunctionDef) for node in ast.walk(top)}
    for node in ast.walk(tree):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = getattr(node, "value", None)
        is_dict = isinstance(value, ast.Dict) or (
            isinstance(value, ast.Call) and dotted_name(value.func, names) in _DICTS
        )
        for target in targets if is_dict else ():
            if isinstance(target, ast.Attribute):
                yield target.attr
            elif isinstance(target, ast.Name) and id(node) not in inside:
                yield target.id


def _memoised(tree: ast.Module, names: Mapping[str, str]) -> Iterator[CacheUse]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            marks = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
            if any(dotted_name(mark, names) in _MEMO for mark in marks):
                tensors = [one.arg for one in node.args.args if _is_tensor(node, one)]
                key = tuple(KeyPart(name, _identity(name)) for name in tensors)
                if key:
                    yield CacheUse(node.lineno, node.name, "lru_cache", key)
        elif isinstance(node, ast.Call) and dotted_name(node.func, names) == "weakref.ref" and node.args:
            name = ast.unparse(node.args[0])
            yield CacheUse(node.lineno, f"weakref.ref({name})", "weakref", (KeyPart(name, _identity(name)),))


def _is_tensor(function: ast.FunctionDef, argument: ast.arg) -> bool:
    """Return whether an argument is a tensor: it is annotated as one, or its layout or data are asked for."""
    if argument.annotation is not None:
        return "Tensor" in ast.unparse(argument.annotation)
    used = (node for node in ast.walk(function) if isinstance(node, ast.Attribute))
    return any(
        isinstance(node.value, ast.Name) and node.value.id == argument.arg and node.attr in _LAYOUT for node in used
    )


def _identity(name: str) -> CachePart:
    parts: dict[str, CachePart] = {
        "weight": "id(weight)", "grad_out": "id(grad_out)", "scale": "id(scale)", "activation": "id(activation)",
    }  # fmt: skip
    return parts[role_of(name)]


def _of_function(
    function: ast.FunctionDef | ast.AsyncFunctionDef, holders: set[str], names: Mapping[str, str]
) -> Iterator[CacheUse]:
    """Yield the caches that a function asks or fills."""
    known = {
        target.id: node.value
        for node in ast.walk(function) if isinstance(node, ast.Assign)
        for target in node.targets if isinstance(target, ast.Name)
    }  # fmt: skip
    arguments = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)} - {"self", "cls"}
    for node in ast.walk(function):
        holder, key, value = _asked(node, holders)
        if holder and key is not None:
            parts = tuple(dict.fromkeys(_parts(key, known, arguments, names)))
            holds = value is None or _computed(value, known, arguments)
            if parts:
                yield CacheUse(node.lineno, holder, "dict", parts, holds)  # type: ignore[attr-defined]


def _asked(node: ast.AST, holders: set[str]) -> tuple[str, ast.expr | None, ast.expr | None]:
    """Return holder, key and value (of a store) of a node that asks or fills a dictionary."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        return _holder(node.targets[0].value, holders), node.targets[0].slice, node.value
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return _holder(node.value, holders), node.slice, ast.Constant(0)
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return _holder(node.comparators[0], holders), node.left, ast.Constant(0)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ASKED and node.args:
        value = node.args[1] if node.func.attr == "setdefault" and len(node.args) > 1 else ast.Constant(0)
        return _holder(node.func.value, holders), node.args[0], value
    return "", None, None


def _holder(node: ast.expr, holders: set[str]) -> str:
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name if name in holders else ""


def _parts(
    key: ast.expr, known: Mapping[str, ast.expr], arguments: set[str], names: Mapping[str, str], depth: int = 0
) -> Iterator[KeyPart]:
    """Yield the components of a key; names of the function are followed to what they were given."""
    if isinstance(key, ast.Tuple | ast.List):
        for one in key.elts:
            yield from _parts(one, known, arguments, names, depth)
        return
    if isinstance(key, ast.Name) and key.id in known and depth < _DEEPEST:
        yield from _parts(known[key.id], known, arguments, names, depth + 1)
        return
    part = _tensor_part(key, arguments, names)
    if part is None and isinstance(key, ast.Call):
        for one in key.args:
            yield from _parts(one, known, arguments, names, depth + 1)
    else:
        yield KeyPart(ast.unparse(key), part or "other")


def _tensor_part(key: ast.expr, arguments: set[str], names: Mapping[str, str]) -> CachePart | None:
    """Return what one component says of a tensor; None where it says nothing."""
    if isinstance(key, ast.Call) and dotted_name(key.func, names) == "id" and key.args:
        return _identity(ast.unparse(key.args[0]))
    if isinstance(key, ast.Call) and isinstance(key.func, ast.Attribute) and key.func.attr == "data_ptr":
        return _identity(ast.unparse(key.func.value))
    if isinstance(key, ast.Attribute) and key.attr == "_version":
        return "weight version" if role_of(ast.unparse(key.value)) == "weight" else "version"
    if isinstance(key, ast.Name) and key.id in arguments and role_of(key.id) != "activation":
        return _identity(key.id)  # a tensor is hashed by its identity
    is_layout = any(isinstance(node, ast.Attribute) and node.attr in _LAYOUT for node in ast.walk(key))
    return "layout" if is_layout else None


def _computed(value: ast.expr, known: Mapping[str, ast.expr], arguments: set[str]) -> bool:
    """Return whether what is kept is computed from an argument: a call that takes one and does not only allocate."""
    if isinstance(value, ast.Name) and value.id in known:
        value = known[value.id]
    for node in ast.walk(value):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = {one.id for one in node.args if isinstance(one, ast.Name)}
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and name not in _LAYOUT:
            given.add(node.func.value.id)
        if given & arguments and name not in _ALLOCATES:
            return True
    return False

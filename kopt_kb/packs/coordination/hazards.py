"""What in a file keeps a function from being captured as a CUDA graph; the file is parsed and never run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from kopt_kb.analysis.frameworks import aliases, dotted_name
from kopt_kb.base.wire import Wire

__all__ = ["Hazard", "hazards_of"]

HazardKind = Literal[
    "synchronizes", "reads the host", "dynamic shape", "data-dependent branch", "host side effect", "own stream",
    "host randomness", "host copy", "capture inside",
]  # fmt: skip

_METHODS: Mapping[str, tuple[HazardKind, str]] = {
    "item": ("reads the host", "waits for the device and gives a Python number"),
    "tolist": ("reads the host", "waits for the device and gives Python numbers"),
    "numpy": ("reads the host", "copies to the host"), "cpu": ("reads the host", "copies to the host"),
    "nonzero": ("dynamic shape", "its shape depends on values"),
    "unique": ("dynamic shape", "its shape depends on values"),
    "masked_select": ("dynamic shape", "its shape depends on values"),
    "synchronize": ("synchronizes", "capture forbids waiting for a stream or an event"),
    "pin_memory": ("host copy", "allocates host memory"),
}  # fmt: skip
_CALLS: Mapping[str, tuple[HazardKind, str]] = {
    "torch.cuda.synchronize": ("synchronizes", "capture forbids waiting for the device"),
    "torch.nonzero": ("dynamic shape", "its shape depends on values"),
    "torch.unique": ("dynamic shape", "its shape depends on values"),
    "torch.masked_select": ("dynamic shape", "its shape depends on values"),
    "torch.tensor": ("host copy", "copies Python numbers from pageable memory"),
    "torch.from_numpy": ("host copy", "copies from pageable memory"),
    "torch.cuda.Stream": ("own stream", "work on a stream that does not join the captured one is lost"),
    "torch.cuda.CUDAGraph": ("capture inside", "a capture can't begin inside another"),
    "torch.cuda.graph": ("capture inside", "a capture can't begin inside another"),
    "print": ("host side effect", "happens at capture, not at replay"),
    "open": ("host side effect", "happens at capture, not at replay"),
    "time.time": ("host side effect", "is read at capture, not at replay"),
    "time.perf_counter": ("host side effect", "is read at capture, not at replay"),
}  # fmt: skip
_RANDOM = ("random.", "numpy.random.", "np.random.")
_REDUCTIONS = {"any", "all", "sum", "max", "min", "mean", "norm", "isnan", "isinf", "item", "allclose", "equal"}
_HARMLESS = {"shape", "dtype", "device", "is_cuda", "ndim", "training", "requires_grad"}


@dataclass(frozen=True, slots=True)
class Hazard(Wire):
    """One thing that capture forbids, or that a replay does not repeat."""

    line: int
    function: str
    kind: HazardKind
    text: str
    why: str


def hazards_of(source: bytes, entry: str = "") -> tuple[Hazard, ...]:
    """Return the hazards of a function and of the functions of the file that it calls, by line.

    Args:
        source: The file.
        entry: A function, or a class whose `forward` or `__call__` is meant; empty: every function.

    Raises:
        SyntaxError: It is no Python.
        KeyError: It has no such function or class.
    """
    tree = ast.parse(source)
    names = aliases(tree)
    functions = dict(_functions(tree))
    wanted = list(functions) if not entry else _entry(functions, entry)
    seen: set[str] = set()
    hazards: set[Hazard] = set()
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        hazards.update(_of(functions[name], name, names))
        called = {_last(node.func) for node in ast.walk(functions[name]) if isinstance(node, ast.Call)}
        wanted += [one for one in functions if one.rsplit(".", 1)[-1] in called]
    return tuple(sorted(hazards, key=lambda one: (one.line, one.text)))


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{one.name}", one) for one in node.body if isinstance(one, ast.FunctionDef))


def _entry(functions: Mapping[str, ast.FunctionDef], entry: str) -> list[str]:
    found = [one for one in (entry, f"{entry}.forward", f"{entry}.__call__") if one in functions]
    if not found:
        raise KeyError(entry)
    return found[:1]


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _of(function: ast.FunctionDef, name: str, names: Mapping[str, str]) -> Iterator[Hazard]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            found = _call(node, names)
            if found is not None:
                yield Hazard(node.lineno, name, found[0], ast.unparse(node)[:80], found[1])
        elif isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert) and _reads_values(node.test):
            why = "the branch that capture took is the one that every replay takes"
            yield Hazard(node.lineno, name, "data-dependent branch", ast.unparse(node.test)[:80], why)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Compare):
            why = "a mask as an index: its shape depends on values"
            yield Hazard(node.lineno, name, "dynamic shape", ast.unparse(node)[:80], why)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            why = "Python state changes at capture only"
            yield Hazard(node.lineno, name, "host side effect", f"{', '.join(node.names)}", why)


def _call(node: ast.Call, names: Mapping[str, str]) -> tuple[HazardKind, str] | None:
    dotted, last = dotted_name(node.func, names), _last(node.func)
    if dotted in _CALLS:
        return _CALLS[dotted]
    if dotted.startswith(_RANDOM):
        return "host randomness", "is drawn at capture, not at replay"
    if last == "where" and len(node.args) == 1:
        return "dynamic shape", "its shape depends on values"
    if last == "to" and any(isinstance(one, ast.Constant) and one.value == "cpu" for one in node.args):
        return "reads the host", "copies to the host"
    if (
        isinstance(node.func, ast.Attribute)
        and last in _METHODS
        and (dotted.partition(".")[0] != "torch" or not dotted)
    ):
        return _METHODS[last]
    return None


def _reads_values(test: ast.AST) -> bool:
    """Return whether a condition asks a tensor for a value: a reduction or comparison of it, not of its layout."""
    if isinstance(test, ast.Attribute) and test.attr in _HARMLESS:
        return False
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr in _REDUCTIONS:
        return not (isinstance(test.func.value, ast.Attribute) and test.func.value.attr in _HARMLESS)
    return any(_reads_values(one) for one in ast.iter_child_nodes(test))

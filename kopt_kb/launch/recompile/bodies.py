"""What a taken module may hold once it is there: Triton's own values, plain ones, and what was taken beside it.

Triton calls whatever Python function the body of a kernel names, so that a member of a module which leads elsewhere,
such as `tl.core.os`, would run while the kernel is compiled.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Collection, Iterator, Mapping
from types import ModuleType
from typing import Any

from kopt_kb.launch.recompile.expressions import dotted, is_hidden

__all__ = ["strange_body", "strange_value"]

_MODULES = ("triton.language", "triton.experimental.gluon.language", "triton.experimental.gluon")
_OWNERS = ("triton.language.", "triton.experimental.gluon.", "triton.runtime.jit", "triton._utils", "triton._C.")
_PLAIN = (bool, int, float, str, bytes, type(None), range, slice)
_DEEPEST = 8
_QUESTIONS = frozenset({"getattr", "hasattr"})


def strange_value(value: object, taken: Collection[str], depth: int = 0) -> str:
    """Return what a value is that no taken module may hold; empty for one that it may.

    Args:
        value: Bound to a name of the module.
        taken: Dotted names of the modules that were taken.
        depth: How deep in containers it lies.
    """
    if isinstance(value, _PLAIN):
        return ""
    if depth > _DEEPEST:
        return "a deep container"
    if isinstance(value, ModuleType):
        name = value.__name__
        known = name in taken or name in {"math", "typing", "triton"} or any(_below(name, one) for one in _MODULES)
        return "" if known or any(one.startswith(f"{name}.") for one in taken) else f"module {name}"
    if isinstance(value, dict):
        parts: Iterator[object] = iter((*value.keys(), *value.values()))
    elif isinstance(value, tuple | list | set | frozenset):
        parts = iter(value)
    elif type(value).__name__ == "constexpr" and type(value).__module__.startswith("triton."):
        parts = iter((getattr(value, "value", None),))
    else:
        owner = str(getattr(value, "__module__", "") or type(value).__module__)
        kind = type(value).__module__
        known = owner in taken or owner in {"math", "typing", "triton", "__future__"} or owner.startswith(_OWNERS)
        is_own = known or kind.startswith(("triton.language.", "triton.experimental.gluon."))
        return "" if is_own else f"{owner}.{getattr(value, '__name__', type(value).__name__)}"
    return next((found for one in parts if (found := strange_value(one, taken, depth + 1))), "")


def _below(name: str, top: str) -> bool:
    return name == top or name.startswith(f"{top}.")


def strange_body(function: Any, taken: Collection[str]) -> str:
    """Return what the body of a kernel names that none may: a module as a value, or something beyond Triton."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    known: Mapping[str, object] = function.__globals__
    own = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    own |= {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
    for node in _outermost(tree):
        text = dotted(node)
        first, _, rest = text.partition(".")
        if any(is_hidden(part) for part in rest.split(".")):
            return f"{text} in a kernel"
        if not text or first in own or first not in known:
            continue
        if found := _strange_chain(known[first], [*filter(None, rest.split("."))], taken):
            return f"{text} in a kernel is {found}"
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _QUESTIONS:
            asked = call.args[1] if len(call.args) > 1 else None
            if not isinstance(asked, ast.Constant) or is_hidden(str(asked.value)):
                return f"{call.func.id} of a computed name in a kernel"
    return ""


def _outermost(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield names and chains of members, each as long as it is written."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Attribute | ast.Name):
            yield node
            while isinstance(node, ast.Attribute):
                node = node.value
            if isinstance(node, ast.Name):
                continue
        waiting += ast.iter_child_nodes(node)


def _strange_chain(value: object, rest: list[str], taken: Collection[str]) -> str:
    for part in rest:
        if found := strange_value(value, taken):
            return found
        if not isinstance(value, ModuleType):
            if hasattr(value, "fn"):
                return "a member of a kernel"
            return ""
        if not hasattr(value, part):
            return ""  # the compiler says so itself
        value = getattr(value, part)
    if isinstance(value, ModuleType):
        return f"module {value.__name__} as a value"
    return strange_value(value, taken)

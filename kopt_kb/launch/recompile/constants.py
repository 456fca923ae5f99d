"""Constants of kernels as documents, and back: numbers, words, types, tuples, layouts, other kernels, nothing else."""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Callable, Mapping
from typing import Any

from triton.language import dtype

from kopt_kb.base.wire import JSON
from kopt_kb.launch.record.model import Keywords

__all__ = ["StrangeConstantError", "constant_of", "document_of"]

_LAYOUTS = "triton.experimental.gluon.language."
_DEEPEST = 16


class StrangeConstantError(Exception):
    """A constant of a kind that no document has; the text names it."""


def document_of(value: Any, depth: int = 0) -> JSON:
    """Return a constant as a document; of a kind that is none of these, the name of its type."""
    kind = type(value)
    if depth > _DEEPEST:
        return {"unknown": "deep"}
    if value is None or kind in {bool, int, str} or (kind is float and math.isfinite(value)):
        return value  # type: ignore[no-any-return]
    if kind.__name__ == "constexpr" and hasattr(value, "value"):
        return document_of(value.value, depth + 1)
    if kind is list or (isinstance(value, tuple) and not hasattr(value, "_fields")):
        return {"tuple": [document_of(one, depth + 1) for one in value]}
    return _named(value, kind, depth)


def _named(value: Any, kind: type, depth: int) -> JSON:
    """Return what JSON lacks as an object."""
    if kind is float:
        return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    if kind.__name__ == "dtype" and kind.__module__.startswith("triton."):
        return {"triton.dtype": str(value)}
    if hasattr(value, "fn") and hasattr(value, "arg_names"):
        return {"kernel": f"{value.fn.__module__}:{value.fn.__name__}"}
    if dataclasses.is_dataclass(value) and kind.__module__.startswith(_LAYOUTS) and kind.__name__.endswith("Layout"):
        fields = {one.name: document_of(getattr(value, one.name), depth + 1) for one in dataclasses.fields(value)}
        return {"layout": kind.__name__, "module": kind.__module__, "fields": fields}
    return {"unknown": kind.__name__[:80]}


def constant_of(document: object, kernel: Callable[[str], Any]) -> Any:
    """Return the constant of a document.

    Args:
        document: As `document_of` writes it.
        kernel: Returns the kernel of `module:name`.

    Raises:
        StrangeConstantError: It is of no known kind.
    """
    if not isinstance(document, Mapping):
        return document
    match dict(document):
        case {"float": str(word), **rest} if not rest:
            return float(word)
        case {"triton.dtype": str(name), **rest} if not rest:
            return dtype(name)
        case {"tuple": [*parts], **rest} if not rest:
            return tuple(constant_of(one, kernel) for one in parts)
        case {"kernel": str(name), **rest} if not rest:
            return kernel(name)
        case {"layout": str(name), "module": str(module), "fields": {**fields}}:
            return _layout(name, module, {key: constant_of(one, kernel) for key, one in fields.items()})
        case {"unknown": str(name)}:
            raise StrangeConstantError(f"a constant of type {name}")
    raise StrangeConstantError("a constant of no known form")


def _layout(name: str, module: str, fields: Keywords) -> Any:
    """Return a layout of Gluon's; its fields are lists where a document has tuples."""
    if not module.startswith(_LAYOUTS) or not name.endswith("Layout"):
        raise StrangeConstantError(f"a layout {module}.{name}")
    kind = getattr(importlib.import_module(module), name, None)
    if not isinstance(kind, type) or not dataclasses.is_dataclass(kind):
        raise StrangeConstantError(f"a layout {module}.{name}")
    wanted = {one.name for one in dataclasses.fields(kind) if one.init}
    return kind(**{key: _lists(value) for key, value in fields.items() if key in wanted})


def _lists(value: Any) -> Any:
    return [_lists(one) for one in value] if isinstance(value, tuple) else value

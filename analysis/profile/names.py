"""Bare function names out of demangled kernel names."""

from __future__ import annotations

import re

__all__ = ["function_name"]

_UNNAMED = re.compile(
    r"\(anonymous namespace\)|<unnamed>|unnamed>|\{anonymous\}|\((?:anonymous|unnamed) (?:class|type)[^)]*\)"
)
_SUFFIX = re.compile(r"\s*(?:\[clone [^\]]*\]|\(\.kd\)|\.kd)\s*$")


def function_name(demangled: str) -> str:
    """Return the identifier of a kernel: `void a::f<int>(float*)` gives `f`.

    Args:
        demangled: Name with or without return type, namespaces, template arguments and parameters.
    """
    text = _UNNAMED.sub("", _SUFFIX.sub("", demangled.strip()))
    match = re.search(r"[(<\[]", text)
    head = text[: match.start()] if match and match.start() else text
    bare = head.strip().rsplit("::", 1)[-1].rsplit(" ", 1)[-1]
    return bare.strip("*&") or demangled.strip()

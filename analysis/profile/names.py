"""Bare function names out of kernel names, mangled or not."""

from __future__ import annotations

import re
from typing import Literal

from kopt_kb.base.errors import BadInput

__all__ = ["KernelRole", "function_name", "kernel_pattern", "role_of"]

KernelRole = Literal["kernel", "communication", "runtime"]
_COMMUNICATION = re.compile(r"(?:nccl|rccl|msccl)[A-Z_]?\w*")
_RUNTIME = re.compile(r"__amd_rocclr_\w+")

_UNNAMED = re.compile(
    r"\(anonymous namespace\)|<unnamed>|unnamed>|\{anonymous\}|\((?:anonymous|unnamed) (?:class|type)[^)]*\)"
)
_MANGLED = "_Z"
_LENGTH = re.compile(r"[1-9]\d{0,3}")
_SUFFIX = re.compile(r"\s*(?:\[clone [^\]]*\]|\(\.kd\)|\.kd)\s*$")


def kernel_pattern(text: str) -> re.Pattern[str]:
    """Return what --kernel means everywhere: a regular expression, found in a name; raises `BadInput`."""
    try:
        return re.compile(text)
    except re.error as error:
        fix = "put a backslash before each character that is meant as it is"
        raise BadInput(
            f"{text!r} is no regular expression: {error}", where="--kernel", fix=fix, code="KB203"
        ) from error


def function_name(demangled: str) -> str:
    """Return the identifier of a kernel: `void a::f<int>(float*)` gives `f`.

    Args:
        demangled: Name with or without return type, namespaces, template arguments and parameters.
    """
    text = _UNNAMED.sub("", _SUFFIX.sub("", demangled.strip()))
    if text.startswith(_MANGLED):
        return _last_identifier(text) or text
    match = re.search(r"[(<\[]", text)
    head = text[: match.start()] if match and match.start() else text
    bare = head.strip().rsplit("::", 1)[-1].rsplit(" ", 1)[-1]
    return bare.strip("*&") or demangled.strip()


def _last_identifier(mangled: str) -> str:
    """Return the function of an Itanium-mangled name: the last of the identifiers with their lengths, `2at6native…`."""
    rest = mangled.removeprefix(_MANGLED).lstrip("N").lstrip("K").removeprefix("St")
    found = ""
    while match := _LENGTH.match(rest):
        stop = match.end() + int(match[0])
        found, rest = rest[match.end() : stop], rest[stop:]
    return found


def role_of(function: str) -> KernelRole:
    """Return what a kernel is there for: the user's work, a collective of NCCL or RCCL, or the runtime's own fills.

    Args:
        function: Bare function name.
    """
    if _COMMUNICATION.fullmatch(function):
        return "communication"
    return "runtime" if _RUNTIME.fullmatch(function) else "kernel"

"""Which function of a program launched a kernel, and the call of it as `kb init --call` takes it."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import CO_VARARGS, CO_VARKEYWORDS
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch

from kopt_kb.launch.record.ended import is_machinery
from kopt_kb.launch.record.trace import CallTrace, on_device
from kopt_kb.problem.dtypes import format_of

__all__ = ["NOBODY", "RunningCalls"]

NOBODY = ("", "")
"""Of a launch below no function of tensors that stands at the top of a file."""

_ANY = CO_VARARGS | CO_VARKEYWORDS
_MOST_VALUES = 64
"""Integers of a tensor that are written out; a function may be given more, whose bound is asked for."""


class RunningCalls:
    """The functions of a program that are running, with the arguments that they were called with.

    A frame has only what its parameters hold by now: `x = x.view(-1, n)` is usual above a launch.
    """

    def __init__(self, trace: CallTrace) -> None:
        self._trace = trace
        self._running: list[tuple[FrameType, dict[str, object]]] = []
        self._named: dict[CodeType, str] = {}

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note each call of a program's own functions in the block."""
        before = sys.getprofile()
        sys.setprofile(self._event)
        try:
            yield
        finally:
            sys.setprofile(before)

    def _event(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            code = frame.f_code
            name = self._named.get(code)
            if name is None:
                name = self._named[code] = _entry(frame)
            if name:
                self._running.append((frame, {one: frame.f_locals[one] for one in code.co_varnames[: _count(code)]}))
        elif event == "return" and self._running and self._running[-1][0] is frame:
            self._running.pop()

    def innermost(self) -> tuple[str, str]:
        """Return the file and the call of the innermost function whose arguments a call can say, or `NOBODY`."""
        for frame, given in reversed(self._running):
            name = self._named[frame.f_code]
            named = [*given.items()][name.endswith(".apply") and _has_context(frame) :]
            words = [(one, self._text(value)) for one, value in named]
            if any(map(_is_given, given.values())) and all(text for _, text in words):
                return str(Path(frame.f_code.co_filename).resolve()), f"{name}({', '.join(map('='.join, words))})"  # type: ignore[arg-type] # all are text
        return NOBODY

    def _text(self, value: object) -> str | None:
        """Return an argument as it is written; None for what has no form."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, list | tuple):
            parts = [self._text(one) for one in value]
            return None if None in parts or not parts else f"[{','.join(map(str, parts))}]"
        if value is None or isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        if isinstance(value, str):
            return f"'{value}'" if "'" not in value else None
        return str(value) if isinstance(value, torch.dtype) or type(value) in {int, float} else None

    def _tensor(self, value: Any) -> str | None:
        known = format_of(str(value.dtype))
        if not on_device(value) or known is None:
            return None
        shape = ",".join(str(int(one)) for one in value.shape)
        strides = "" if value.is_contiguous() else ";strides=" + ",".join(str(int(one)) for one in value.stride())
        held = self._trace.known.integers(value) if value.numel() <= _MOST_VALUES else None
        below = self._trace.known.below(value)
        said = f"=[{','.join(map(str, held))}]" if held else f"<{below}" if below else ""
        name = known.dtype if format_of(known.dtype) is known else known.torch
        return f"{name}[{shape}{strides}]{said}"


def _entry(frame: FrameType) -> str:
    """Return how a call names a running function: one at the top of a file, or an autograd function's forward."""
    code = frame.f_code
    if code.co_filename.startswith("<") or is_machinery(code.co_filename) or code.co_flags & _ANY:
        return ""
    first, _, inner = code.co_qualname.partition(".")
    if not inner:
        return first if callable(frame.f_globals.get(first)) else ""
    kind = frame.f_globals.get(first)
    is_own = inner == "forward" and isinstance(kind, type) and issubclass(kind, torch.autograd.Function)
    return f"{first}.apply" if is_own else ""


def _has_context(frame: FrameType) -> bool:
    kind: Any = frame.f_globals[frame.f_code.co_qualname.partition(".")[0]]
    return kind.setup_context is torch.autograd.Function.setup_context


def _count(code: CodeType) -> int:
    return code.co_argcount + code.co_kwonlyargcount


def _is_given(value: object) -> bool:
    return on_device(value) or (isinstance(value, list | tuple) and any(map(on_device, value)))

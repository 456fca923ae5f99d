"""How Triton was asked to compile a launched kernel: what the launch record says of each of its code objects."""

from __future__ import annotations

import os
from typing import Any

from triton.compiler.compiler import make_backend

from kopt_kb.base.wire import JsonMap, canonical, plain
from kopt_kb.launch.compile.stub import gpu_target
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.recompile.constants import document_of
from kopt_kb.launch.record.code_request import OPTIONS, CodeRequest

__all__ = ["request_of"]


def request_of(compiled: Any, asked: Any, target: CompileTarget) -> CodeRequest:
    """Return what a compiled kernel was asked for.

    Args:
        compiled: The kernel.
        asked: The options it was compiled with, before the compiler changed them; None: those of its metadata.
        target: What it was compiled for.
    """
    source = compiled.src
    function = source.fn.fn
    options, refused = _options(asked or compiled.metadata, target)
    return CodeRequest(
        language="Gluon" if source.fn.is_gluon() else "Triton",
        file=os.path.realpath(function.__code__.co_filename),
        module=str(function.__module__),
        kernel=str(function.__name__),
        signature={name: plain(kind) for name, kind in source.signature.items()},
        constants={_place(key): document_of(value) for key, value in source.constants.items()},
        attributes={_place(key): {str(name): plain(one) for name, one in pairs} for key, pairs in source.attrs.items()},
        options=options,
        refused=refused,
    )


def _place(key: Any) -> str:
    return ".".join(map(str, key))


def _options(asked: Any, target: CompileTarget) -> tuple[JsonMap, tuple[str, ...]]:
    """Return the options that a second compiler may take, and the names of others that were set."""
    usual = vars(make_backend(gpu_target(target)).parse_options({}))
    made = {name: getattr(asked, name, usual[name]) for name in usual}
    kept = {name: plain(made[name]) for name in sorted(usual.keys() & OPTIONS) if made[name] is not None}
    others = sorted(usual.keys() - OPTIONS)
    return kept, tuple(name for name in others if _said(made[name]) != _said(usual[name]))


def _said(value: Any) -> bytes:
    """Return an option's value in one form: those of metadata were a JSON document."""
    return canonical(plain(sorted(value) if isinstance(value, set | frozenset) else value))

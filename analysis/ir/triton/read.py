"""Triton IR of either form to a `Module`: TTIR, or TTGIR of Gluon kernels."""

from __future__ import annotations

from kopt_kb.analysis.ir.triton.gluon import TtgirParser, is_ttgir
from kopt_kb.analysis.ir.triton.model import Module
from kopt_kb.analysis.ir.triton.parser import IrParser

__all__ = ["parse_ttir"]


def parse_ttir(text: str, *, file: str = "<ir>") -> Module:
    """The module a Triton IR text describes: the unoptimised or the optimised TTIR of triton 3.6 to 3.9, or TTGIR.

    Args:
        text: What `compiled.asm["ttir"]` (or `asm["source"]`) holds, of Gluon `asm["ttgir"]`; locations are ignored.
        file: The name that error messages and notes give for the text.

    Raises:
        IrError: A line that is not TTIR; `where` is `file:line`.
    """
    return (TtgirParser if is_ttgir(text) else IrParser)(text, file).module()

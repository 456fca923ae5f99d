"""Exact work counts from Triton IR text: parse it, evaluate it over a grid, read off FLOPs and bytes."""

from __future__ import annotations

from kopt_kb.analysis.ir.triton.arguments import TensorArg
from kopt_kb.analysis.ir.triton.count import count_ir
from kopt_kb.analysis.ir.triton.describe import IrParameter, KernelDescription, describe
from kopt_kb.analysis.ir.triton.model import Function, IrError, Module
from kopt_kb.analysis.ir.triton.read import parse_ttir
from kopt_kb.analysis.ir.triton.result import Amount, IrCount, KernelCount

__all__ = [
    "Amount",
    "Function",
    "IrCount",
    "IrError",
    "IrParameter",
    "KernelCount",
    "KernelDescription",
    "Module",
    "TensorArg",
    "count_ir",
    "describe",
    "parse_ttir",
]

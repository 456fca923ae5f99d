"""Compilation without a GPU: Triton's own specialisation in child processes, with time and memory limits."""

from __future__ import annotations

from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.request import Compilation, CompileFailed, CompileRequest, OpCase
from kopt_kb.launch.compile.target import TARGETS, CompileTarget

__all__ = ["TARGETS", "Compilation", "CompileFailed", "CompilePool", "CompileRequest", "CompileTarget", "OpCase"]

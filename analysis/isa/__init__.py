"""Instruction sets as text: what a compiled kernel contains, and whether that meets the ISA targets."""

from __future__ import annotations

from kopt_kb.analysis.isa.model import Access, IsaResources, IsaScan
from kopt_kb.analysis.isa.scan import scan_text
from kopt_kb.analysis.isa.targets import IsaTarget, Progress, evaluate_targets, isa_targets

__all__ = [
    "Access",
    "IsaResources",
    "IsaScan",
    "IsaTarget",
    "Progress",
    "evaluate_targets",
    "isa_targets",
    "scan_text",
]

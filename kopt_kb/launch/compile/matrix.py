"""The matrix instructions that a compiler chose, by their names in PTX or AMDGCN text."""

from __future__ import annotations

import re

__all__ = ["matrix_instructions"]

_PTX = re.compile(r"^\s*(?:@!?%\w+\s+)?((?:mma|wgmma\.mma_async|wmma\.mma|tcgen05\.mma)\.[\w.:]+)", re.MULTILINE)
_AMDGCN = re.compile(r"^\s*(v_(?:mfma|smfmac|wmma|swmmac)_\w+)([^\n]*)", re.MULTILINE)
_FORM = re.compile(r"\b(cbsz|blgp):(\d)")


def matrix_instructions(text: str) -> tuple[str, ...]:
    """Return each matrix instruction of PTX or AMDGCN text once, with the words that say its formats."""
    found = dict.fromkeys(name.replace("::", ":") for name in _PTX.findall(text))
    for name, operands in _AMDGCN.findall(text):
        formats = "".join(f" {word}:{number}" for word, number in _FORM.findall(operands)) if "f8f6f4" in name else ""
        found[f"{name}{formats}"] = None
    return tuple(found)

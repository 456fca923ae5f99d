"""Compilation targets by their public names, such as sm_90 or gfx942."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.errors import BadInput

__all__ = ["TARGETS", "CompileTarget"]

TARGETS = ("sm_80", "sm_90", "sm_100", "sm_120", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
"""Targets that are tested; others of the same families are passed on to Triton."""

_NVIDIA = re.compile(r"sm_(\d{2,3})[af]?")
_AMD = re.compile(r"gfx(?:9|1[0-2])[0-9a-f]{2}")
_WARP_SIZE = {"cuda": 32, "gfx9": 64, "gfx1": 32}
"""Threads of a warp by backend or family; RDNA runs waves of 64 too, Triton compiles for 32."""


@dataclass(frozen=True, slots=True)
class CompileTarget:
    """One target as Triton names it.

    Attributes:
        name: Public name, feature suffix removed.
        backend: Triton's backend.
        arch: Triton's architecture: a number for cuda, the name for hip.
        warp_size: Threads of a warp (CUDA) or wavefront.
    """

    name: str
    backend: Literal["cuda", "hip"]
    arch: int | str
    warp_size: int

    @classmethod
    def parse(cls, name: str) -> CompileTarget:
        """Return the target of that name; raises `BadInput` with the tested ones."""
        if found := _NVIDIA.fullmatch(name):
            return cls(f"sm_{found[1]}", "cuda", int(found[1]), _WARP_SIZE["cuda"])
        if _AMD.fullmatch(name):
            return cls(name, "hip", name, _WARP_SIZE[name[:4]])
        raise BadInput(f"unknown target {name!r}", where="--target", fix=f"one of {', '.join(TARGETS)}", code="KB106")

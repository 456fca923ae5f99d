"""Backends of kernels as campaigns name them, and the language each is written in."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["BACKENDS", "backend_of", "language_of"]

BACKENDS: Mapping[str, str] = {
    "TRITON": "Triton", "CK": "HIP", "HIPBLASLT": "HIP", "TURBO": "HIP", "HIP": "HIP", "FLYDSL": "FlyDSL",
    "CUTEDSL": "CuteDSL", "CUTILE": "cuTile", "GLUON": "Gluon", "CUDA": "CUDA",
}  # fmt: skip
"""Backend → language."""


def language_of(backend: str) -> str:
    """Return the language of a backend; empty for one that nobody knows."""
    return BACKENDS.get(backend.upper(), "")


def backend_of(framework: str) -> str:
    """Return the backend of a framework as users write it: the first that is written in it, else its own letters."""
    plain = "".join(one for one in framework.upper() if one.isalnum())
    own = plain if plain in BACKENDS else ""
    return own or next((name for name, spoken in BACKENDS.items() if spoken.upper() == framework.upper()), plain)

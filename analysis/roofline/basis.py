"""What a roof rests on, and how that is said."""

from __future__ import annotations

from typing import Literal

__all__ = ["Basis", "attainable_words", "basis_name", "basis_words", "roof_words"]

Basis = Literal["documented", "measured", "vendor_measured"]
"""A roof is documented, measured by ourselves, or, where nothing is documented, measured by its vendor."""


def basis_name(basis: str) -> str:
    """Return a basis in words, to stand alone."""
    return "vendor's own measurement" if basis == "vendor_measured" else basis


def basis_words(basis: str) -> str:
    """Return a basis in words, before the name of a roof."""
    return "vendor's own measurement of" if basis == "vendor_measured" else basis


def roof_words(basis: str) -> str:
    """Return what a share is of, in words."""
    return "the vendor's own measurement" if basis == "vendor_measured" else f"the {basis} roof"


def attainable_words(basis: str) -> str:
    """Return under which roofs a rate is attainable, in words."""
    return "the vendor's own measurement" if basis == "vendor_measured" else f"{basis} roofs"

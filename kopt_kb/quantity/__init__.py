"""Exact values that know their unit and where they come from, and the citations that prove them."""

from __future__ import annotations

from typing import Literal

__all__ = ["Exactness", "Grade"]

Grade = Literal["vendor", "device", "measured", "threshold", "secondary", "derived"]
"""How far a row of the wiki can be trusted."""

Exactness = Literal["exact", "lower", "upper"]
"""What a count says of the true number."""

"""The class of change that would win a kernel's time back."""

from __future__ import annotations

from collections.abc import Mapping

from kopt_kb.packs.step_ranking.kernel_names import KernelCategory
from kopt_kb.packs.step_ranking.report import StepChange

__all__ = ["change_for"]

_NEAR = 0.7
_SHORT_S = 5e-6


def change_for(category: KernelCategory, roof: str, share: float, each_s: float) -> tuple[StepChange, str]:
    """Return what it takes, as a class and in words.

    Args:
        category: Of the operator.
        roof: Roof that binds.
        share: Part of it that is reached.
        each_s: Time of one call.
    """
    if each_s < _SHORT_S:
        return "graph", "too short for its roof to matter: fewer launches (fuse, batch, a graph)"
    if share >= _NEAR:
        if roof == "dram":
            return "fusion", "near the roof: only fewer bytes help (fuse with its neighbours, a narrower type)"
        return "unknown", "near the roof: only less work or a narrower type helps"
    if category == "products" and roof == "dram":
        return "library", "bound by bytes: a split along K, more rows a call, or narrower weights"
    return _FAR[category]


_FAR: Mapping[KernelCategory, tuple[StepChange, str]] = {
    "products": ("library", "another tile or schedule of the library, or a kernel tuned for the shape"),
    "attention": ("kernel", "another attention kernel (newer flash attention, cuDNN, AITER), or one for these lengths"),
    "norms": ("kernel", "one pass over the rows in a kernel tuned for their length"),
    "elementwise": ("fusion", "fuse with its neighbours, or a kernel tuned for the shape"),
    "communication": (
        "overlap",
        "overlap it with computation, send less, or find the rank that comes late: waiting for it counts here",
    ),
    "copies": ("layout", "avoid the copy: keep the layout, or write where it is read"),
    "rest": ("unknown", "nothing is known of it"),
}

"""The products of a target or an architecture: a view for a reader, never an answer to what one product has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.base.wire import Wire
from kopt_kb.wiki.lookup import Lookup, lookup
from kopt_kb.wiki.names import fold
from kopt_kb.wiki.registry import Registry

__all__ = ["OVERVIEW", "ProductGroup", "group", "members"]

OVERVIEW = ("sm_count", "memory_capacity", "memory_bandwidth", "tdp")
"""What a view prints of each product when no metric is asked for."""


@dataclass(frozen=True, slots=True)
class ProductGroup(Wire):
    """Products that share a target or an architecture.

    Attributes:
        name: The target or architecture as the pages write it.
        kind: `target` or `arch`.
        products: One lookup a product and metric, sorted by product.
    """

    WIRE: ClassVar = ("name", "kind", "products")
    name: str
    kind: str
    products: tuple[Lookup, ...]

    @property
    def is_unknown(self) -> bool:
        """Whether no product has a value of what was asked for."""
        return all(one.is_unknown for one in self.products)


def _bare(name: str) -> str:
    """Return a name without blanks, and a target without features: `sm_90a` is `sm90`, `gfx90a:xnack-` is `gfx90a`."""
    bare = fold(name.partition(":")[0] if name.startswith("gfx") else name).replace("_", "")
    return re.sub(r"^(sm\d+)[af]$", r"\1", bare)


def members(registry: Registry, name: str) -> tuple[str, str, tuple[str, ...]] | None:
    """Return kind, spelling and products of a target or architecture; None if a page or list entry owns the name.

    `sm_90a` and `sm90` mean the target `sm_90`; a name that is both part of a product's name and an architecture
    means the product.
    """
    pages = {one.platform: one for wiki in registry.wikis for one in wiki.names.identities.values()}
    if any(fold(name) in wiki.names.names for wiki in registry.wikis):
        return None
    for kind in ("target", "arch"):
        found = [one for one in pages.values() if _bare(name) and _bare(getattr(one, kind)) == _bare(name)]
        if found:
            return kind, getattr(found[0], kind), tuple(sorted(one.platform for one in found))
    return None


def group(registry: Registry, name: str, metric_name: str | None = None, /, **axes: str) -> ProductGroup | None:
    """Return the view of a target or architecture, None if there is none of that name.

    Args:
        registry: Where to look.
        name: `gfx942`, `sm_90`, `hopper`, `CDNA 3`.
        metric_name: Metric id, alias or key; None for the metrics of `OVERVIEW`.
        **axes: Further conditions.

    Raises:
        WikiFaults: A row that was asked for does not load.
        UnknownMetric: The metric is not in the vocabulary.
    """
    found = members(registry, name)
    if found is None:
        return None
    kind, spelled, products = found
    metrics = OVERVIEW if metric_name is None else (metric_name,)
    rows = [lookup(registry.platform(one), metric, **axes) for one in products for metric in metrics]
    return ProductGroup(spelled, kind, tuple(rows))

"""The dense peak of a type on a product, in one call."""

from __future__ import annotations

from kopt_kb.analysis.roofline.ceilings import compute_ceiling
from kopt_kb.base.errors import BadInput
from kopt_kb.problem.dtypes import Engine, dtype_of
from kopt_kb.quantity.quantity import Quantity, Unknown
from kopt_kb.wiki.registry import Product, platform_of

__all__ = ["peak"]


def peak(product: Product, dtype: str, engine: Engine | None = None) -> Quantity:
    """Return the documented dense peak of a type, with its citation.

    Args:
        product: A product or its name, such as "NVIDIA H100 80GB HBM3".
        dtype: Type of the operands: `bf16`, `fp32`.
        engine: `matrix` or `vector`; None for the faster of those that the product has for the type. The key of the
            citation says which one it is.

    Raises:
        UnknownData: Nobody publishes it, for the matrix engine where the product has one for the type.
        BadInput: An unknown product, type or engine, or the product does not have it (a NONE row).
    """
    if engine not in (None, "matrix", "vector"):
        raise BadInput(f"engine is {engine!r}", fix="give matrix or vector, or leave it out", code="KB106")
    platform, name = platform_of(product), dtype_of(dtype).name
    engines: tuple[Engine, ...] = ("matrix", "vector") if engine is None else (engine,)
    rows = {one: platform.rows("peak_compute", dtype=name, engine=one, sparsity="dense") for one in engines}
    have = [one for one in engines if any(row.kind != "none" for row in rows[one])]
    found = [compute_ceiling(platform, name, one).documented for one in have or engines[:1]]
    if isinstance(found[0], Unknown):
        raise found[0].error()
    return max((value for value in found if isinstance(value, Quantity)), key=lambda value: value.si)

"""The rule for each operator: its category, and its work where the shapes say it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kopt_kb.packs.step_ranking.attention import ATTENTION
from kopt_kb.packs.step_ranking.kernel_names import KernelCategory, category_of
from kopt_kb.packs.step_ranking.movement import (
    COPIES,
    ELEMENTWISE,
    NORMS,
    elementwise,
    generated,
    is_elementwise,
    is_reduction,
    reduced,
)
from kopt_kb.packs.step_ranking.operands import Shaped
from kopt_kb.packs.step_ranking.products import PRODUCTS, guarded, template_product
from kopt_kb.problem.work import Work

__all__ = ["category_of_op", "is_known", "judged"]

_Rule = Callable[[Shaped], Work | None]
_TABLES: tuple[tuple[KernelCategory, Mapping[str, _Rule]], ...] = (
    ("products", PRODUCTS),
    ("attention", ATTENTION),
    ("norms", NORMS),
    ("elementwise", ELEMENTWISE),
    ("copies", COPIES),
)
_RULES: Mapping[str, tuple[KernelCategory, _Rule]] = {
    name: (category, rule) for category, table in _TABLES for name, rule in table.items()
}
_GENERATED = "triton_"
_TEMPLATE = "triton_tem_"


def is_known(shaped: Shaped) -> bool:
    """Return whether the kernels of an operator are counted by its own shapes, not by those of one around it."""
    if shaped.name in _RULES or shaped.name.startswith(_GENERATED) or shaped.call.facts:
        return True
    return bool(shaped.call.dims) and (is_elementwise(shaped) or is_reduction(shaped))


def category_of_op(name: str) -> KernelCategory | None:
    """Return the category of an operator by its name, None where only its kernels tell it."""
    known = _RULES.get(name)
    return None if known is None else known[0]


def judged(shaped: Shaped) -> tuple[KernelCategory, Work | None]:
    """Return category and work of an operator's kernels; the work is None where nothing says it."""
    if (known := _RULES.get(shaped.name)) is not None:
        category, rule = known
        return category, guarded(rule)(shaped)
    if shaped.call.facts:
        return "communication", None
    told = category_of(shaped.kernels[0])
    if shaped.name.startswith(_TEMPLATE):
        return "products", guarded(template_product)(shaped)
    if shaped.name.startswith(_GENERATED):
        return told, generated(shaped)
    if is_reduction(shaped):
        return "norms", reduced(shaped)
    return "elementwise", elementwise(shaped) if is_elementwise(shaped) else None

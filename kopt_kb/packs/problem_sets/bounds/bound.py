"""The time below which no correct answer to a problem can be on a product, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

from kopt_kb.analysis.roofline.ceilings import memory_ceiling
from kopt_kb.analysis.roofline.floor import compute_floor
from kopt_kb.analysis.roofline.last_caches import last_caches
from kopt_kb.base.wire import Wire
from kopt_kb.packs.problem_sets.bounds.facts import FoundFacts, ProblemFacts, ProductFact
from kopt_kb.problem.dtypes import dtype_of
from kopt_kb.problem.work import Work, work
from kopt_kb.quantity.quantity import Quantity
from kopt_kb.wiki.registry import Platform

__all__ = ["BoundTable", "ProblemBound", "bound_of", "table_of"]

Kind = Literal["products", "bytes", "none", "refused"]
_NARROW = "fp8"
"""Storage type that products are given: errors of inputs of one sign average out over K, so that a check of 1e-4 may
pass operands of few bits, and inside a problem the tolerance of the result says nothing of the product's."""


@dataclass(frozen=True, slots=True)
class ProblemBound(Wire):
    """One problem.

    Attributes:
        problem: Its file below the folder, without the suffix.
        kind: What the bound is: the time of its products, of its bytes, none that is above zero, or refused.
        floor_s: No correct answer is faster, by the file's own check, caches flushed before each run; seconds.
        warm_floor_s: The same where what the last cache holds may be left from the run before.
        judged_floor_s: As `floor_s`, where weights are inputs of each check, as kb's own judge gives them.
        memory_s: Least time of the bytes alone.
        products_s: Least time of the products alone.
        read_bytes: Of inputs that have to be read.
        weight_bytes: Of weights and buffers that matter; a model may hold them folded or narrower.
        written_bytes: Of results that have to be written.
        state_written_bytes: Of running statistics that are brought up to date; the check does not look at them.
        given_bytes: Of all inputs, weights and results as they are.
        storage: Types of the inputs, as the problem's own code makes them.
        products: How many products count, and how many do not.
        basis: What the bound rests on.
        operations: Work by operation: name → FLOPs by engine.
        reason: Why it was refused.
        notes: What could not be shown.
    """

    problem: str
    kind: Kind
    floor_s: float = 0.0
    warm_floor_s: float = 0.0
    judged_floor_s: float = 0.0
    memory_s: float = 0.0
    products_s: float = 0.0
    read_bytes: int = 0
    weight_bytes: int = 0
    written_bytes: int = 0
    state_written_bytes: int = 0
    given_bytes: int = 0
    storage: str = ""
    products: tuple[int, int] = (0, 0)
    basis: tuple[str, ...] = ()
    operations: dict[str, dict[str, int]] | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BoundTable(Wire):
    """The bounds of a folder's problems on a product.

    Attributes:
        platform: Exact product.
        torch: Version that traced the problems.
        citations: Rows of the wiki that times rest on.
        cache_bytes: What the caches hold together, by which written bytes are reduced; None: UNKNOWN, and no written
            byte counts.
        rows: A problem each.
    """

    platform: str
    torch: str
    citations: tuple[str, ...]
    cache_bytes: int | None
    rows: tuple[ProblemBound, ...]


@dataclass(frozen=True, slots=True)
class _Rates:
    """What a product's rows say of memory: bytes a second, and what its caches hold; None where UNKNOWN."""

    per_s: Fraction | None
    cache: Fraction | None
    citations: tuple[str, ...]


def _rates(platform: Platform) -> _Rates:
    memory = memory_ceiling(platform, "copy", 0).documented
    per_s = memory.si if isinstance(memory, Quantity) else None
    cited = memory.citation_texts if isinstance(memory, Quantity) else ()
    caches = last_caches(platform)
    return _Rates(per_s, caches.held, (*cited, *caches.citations))


def table_of(facts: Iterable[FoundFacts], folder: Path, platform: Platform, torch: str) -> BoundTable:
    """Return the bounds of problems on a product.

    Args:
        facts: Of each problem.
        folder: What names of problems start below.
        platform: The product.
        torch: Version of torch that the facts are of.
    """
    rates = _rates(platform)
    cited: dict[str, None] = dict.fromkeys(rates.citations)
    rows = []
    for one in facts:
        row, own = bound_of(one, _name(Path(one.file), folder), platform, rates)
        cited |= dict.fromkeys(own)
        rows.append(row)
    held = None if rates.cache is None else int(rates.cache)
    return BoundTable(platform.id, torch, tuple(cited), held, tuple(rows))


def _name(file: Path, folder: Path) -> str:
    inside = file.relative_to(folder.resolve()) if file.is_relative_to(folder.resolve()) else file
    return str(inside.with_suffix(""))


def bound_of(
    fact: FoundFacts, name: str, platform: Platform, rates: _Rates | None = None
) -> tuple[ProblemBound, tuple[str, ...]]:
    """Return the bound of one problem, and the rows that its products rest on."""
    facts = fact.facts
    if facts is None:
        return ProblemBound(name, "refused", reason=fact.what), ()
    rates = rates or _rates(platform)
    read, weights = (sum(one.needed_bytes for one in facts.inputs if (one.kind == "input") is side) for side in _SIDES)
    written = sum(one.needed_bytes for one in facts.outputs)
    products, basis, cited = _products(facts, platform)
    cold, warm, judged = (
        _memory(rates, reads, written, cold=is_cold)
        for reads, is_cold in ((read, True), (read, False), (read + weights, True))
    )
    floor = max(cold, products)
    kind: Kind = "none" if not floor else "products" if products > cold else "bytes"
    counted = sum(one.times for one in facts.products if not one.left_out)
    row = ProblemBound(
        problem=name,
        kind=kind,
        floor_s=float(floor),
        warm_floor_s=float(max(warm, products)),
        judged_floor_s=float(max(judged, products)),
        memory_s=float(cold),
        products_s=float(products),
        read_bytes=read,
        weight_bytes=weights,
        written_bytes=written,
        state_written_bytes=facts.state_written_bytes,
        given_bytes=sum(one.bytes for one in facts.inputs) + sum(one.bytes for one in facts.outputs),
        storage=", ".join(sorted({one.dtype for one in facts.inputs if one.kind == "input"})),
        products=(counted, sum(one.times for one in facts.products) - counted),
        basis=(*basis, *_said(facts)),
        operations={one.name: dict(one.flops) for one in facts.operations},
        notes=facts.notes,
    )
    return row, cited


_SIDES = (True, False)


def _memory(rates: _Rates, read: int, written: int, *, cold: bool) -> Fraction:
    """Return the least time of bytes: the last cache may keep what was written, and where it is warm what is read."""
    if rates.per_s is None:
        return Fraction(0)
    cache = Fraction(read + written) if rates.cache is None else rates.cache
    kept = max(written - cache, Fraction(0)) if cold else Fraction(0)
    moved = read + kept if cold else max(read + written - cache, Fraction(0))
    return Fraction(moved) / rates.per_s


def _products(facts: ProblemFacts, platform: Platform) -> tuple[Fraction, list[str], tuple[str, ...]]:
    """Return the least time of the products that count, one after the other, what it rests on, and its rows."""
    total, basis, cited = Fraction(0), list[str](), list[str]()
    for one in facts.products:
        batch, m, n, k = one.shape
        shape = f"{batch}x{m}x{n}x{k}"
        if one.left_out:
            basis.append(f"product {shape} not counted: {one.left_out}")
            continue
        floor = compute_floor(_work(one), platform)
        if floor.seconds is None:
            basis.append(f"product {shape} not counted: {floor.route}")
            continue
        total += one.times * floor.seconds
        cited += floor.citations
        basis.append(f"{one.times} x product {shape}: {floor.route}")
    return total, basis, tuple(cited)


def _work(one: ProductFact) -> Work:
    batch, m, n, k = one.shape
    narrow = dtype_of(one.dtype).bits <= dtype_of(_NARROW).bits
    return work("batched_gemm", (batch, m, n, k), one.dtype if narrow else _NARROW)


def _said(facts: ProblemFacts) -> list[str]:
    said = [f"{one.name}: {one.basis}" for one in facts.inputs if one.kind == "input"]
    return said + [f"{one.name}: {one.basis}" for one in facts.outputs]

"""What is known of one value of a kernel: where its data come from and along what they were reduced."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

__all__ = ["NOTHING", "TileValue", "combined", "expanded", "joined"]

_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class TileValue:
    """A value in a kernel, as far as classification needs it.

    Attributes:
        rank: Number of its axes; None where nobody says.
        plain: It holds loaded data that no reduction has consumed.
        reduced: Reductions (by number) whose results it holds at their own rank.
        spread: Reductions whose results it holds broadcast along more axes.
        scanned: Scans, sorts and exchanges of lanes whose results it holds.
        normed: Reductions whose broadcast results were combined with tile data in it.
        index: It is made of lane numbers alone.
        one_hot: `lane` where it picks one lane: a comparison of lane numbers with a number, or data masked by one;
            `pair` for the two lanes that a sorting network exchanges.
        carried: Variables whose value of the iteration before it holds.
        bases: Parameters it is a sum with; pointers are found by them.
        items: The values of a tuple.
    """

    rank: int | None = 0
    plain: bool = False
    reduced: frozenset[int] = _NONE
    spread: frozenset[int] = _NONE
    scanned: frozenset[int] = _NONE
    normed: frozenset[int] = _NONE
    index: bool = False
    one_hot: str = ""
    carried: frozenset[str] = field(default_factory=frozenset)
    bases: frozenset[str] = field(default_factory=frozenset)
    items: tuple[TileValue, ...] | None = None

    @property
    def data(self) -> bool:
        """Whether it holds anything that was loaded."""
        return bool(self.plain or self.reduced or self.spread or self.scanned or self.normed)

    @property
    def reductions(self) -> frozenset[int]:
        """Every reduction and scan in it."""
        return self.reduced | self.spread | self.scanned | self.normed


NOTHING = TileValue()
"""A number that everybody knows: a constant, a shape, a program number."""


def _rank(value: TileValue, other: TileValue) -> int | None:
    return None if value.rank is None or other.rank is None else max(value.rank, other.rank)


def joined(value: TileValue, other: TileValue) -> TileValue:
    """Return what holds of either: the two ends of a branch."""
    if value is other:
        return value
    items = None
    if value.items is not None and other.items is not None and len(value.items) == len(other.items):
        items = tuple(joined(a, b) for a, b in zip(value.items, other.items, strict=True))
    return TileValue(
        rank=_rank(value, other),
        plain=value.plain or other.plain,
        reduced=value.reduced | other.reduced,
        spread=value.spread | other.spread,
        scanned=value.scanned | other.scanned,
        normed=value.normed | other.normed,
        index=value.index and other.index,
        one_hot=value.one_hot if value.one_hot == other.one_hot else "",
        carried=value.carried | other.carried,
        bases=value.bases | other.bases,
        items=items,
    )


def expanded(value: TileValue, rank: int | None) -> TileValue:
    """Return a value along more axes: what was reduced in it is broadcast now."""
    return replace(value, rank=rank, reduced=_NONE, spread=value.spread | value.reduced)


def combined(one: TileValue, other: TileValue, sources: dict[int, frozenset[int]]) -> TileValue:
    """Return an arithmetic result of two values.

    Args:
        one: An operand.
        other: The other.
        sources: Reduction → the reductions whose results it consumed.
    """
    rank = _rank(one, other)
    low = one.rank is not None and other.rank is not None
    if low and one.reduced and one.rank < other.rank:  # type: ignore[operator]
        one = expanded(one, one.rank)
    if low and other.reduced and other.rank < one.rank:  # type: ignore[operator]
        other = expanded(other, other.rank)
    normed = _normed(one, other, sources) | _normed(other, one, sources)
    mixed = joined(one, other)
    flat = one.reduced | other.reduced | one.scanned | other.scanned
    spread = mixed.spread - normed
    if flat and spread and not (one.spread and other.spread):
        # A broadcast sum added to a full-rank result of its own, as in a scan by chunks, is part of that result.
        reduced, spread = mixed.reduced | spread, _NONE
    else:
        reduced = mixed.reduced
    index = all(each.index or (each.rank == 0 and not each.data) for each in (one, other))
    return replace(
        mixed, rank=rank, normed=mixed.normed | normed, spread=spread, reduced=reduced, one_hot="", items=None,
        index=index and (one.index or other.index),
    )  # fmt: skip


def _normed(broadcast: TileValue, tile: TileValue, sources: dict[int, frozenset[int]]) -> frozenset[int]:
    """Return the broadcast reductions that meet tile data, or the results that they themselves consumed."""
    if not broadcast.spread:
        return _NONE
    if tile.plain or tile.normed:
        return broadcast.spread
    own = tile.reduced | tile.spread
    return frozenset(one for one in broadcast.spread if own & sources.get(one, _NONE) - {one})

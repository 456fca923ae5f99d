"""The registry: platforms and their values, each with its citation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NewType, TypeAlias

from kopt_kb.base.errors import BadInput
from kopt_kb.quantity.citation import Citation
from kopt_kb.quantity.quantity import Absent, Quantity, Unknown
from kopt_kb.wiki.faults import WikiFaults
from kopt_kb.wiki.names import Identity
from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.resolve import CitationState, quantity_of, verify
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import Sheet
from kopt_kb.wiki.vocabulary import AXES, AXIS_DEFAULTS, asked, canonical_key, fits, metric
from kopt_kb.wiki.wiki import Wiki

__all__ = [
    "AmbiguousRow",
    "Platform",
    "PlatformId",
    "Product",
    "Registry",
    "checked_conditions",
    "parse_key",
    "platform_of",
]

PlatformId = NewType("PlatformId", str)


class AmbiguousRow(BadInput):
    """Several rows fit the conditions; the registry never picks one.

    Attributes:
        keys: Keys of the rows that match.
    """

    code = "KB054"

    def __init__(self, asked: str, keys: tuple[str, ...], where: str) -> None:
        self.asked, self.keys, self.place = asked, keys, where
        super().__init__(f"{asked} matches {len(keys)} rows", where=where, fix=f"name one: {', '.join(keys)}")

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return AmbiguousRow, (self.asked, self.keys, self.place)


def parse_key(text: str) -> tuple[str, dict[str, str]]:
    """Return metric id and axes of `metric` or `metric[axis=value;…]`; raises `BadInput` on other forms."""
    name, bracket, rest = text.strip().partition("[")
    axes: dict[str, str] = {}
    if bracket:
        if not rest.endswith("]"):
            raise BadInput(f"key {text!r} lacks its ]", fix="write metric[axis=value;axis=value]", code="KB055")
        for part in filter(None, (p.strip() for p in rest[:-1].split(";"))):
            axis, equals, value = part.partition("=")
            if not equals:
                raise BadInput(f"condition {part!r} is not axis=value", code="KB055")
            axes[axis.strip()] = value.strip()
    return checked_conditions(name, axes), axes


def checked_conditions(name: str, axes: Mapping[str, str]) -> str:
    """Return the id of a metric; raises `BadInput` when a condition is none of its axes or not in the vocabulary."""
    asked_for = metric(name)
    allowed = (*asked_for.axes, *AXIS_DEFAULTS)
    for axis, value in axes.items():
        if axis not in allowed:
            raise BadInput(f"{asked_for.id} has no axis {axis!r}", fix=f"its axes: {', '.join(allowed)}", code="KB021")
        if AXES[axis] and value not in AXES[axis]:
            raise BadInput(
                f"{axis}={value} is not in the vocabulary", fix=f"{axis}: {', '.join(AXES[axis])}", code="KB022"
            )
    return asked_for.id


class Platform:
    """One exact product."""

    def __init__(self, wiki: Wiki, identity: Identity) -> None:
        self.wiki = wiki
        self.identity = identity
        self.id = PlatformId(identity.platform)

    def __repr__(self) -> str:
        return f"Platform({self.id})"

    @property
    def sheet(self) -> Sheet:
        """All rows, checks and faults of the product."""
        return self.wiki.sheet(self.identity)

    @property
    def siblings(self) -> tuple[str, ...]:
        """Products that are easily taken for this one."""
        return self.wiki.names.siblings(self.identity)

    def refuse_faults(self, metric_id: str | None = None) -> None:
        """Raise `WikiFaults` if a fault concerns the metric, or the whole page, or (no metric given) anything."""
        hit = []
        for fault in self.sheet.faults:
            concerned = fault.key is None or metric_id is None or fault.key.partition("[")[0] == metric_id
            if concerned:
                hit.append(fault)
        if hit:
            raise WikiFaults(tuple(hit))

    def rows(self, name: str, /, **axes: str) -> tuple[Row, ...]:
        """Return the chosen rows of a metric under the given conditions; unnamed default axes mean their default."""
        metric_id = checked_conditions(name, axes)
        self.refuse_faults(metric_id)
        conditions = asked(axes, unnamed="default")
        chosen = self.sheet.chosen().values()
        return tuple(row for row in chosen if row.metric == metric_id and fits(dict(row.axes), conditions))

    def row(self, name: str, /, **axes: str) -> Row | None:
        """Return the one row, None if there is none; raises `AmbiguousRow` when several fit."""
        found = self.rows(name, **axes)
        if len(found) > 1:
            asked = canonical_key(metric(name), axes)
            raise AmbiguousRow(asked, tuple(row.key for row in found), f"{self.identity.path}:L{found[0].line}")
        return found[0] if found else None

    def get(self, name: str, /, **axes: str) -> Quantity | Unknown | Absent:
        """Return the value of a metric under conditions.

        Args:
            name: Metric id or alias.
            **axes: Conditions; a subset is enough where it names one row. `class` is written `class_`.

        Returns:
            The quantity; Unknown when the row says so or no row exists; Absent for a NONE row.

        Raises:
            AmbiguousRow: Several rows match.
            WikiFaults: A row of this metric has a fault.
        """
        conditions = {axis.rstrip("_"): value for axis, value in axes.items()}
        row = self.row(name, **conditions)
        if row is None:
            key = canonical_key(metric(name), conditions)
            return Unknown((f"{self.id} {key}",), "no row in the wiki", None, key, tuple(conditions.items()))
        return self.quantity(row)

    def quantity(self, row: Row) -> Quantity | Unknown | Absent:
        """Return what a row of this platform says, after reading its line again."""
        return quantity_of(self.wiki, self.sheet, row, self.id)

    def token(self, name: str) -> str | None:
        """Return the word of a token metric, or None when it is unknown or absent."""
        row = self.row(name)
        return row.value if row is not None and row.kind == "token" else None

    def require(self, key: str) -> Quantity:
        """Return the value of a key such as `memory_bandwidth`; raises when it is unknown (exit 4) or absent."""
        name, axes = parse_key(key)
        found = self.get(name, **axes)
        if isinstance(found, Quantity):
            return found
        raise found.error()


class Registry:
    """Platforms of one or more wikis; the first wiki that has a name wins nothing: names must be unique."""

    def __init__(self, wikis: tuple[Wiki, ...]) -> None:
        self.wikis = wikis

    def __repr__(self) -> str:
        return f"Registry({', '.join(str(wiki.root) for wiki in self.wikis)})"

    @classmethod
    def open(cls, *roots: str | Path, use_cache: bool = True) -> Registry:
        """Open the wikis at these folders; without any, KOPT_GPU_WIKI or else the packaged wiki."""
        folders = [Path(root) for root in roots] or [default_root()]
        return cls(tuple(Wiki(folder, use_cache=use_cache) for folder in folders))

    @property
    def wiki(self) -> Wiki:
        """The first wiki."""
        return self.wikis[0]

    def platforms(self) -> tuple[PlatformId, ...]:
        """Return the ids of all products, sorted."""
        return tuple(PlatformId(name) for name in sorted({p for wiki in self.wikis for p in wiki.names.identities}))

    def platform(self, name: str) -> Platform:
        """Return exactly that product; raises `UnknownPlatform`, `AmbiguousPlatform` or `NoPage`."""
        last: BadInput | None = None
        for wiki in self.wikis:
            try:
                return Platform(wiki, wiki.resolve(name))
            except BadInput as error:
                last = error if last is None or hasattr(error, "candidates") else last
        for wiki in self.wikis:
            from kopt_kb.wiki.announced import announced

            part = announced(wiki, name)
            if part is not None:
                raise part.error(name)
        raise last if last is not None else BadInput("no wiki is open", code="KB053")

    def verify(self, citation: Citation) -> CitationState:
        """Return whether a citation still holds: ok, moved, changed or missing."""
        states = [verify(wiki, citation)[0] for wiki in self.wikis]
        return next((state for state in ("ok", "moved", "changed") if state in states), "missing")


Product: TypeAlias = Platform | str
"""A product, or its name: an id, an alias that the driver prints, a PCI id."""


def platform_of(product: Product) -> Platform:
    """Return the product that a name means in the wiki at hand (KOPT_GPU_WIKI, else the packaged one).

    Raises:
        UnknownPlatform: No page has that name.
        AmbiguousPlatform: Several products have it.
        BadInput: It is neither a name nor a `Platform`.
    """
    return product if isinstance(product, Platform) else Registry.open().platform(_name(product))


def _name(product: object) -> str:
    if isinstance(product, str):
        return product
    what = getattr(product, "no_product", f"{type(product).__name__} is no product")
    raise BadInput(what, fix='give its name, such as "H20", or Registry.open().platform(name)', code="KB051")

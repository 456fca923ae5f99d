"""Platform names: exact products, aliases the driver prints, family names, and what is ambiguous."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from kopt_kb.base.errors import BadInput
from kopt_kb.wiki.faults import Fault

__all__ = ["AmbiguousPlatform", "FrontMatter", "Identity", "NameIndex", "UnknownPlatform", "fold"]

FrontMatter: TypeAlias = Mapping[str, str | list[object] | dict[str, object]]
"""What a page says of itself, every scalar a text."""

_VENDOR_WORDS = re.compile(r"^(nvidia|amd|instinct|radeon|geforce)[\s_\-]+", re.IGNORECASE)

_CAPACITY = re.compile(r"_\d+gi?b$")
"""Memory at the end of a name that is none of a product: it does not say which of a family is meant."""

_SPELLING = 0.75
"""How alike a name must be to be suggested: letters that differ in one or two places."""


class UnknownPlatform(BadInput):
    """No page has that name."""

    code = "KB051"


class AmbiguousPlatform(BadInput):
    """A name that several products share and none owns.

    Attributes:
        candidates: Platform ids it can mean.
    """

    code = "KB052"

    def __init__(self, name: str, candidates: tuple[str, ...]) -> None:
        self.candidates = candidates
        super().__init__(f"{name!r} is not one product", fix=f"say which: {', '.join(candidates)}")

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return AmbiguousPlatform, (self.what.split("'")[1], self.candidates)


@dataclass(frozen=True, slots=True)
class Identity:
    """The front matter of one product page."""

    platform: str
    vendor: str
    sku: str
    arch: str
    target: str
    path: str
    aliases: tuple[str, ...] = ()
    family: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    pci: tuple[str, ...] = ()

    @classmethod
    def from_front(cls, front: FrontMatter, path: str) -> Identity:
        """Return the identity in a page's front matter; missing fields become empty text."""
        texts = {name: str(front.get(name, "")) for name in ("platform", "vendor", "sku", "arch", "target")}
        lists = [tuple(str(one) for one in front.get(name) or ()) for name in ("aliases", "family", "not", "pci")]
        return cls(**texts, path=path, aliases=lists[0], family=lists[1], near=lists[2], pci=lists[3])


def fold(name: str) -> str:
    """Return a name without vendor words, case, blanks and punctuation between its parts.

    >>> fold("  NVIDIA H100-PCIe ")
    'h100_pcie'
    """
    text = name.strip()
    while (shorter := _VENDOR_WORDS.sub("", text)) != text:
        text = shorter
    return re.sub(r"[\s_\-]+", "_", text).strip("_").casefold()


@lru_cache(1 << 13)
def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", name)


@lru_cache(1 << 13)
def _numbered(name: str) -> tuple[str, ...]:
    """Return the words with digits: they tell products apart, so no slip of spelling is looked for in them.

    >>> _numbered("rtx_5070_ti"), _numbered("b300a")
    (('5070',), ('b300a',))
    """
    return tuple(sorted(word for word in re.split(r"[\W_]+", name) if any(one.isdigit() for one in word)))


def _seen(name: str) -> str:
    """Return a name with letters that are typed for digits read as digits: H2O is H20, not water."""
    return _bare(name).translate(str.maketrans("oil", "011"))


class NameIndex:
    """Finds the one product a name means; never guesses, never falls back to a family."""

    def __init__(self, identities: tuple[Identity, ...]) -> None:
        self.identities = {one.platform: one for one in sorted(identities, key=lambda i: i.platform)}
        self.names: dict[str, list[str]] = {}
        for one in self.identities.values():
            for name in dict.fromkeys(fold(n) for n in (one.platform, one.sku, *one.aliases, *one.family, *one.pci)):
                self.names.setdefault(name, []).append(one.platform)

    def faults(self) -> list[Fault]:
        """Return a fault for each name that two pages claim."""
        found = []
        for name, owners in self.names.items():
            if len(owners) > 1:
                where = self.identities[owners[1]].path
                message = f"{name!r} is claimed by {', '.join(owners)}"
                found.append(Fault("WK403", where, 1, message, "a name belongs to one page"))
        return found

    def resolve(self, name: str) -> Identity:
        """Return the identity of exactly that product.

        Raises:
            AmbiguousPlatform: Several products begin with that name and none owns it.
            UnknownPlatform: None does, or only one of a family has a page; near names are suggested.
        """
        folded = fold(name)
        owners = self.names.get(folded, []) or self._joined(folded)
        if len(owners) == 1:
            return self.identities[owners[0]]
        stem = _CAPACITY.sub("", folded)
        parts = stem.split("_")
        size = folded[len(stem) :]
        begins = [p for p in self.identities if fold(p).split("_")[: len(parts)] == parts]
        begins = [p for p in begins if not size or (_CAPACITY.search(fold(p)) or [size])[0] == size]
        several = [self.names.get(fold(part), []) for part in name.split("/")] if "/" in name else []
        candidates = tuple(owners or begins or dict.fromkeys(one for ones in several for one in ones))
        if len(candidates) > 1 and folded:
            raise AmbiguousPlatform(name.strip(), candidates)
        raise UnknownPlatform(f"no page for platform {name.strip()!r}", fix=self._near(folded, candidates))

    def _joined(self, folded: str) -> list[str]:
        """Return the product whose name has the same letters and digits: rtx4090 is RTX_4090."""
        bare = _bare(folded)
        return list(dict.fromkeys(one for name, ones in self.names.items() if _bare(name) == bare for one in ones))

    def _near(self, folded: str, only: tuple[str, ...]) -> str:
        """Return what may be meant: the one of a family, slips of spelling, longer names with the same beginning."""
        if only and folded:
            return f"of these {only[0]} alone has a page"
        import difflib

        bare, numbers, seen = _bare(folded), _numbered(folded), _seen(folded)
        alike = [one for one in self.names if _numbered(one) == numbers or _bare(one) == bare]
        near = [one for one in self.names if _seen(one) == seen]
        near += difflib.get_close_matches(folded, alike, n=3, cutoff=_SPELLING)
        if len(bare) > 3 and any(one.isdigit() for one in bare):
            near += [one for one in self.names if bare in one.split("_")]
            near += [
                name
                for name in self.names
                if (rest := _bare(name).removeprefix(bare)) != _bare(name) and rest.isalpha()
            ]
        platforms = dict.fromkeys(self.names[one][0] for one in near)
        return f"did you mean {', '.join(platforms)}?" if platforms else "`kb list` prints every platform"

    def siblings(self, identity: Identity) -> tuple[str, ...]:
        """Return products that are easily taken for this one: its near names and those that share its first word."""
        first = fold(identity.platform).split("_")[0]
        shared = [p for p in self.identities if fold(p).split("_")[0] == first]
        named = [p for p in identity.near if p in self.identities]
        return tuple(dict.fromkeys(p for p in (*shared, *named) if p != identity.platform))

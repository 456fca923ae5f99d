"""Which products a text names: exact ones, families whose name covers several pages, and parts without a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kopt_kb.wiki.names import Identity
from kopt_kb.wiki.registry import Registry

__all__ = ["Mention", "ProductNames"]

_QUALIFIER = re.compile(
    r"[\s_-]*(?:\(\s*)?(?P<word>SXM\d?|PCI-?e|(?P<system>NVL\d+)|NVL|OAM|MaxQ|Max-Q|Server|Workstation|Active|Super|Ti|"
    r"XTX|XT|D\b|(?P<size>\d{2,3})\s?G(?:i?B)?(?![/A-Za-z]))(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_ELSE = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:RTX|GTX|GT|Quadro|Tesla|Radeon|RX|Arc)[\s_-]*(?:PRO[\s_-]*)?(?:[A-Z]{0,2}\d{2,4}\w*)|"
    r"TPU\s?v?\d\w*|Trillium|Ironwood|Gaudi\s?\d?|Trainium\s?\d?|Inferentia\d?|Ascend\s?\w*|Max\s1[15]\d0|PVC|"
    r"Ponte Vecchio|B570|B580|B70|M[1-5]\s(?:Ultra|Max|Pro)|MI\d{2,3}\w?|[AVPKM]\d{2,4}[A-Z]?|[GH][BH]?\d{3}[A-Z]?|"
    r"L\d{2}S?|EPYC|Xeon|Grace|gfx\d[0-9a-f]{2,3}|sm_?\d{2,3}a?|(?:CDNA|RDNA|Xe)\s?\d(?:\.\d)?|Volta|Turing|Pascal|"
    r"Ampere|Hopper|Blackwell|Rubin)(?![A-Za-z0-9])"
)
"""Names of hardware that no page answers; `Mention.platforms` is empty then."""
_VENDOR = re.compile(r"^(?:(?:NVIDIA|AMD|Instinct|Radeon|GeForce|Tesla|Quadro)[\s_-]+)+", re.IGNORECASE)
_FILE = re.compile(r"\.(?:py|md|json|ya?ml|toml|txt|cu|cpp|h|sh|html)\b")
_BEGIN = re.compile(r"\D{0,6}\d?")
_SHORT = 3
_REMEMBERED = 10_000
_ARCHITECTURES = re.compile(r"^(?:CDNA|RDNA)\s?\d")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name of hardware in a line.

    Attributes:
        platforms: Products it can mean; empty for hardware without a page.
    """

    start: int
    end: int
    platforms: frozenset[str]


def _stem(name: str) -> str:
    """Return the number of an AMD accelerator without its letter: MI300 of MI300X."""
    found = re.fullmatch(r"(MI\d{3})[A-Z]", name)
    return found[1] if found else ""


def _own_names(identity: Identity) -> set[str]:
    """Return the names that a page claims for itself."""
    return {
        _plain(_VENDOR.sub("", name)) for name in (identity.platform, identity.sku, *identity.aliases, *identity.family)
    }


class ProductNames:
    """Finds mentions of products, by every name of the wiki and by the first words of an id."""

    def __init__(self, registry: Registry) -> None:
        self._one: dict[str, frozenset[str]] = {}
        self._identities: dict[str, Identity] = {}
        for wiki in registry.wikis:
            self._identities.update(wiki.names.identities)
        names: dict[str, set[str]] = {}
        for one in self._identities.values():
            for name in _own_names(one):
                names.setdefault(name, set()).add(one.platform)
        owned = set(names)
        for one in self._identities.values():
            for name in {_plain(each) for each in self._shared_names(one)} - owned:
                names.setdefault(name, set()).add(one.platform)
        self._drop_open(names)
        for name, found in names.items():
            self._one[_compact(name)] = self._one.get(_compact(name), frozenset()) | found
        words = sorted(names, key=len, reverse=True)
        spelled = "|".join(_spelled(word) for word in words)
        self._pattern = re.compile(rf"(?P<name>{spelled})(?![A-Za-z0-9])", re.IGNORECASE)
        begins = {_spelled(begin[0]) for word in words if (begin := _BEGIN.match(word)) is not None}
        self._quick = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(sorted(begins))})", re.IGNORECASE)
        self._seen: dict[str, list[Mention]] = {}

    def _shared_names(self, identity: Identity) -> Iterator[str]:
        """Yield names that other pages may have too: the first words of an id, target, architecture, number."""
        words = identity.platform.split("_")
        for count in range(1, len(words)):
            if any(letter.isdigit() for letter in words[count - 1]):
                yield " ".join(words[:count])
        yield from (identity.target, identity.target.replace("_", ""))
        if _ARCHITECTURES.match(identity.arch):
            yield from (identity.arch, identity.arch.replace(" ", ""))
        if _stem(identity.platform):
            yield from (
                _stem(other.platform)
                for other in self._identities.values()
                if other.target == identity.target and _stem(other.platform)
            )

    def _drop_open(self, names: dict[str, set[str]]) -> None:
        """Drop the first words of one page's id: other variants, without a page, have them too."""
        for name, found in list(names.items()):
            (only,) = found if len(found) == 1 else ("",)
            one = self._identities.get(only)
            if one is not None and name not in _own_names(one):
                target = _plain(one.target)
                if name not in {target, target.replace(" ", ""), _stem(only).casefold()}:
                    del names[name]

    def occur(self, text: str) -> bool:
        """Whether any product is named in a text: without one nothing in it can be judged."""
        return next(self._hits(text), None) is not None

    def _hits(self, text: str) -> Iterator[re.Match[str]]:
        """Yield the names in a text; the few letters that names begin with are looked for first."""
        at = 0
        while (begin := self._quick.search(text, at)) is not None:
            hit = self._pattern.match(text, begin.start())
            at = begin.end() if hit is None else hit.end()
            if hit is not None and _is_name(hit["name"]) and not _FILE.match(text, hit.end()):
                yield hit

    def mentions(self, line: str) -> list[Mention]:
        """Return the mentions in a line, in order; longer names win."""
        if line in self._seen:
            return self._seen[line]
        found = [self._qualified(line, hit) for hit in self._hits(line)]
        covered = [(one.start, one.end) for one in found]
        found += [
            Mention(hit.start(), hit.end(), frozenset())
            for hit in _ELSE.finditer(line)
            if not any(start < hit.end() and hit.start() < end for start, end in covered)
        ]
        if len(self._seen) > _REMEMBERED:
            self._seen.clear()
        self._seen[line] = sorted(found, key=lambda one: one.start)
        return self._seen[line]

    def without(self, text: str) -> str:
        """Return a text without its names of hardware: `H100 PCIe` says nothing about a PCIe link."""
        for one in reversed(self.mentions(text)):
            text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
        return text

    def _qualified(self, line: str, hit: re.Match[str]) -> Mention:
        """Return the mention with the words behind the name that choose among its products."""
        platforms = self._one[_compact(hit["name"])]
        end = hit.end()
        while (more := _QUALIFIER.match(line, end)) is not None:
            platforms = frozenset(one for one in platforms if _fits(one, _plain(more["word"]), more["size"]))
            if more["system"] and "per gpu" not in line.casefold():
                platforms = frozenset()
            end = more.end()
        return Mention(hit.start(), end, platforms)


_FORMS = ("sxm", "pcie", "nvl")


def _fits(platform: str, word: str, size: str | None) -> bool:
    """Return whether a page can be meant with this word behind its name; one that says nothing of the kind can."""
    words = _plain(platform).split()
    if size is not None:
        sizes = [one for one in words if re.fullmatch(r"\d+gb", one)]
        return not sizes or f"{size}gb" in sizes
    form = re.sub(r"\d$", "", word).replace("-", "")
    if form in _FORMS:
        forms = [one.rstrip("0123456789") for one in words if one.rstrip("0123456789") in _FORMS]
        return not forms or form in forms
    return form not in _MODELS or form in words


_MODELS = ("super", "ti", "xt", "xtx", "d", "maxq", "server", "workstation", "active")
"""Words that make another product of a name."""


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()


def _spelled(word: str) -> str:
    return re.escape(word).replace(r"\ ", r"[\s_-]?")


def _compact(name: str) -> str:
    return _plain(name).replace(" ", "").replace("-", "")


def _is_name(text: str) -> bool:
    """Short names are names only in capitals: t4 and l4 are variables."""
    return len(text) > _SHORT or text == text.upper()

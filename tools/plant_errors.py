"""Plant wrong values in a copy of the wiki, one at a time, and count how many the rules refuse.

python tools/plant_errors.py [COUNT] [SEED]

Value and quote are changed together, as a careless or hostile editor would. `refused` counts plants that a rule or the
lint finds in the pages; then those are counted that the record of rows read again (SOURCES.md) refuses, because the row
was found in its document with another value. What is left is only named as changed.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.packs.curate.kin import odd_products, odd_targets
from kopt_kb.packs.curate.nothing import wrongly_none
from kopt_kb.packs.curate.repeated import other_quotes
from kopt_kb.packs.curate.sources import Documents, read_again
from kopt_kb.wiki.faults import Fault
from kopt_kb.wiki.names import Identity
from kopt_kb.wiki.page import Page
from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.sheet import Sheet
from kopt_kb.wiki.wiki import Wiki

_PIPES = re.compile(r"(?<!\\)\|")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True)
class Plant:
    """One wrong page: its path, its kind of error and its text."""

    kind: str
    path: str
    key: str
    text: str


def _replace(line: str, old: str, new: str) -> str:
    """Return a row's line with another value, in the value cell and in every quote that prints the old one."""
    cells = _PIPES.split(line)
    cells[2] = f" {new} "

    def quote(match: re.Match[str]) -> str:
        printed = match[1]
        for number in _NUMBER.findall(printed):
            if float(number.replace(",", "")) == float(old):
                return f'quote="{printed.replace(number, new, 1)}"'
        return f'quote="{new}"'

    cells[6] = re.sub(r'quote="((?:[^"\\]|\\.)*)"', quote, cells[6])
    return "|".join(cells)


def _scaled(factor: float) -> Callable[[str, random.Random], str | None]:
    def change(value: str, _: random.Random) -> str | None:
        number = float(value) * factor
        return f"{number:.10g}" if "e" not in f"{number:.10g}" else None

    return change


def _transposed(value: str, dice: random.Random) -> str | None:
    spots = [at for at in range(len(value) - 1) if value[at : at + 2].isdigit() and value[at] != value[at + 1]]
    spots = [at for at in spots if not (at == 0 and value[1] == "0")]
    if not spots:
        return None
    at = dice.choice(spots)
    return value[:at] + value[at + 1] + value[at] + value[at + 2 :]


_CHANGES: dict[str, Callable[[str, random.Random], str | None]] = {
    "ten times": _scaled(10),
    "a tenth": _scaled(0.1),
    "a thousand times": _scaled(1000),
    "a thousandth": _scaled(0.001),
    "twice": _scaled(2),
    "half": _scaled(0.5),
    "ten per cent more": _scaled(1.1),
    "a quarter less": _scaled(0.75),
    "digits transposed": _transposed,
}


class _Planted(Wiki):
    """A wiki with one page replaced; all others are read once, from the wiki it is made of."""

    def __init__(self, whole: Wiki, path: str, text: str) -> None:
        self.whole, self.path, self.text = whole, path, text
        self.root, self.use_cache = whole.root, False
        self._bytes, self._pages, self._sheets = {path: text.encode()}, {}, {}
        self.label = whole.label

    def page(self, path: str) -> Page | None:
        """Return the replaced page, or the whole wiki's."""
        return super().page(path) if path == self.path else self.whole.page(path)

    def read(self, path: str) -> bytes | None:
        """Return the replaced bytes, or the whole wiki's."""
        return super().read(path) if path == self.path else self.whole.read(path)

    def sheet(self, identity: Identity) -> Sheet:
        """Return the sheet, built again where the replaced page is part of it."""
        mine = self.path in {identity.path, f"targets/{identity.target}.md"}
        return super().sheet(identity) if mine else self.whole.sheet(identity)


def _kin(wiki: Wiki) -> Iterator[Fault]:
    yield from (*odd_targets(wiki), *odd_products(wiki), *wrongly_none(wiki), *other_quotes(wiki))


class Planter:
    """The pages of a wiki and every way to plant one error in them."""

    def __init__(self, wiki: Wiki) -> None:
        self.wiki = wiki
        self.texts = {
            path: (wiki.read(path) or b"").decode() for folder in ("hardware", "targets") for path in wiki.pages(folder)
        }
        self.products: dict[str, list[str]] = defaultdict(list)
        for one in wiki.names.identities.values():
            self.products[f"targets/{one.target}.md"].append(one.path)
        self.values: dict[str, set[str]] = defaultdict(set)
        for path in self.texts:
            for row in self._rows(path):
                self.values[f"{path.split('/')[0]}/{row.key}/{row.unit}"].add(row.value)

    def _rows(self, path: str) -> list[Row]:
        page = self.wiki.page(path) or Page(path)
        return [row for row in page.rows if row.kind == "value" and row.grade != "derived" and row.chosen is not False]

    def _with(self, path: str, changes: dict[int, str]) -> str:
        lines = self.texts[path].split("\n")
        for line, text in changes.items():
            lines[line - 1] = text
        return "\n".join(lines)

    def _line(self, row: Row) -> str:
        return self.texts[row.path].split("\n")[row.line - 1]

    def single(self, dice: random.Random) -> Plant | None:
        """One row, changed in one of the ways, or by the value that another page has for the same key."""
        row = dice.choice(self._rows(dice.choice(list(self.texts))) or [None])
        if row is None:
            return None
        kind = dice.choice([*_CHANGES, "a neighbour's value", "a neighbour's value", "a neighbour's value"])
        if kind in _CHANGES:
            new = _CHANGES[kind](row.value, dice)
        else:
            others = self.values[f"{row.path.split('/')[0]}/{row.key}/{row.unit}"] - {row.value}
            new = dice.choice(sorted(others)) if others else None
        if new is None or float(new) == float(row.value):
            return None
        changed = _replace(self._line(row), row.value, new)
        return Plant(kind, row.path, row.key, self._with(row.path, {row.line: changed}))

    def table(self, dice: random.Random) -> Plant | None:
        """Every tensor peak of a product by one factor."""
        path = dice.choice([path for path in self.texts if path.startswith("hardware/")])
        factor = dice.choice([0.5, 1.1, 1.5, 2])
        changes = {}
        for row in self._rows(path):
            if row.metric == "peak_compute" and dict(row.axes)["engine"] == "matrix":
                changes[row.line] = _replace(self._line(row), row.value, f"{float(row.value) * factor:.8g}")
        return Plant("a tensor table scaled", path, "peak_compute", self._with(path, changes)) if changes else None

    def memory(self, dice: random.Random) -> Plant | None:
        """Bandwidth and memory clock or pin rate by one factor."""
        path = dice.choice([path for path in self.texts if path.startswith("hardware/")])
        factor = dice.choice([0.5, 0.6, 1.5, 2])
        chosen = {"memory_bandwidth", "memory_clock", "memory_data_rate"}
        changes = {
            row.line: _replace(self._line(row), row.value, f"{float(row.value) * factor:.8g}")
            for row in self._rows(path)
            if row.metric in chosen
        }
        return Plant("memory of another form", path, "memory_bandwidth", self._with(path, changes)) if changes else None

    def _of_vendor(self, row: Row) -> bool:
        """Return whether a document of a row is the vendor's own: graded vendor, it says nothing wrong."""
        page = self.wiki.page(row.path) or Page(row.path)
        vendor = str(page.front.get("vendor", ""))
        return any(page.footnotes[one.id].publisher.startswith(vendor) for one in row.sources)

    def grade(self, dice: random.Random) -> Plant | None:
        """A third party's value graded vendor."""
        path = dice.choice(list(self.texts))
        rows = [row for row in self._rows(path) if row.grade == "secondary" and not self._of_vendor(row)]
        if not rows:
            return None
        row = dice.choice(rows)
        changed = self._line(row).replace("| secondary |", "| vendor |", 1)
        return Plant("a third party as vendor", path, row.key, self._with(path, {row.line: changed}))

    def direction(self, dice: random.Random) -> Plant | None:
        """A total of both directions entered as that of each."""
        path = dice.choice(list(self.texts))
        rows = [row for row in self._rows(path) if dict(row.axes).get("direction") == "both"]
        if not rows:
            return None
        row = dice.choice(rows)
        changed = self._line(row).replace("direction=both", "direction=each", 1)
        return Plant("both as each", path, row.key, self._with(path, {row.line: changed}))

    def plants(self, count: int, dice: random.Random) -> Iterator[Plant]:
        """Yield that many errors: single values most, the other kinds a tenth each."""
        makers = [self.single] * 6 + [self.table, self.memory, self.grade, self.direction]
        while count:
            made = dice.choice(makers)(dice)
            if made is not None and made.text != self.texts[made.path]:
                count -= 1
                yield made

    def faults(self, path: str, text: str | None = None) -> Counter[tuple[str, str]]:
        """Return the faults of the products that a page speaks about and of its kin, with that page's text replaced."""
        wiki = _Planted(self.wiki, path, text or self.texts[path])
        found: Counter[tuple[str, str]] = Counter()
        for one in wiki.names.identities.values():
            if path in {one.path, f"targets/{one.target}.md"}:
                found.update((fault.code, fault.message) for fault in wiki.sheet(one).faults)
        found.update((fault.code, fault.message) for fault in _kin(wiki))
        return found

    def contradicts(self, plant: Plant) -> bool:
        """Return whether the page now says something else than what was found in a document at its commit."""
        wiki = _Planted(self.wiki, plant.path, plant.text)
        return any(one.basis == "unsearched" for one in read_again(wiki, Documents(None), [plant.path]))


def main() -> int:
    """Print the share that is refused, by kind and by metric of what got through."""
    words = sys.argv[1:]
    count, seed = (int(word) for word in [*words, *["500", "1"][len(words) :]])
    root = default_root() if not Path("gpuwiki").is_dir() else Path("gpuwiki")
    planter = Planter(Wiki(root, use_cache=False))
    before = {path: planter.faults(path) for path in planter.texts}
    tried, refused, through = Counter[str](), Counter[str](), Counter[str]()
    searched = 0
    for plant in planter.plants(count, random.Random(seed)):  # noqa: S311 - plants are repeatable, not secret
        tried[plant.kind] += 1
        if planter.faults(plant.path, plant.text) - before[plant.path]:
            refused[plant.kind] += 1
        elif planter.contradicts(plant):
            searched += 1
            print(f"  only the document says otherwise: {plant.kind}: {plant.path} {plant.key}")
        else:
            through[plant.key.split("[")[0]] += 1
            print(f"  through: {plant.kind}: {plant.path} {plant.key}")
    for kind in sorted(tried):
        print(f"{refused[kind]:4d} of {tried[kind]:4d} refused: {kind}")
    whole, ruled = sum(tried.values()), sum(refused.values())
    print(f"{ruled} of {whole} refused by rules, {searched} more because the document at its commit says otherwise,")
    print(f"{ruled + searched} together; the record names every changed row")
    print("got through, by metric:", dict(through.most_common()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

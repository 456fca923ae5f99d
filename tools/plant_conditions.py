"""Plant rows mistaken for others in a copy of the wiki, one at a time, and count how many the check refuses.

python tools/plant_conditions.py [COUNT] [SEED]

Unlike with `plant_errors.py` the numbers mostly stay: units, conditions, grades, tokens, NONE and groups of rows
are taken for those of another row or product, by turns, so that each kind is tried as often.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from plant_errors import _PIPES, Plant, Planter, _Planted, _replace

from kopt_kb.packs.curate.required import missing
from kopt_kb.wiki.page import Page
from kopt_kb.wiki.row import Row
from kopt_kb.wiki.wiki import Wiki

_QUOTE = re.compile(r'quote="(?:[^"\\]|\\.)*"')
_UNITS: Mapping[str, tuple[str, ...]] = {
    "GB": ("GiB", "MB", "TB"),
    "GiB": ("GB", "MiB"),
    "MiB": ("KiB", "MB", "GiB"),
    "KiB": ("MiB", "B", "KB"),
    "MB": ("KB", "GB"),
    "TB/s": ("GB/s",),
    "GB/s": ("TB/s", "MB/s"),
    "TFLOPS": ("PFLOPS", "GFLOPS"),
    "PFLOPS": ("TFLOPS",),
    "TOPS": ("POPS",),
    "MHz": ("GHz", "kHz"),
    "GHz": ("MHz",),
    "B": ("KiB",),
    "KB": ("MB",),
}
_DTYPES = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8", "int4")
_AXES: Mapping[str, tuple[str, Mapping[str, tuple[str, ...]]]] = {
    "sparse as dense and back": ("sparsity", {"dense": ("2:4",), "2:4": ("dense",)}),
    "engine mistaken": ("engine", {"matrix": ("vector",), "vector": ("matrix",)}),
    "format mistaken": ("dtype", {one: tuple(set(_DTYPES) - {one}) for one in _DTYPES}),
    "clock class mistaken": ("class", {"base": ("boost", "max"), "boost": ("base",), "max": ("base",)}),
    "level mistaken": ("level", {"dram": ("l1", "l2"), "l2": ("dram",), "llc": ("dram", "l2")}),
    "power kind mistaken": (
        "kind",
        {
            "tdp": ("cap_max", "cap_min"),
            "cap_max": ("cap_min", "tdp"),
            "cap_min": ("cap_default", "tdp"),
            "cap_default": ("cap_min",),
        },
    ),
    "mode mistaken": ("mode", {"static": ("optin",), "optin": ("static",)}),
    "multiplier mistaken": ("multiplier", {"x2": ("x1", "x4"), "x4": ("x2",), "x8": ("x2",), "x16": ("x8",)}),
}
_TYPES = ("HBM2", "HBM2e", "HBM3", "HBM3e", "GDDR6", "GDDR6X", "GDDR7")
_GROUPS = (
    ("memory_capacity", "memory_bandwidth", "memory_bus_width", "memory_clock", "memory_data_rate"),
    ("sm_count", "matrix_units"),
    ("board_power",),
    ("l2_capacity",),
    ("sm_clock",),
)
_SCOPED = {"memory_capacity", "memory_bandwidth", "sm_count", "peak_compute", "l2_capacity"}


class Mistaker(Planter):
    """Every way to take a row for another one."""

    def _pick(self, dice: random.Random, folder: str, want: Callable[[Row], bool]) -> Row | None:
        found = [row for row in self._rows(dice.choice([p for p in self.texts if p.startswith(folder)])) if want(row)]
        return dice.choice(found) if found else None

    def _cells(self, kind: str, row: Row, changes: Mapping[int, str]) -> Plant:
        cells = _PIPES.split(self._line(row))
        for place, text in changes.items():
            cells[place] = text
        return Plant(kind, row.path, row.key, self._with(row.path, {row.line: "|".join(cells)}))

    def unit(self, dice: random.Random) -> Plant | None:
        """Another unit in the cell and in the quote."""
        row = self._pick(dice, "", lambda one: one.unit in _UNITS)
        if row is None:
            return None
        new = dice.choice(_UNITS[row.unit])
        source = _PIPES.split(self._line(row))[6]
        return self._cells("unit mistaken", row, {3: f" {new} ", 6: source.replace(row.unit, new)})

    def axis(self, dice: random.Random, kind: str) -> Plant | None:
        """Another word of one condition."""
        name, words = _AXES[kind]
        row = self._pick(dice, "hardware/" if name == "dtype" else "", lambda one: dict(one.axes).get(name) in words)
        if row is None:
            return None
        old = dict(row.axes)[name]
        changed = self._line(row).replace(f"{name}={old}", f"{name}={dice.choice(sorted(words[old]))}", 1)
        return Plant(kind, row.path, row.key, self._with(row.path, {row.line: changed}))

    def scope(self, dice: random.Random) -> Plant | None:
        """A scope or configuration left out, or a scope that is none of the row's."""
        kind = dice.choice(["scope left out", "scope added"])
        named = kind == "scope left out"
        row = self._pick(
            dice,
            "hardware/",
            lambda one: bool({"scope", "config"} & dict(one.axes).keys()) == named and (named or one.metric in _SCOPED),
        )
        if row is None:
            return None
        axes = [f"{name}={text}" for name, text in row.axes if name not in {"scope", "config"}]
        axes += [] if named else [f"scope={dice.choice(['node', 'die'])}"]
        return self._cells(kind, row, {4: f" {'; '.join(axes) or '-'} "})

    def exchanged(self, dice: random.Random) -> Plant | None:
        """Two values of one metric, each in the row of the other."""
        found = self._rows(dice.choice([path for path in self.texts if path.startswith("hardware/")]))
        one = dice.choice(found or [None])
        alike = [
            row for row in found if one and (row.metric, row.unit) == (one.metric, one.unit) and row.value != one.value
        ]
        if one is None or not alike:
            return None
        other = dice.choice(alike)
        changes = {
            one.line: _replace(self._line(one), one.value, other.value),
            other.line: _replace(self._line(other), other.value, one.value),
        }
        return Plant("two rows exchanged", one.path, one.key, self._with(one.path, changes))

    def digit(self, dice: random.Random) -> Plant | None:
        """One digit mistyped or lost."""
        row = self._pick(dice, "", lambda one: len(one.value.replace(".", "")) > 1)
        if row is None:
            return None
        at = dice.choice([place for place, sign in enumerate(row.value) if sign.isdigit()])
        typed = dice.choice(["", *(str((int(row.value[at]) + step) % 10) for step in (1, 2, 3, 9))])
        new = row.value[:at] + typed + row.value[at + 1 :]
        if re.fullmatch(r"(0|[1-9]\d*)(\.\d+)?", new) is None or float(new) == float(row.value):
            return None
        kind = "one digit mistyped" if typed else "one digit lost"
        return Plant(
            kind, row.path, row.key, self._with(row.path, {row.line: _replace(self._line(row), row.value, new)})
        )

    def token(self, dice: random.Random) -> Plant | None:
        """Another memory, or error correction the other way round."""
        path = dice.choice([path for path in self.texts if path.startswith("hardware/")])
        tokens = {"memory_type": _TYPES, "memory_ecc": ("yes", "no")}
        page = self.wiki.page(path) or Page(path)
        found = [row for row in page.rows if row.kind == "token" and row.metric in tokens]
        if not found:
            return None
        row = dice.choice(found)
        new = dice.choice([one for one in tokens[row.metric] if one != row.value])
        source = _PIPES.split(self._line(row))[6]
        return self._cells("token mistaken", row, {2: f" {new} ", 6: _QUOTE.sub(f'quote="{new}"', source)})

    def none(self, dice: random.Random) -> Plant | None:
        """What a part has, denied."""
        denied = {"peak_compute", "link_bandwidth", "memory_bandwidth", "link_count"}
        row = self._pick(dice, "hardware/", lambda one: one.metric in denied)
        if row is None:
            return None
        source = _QUOTE.sub("", _PIPES.split(self._line(row))[6])
        return self._cells("NONE where it has", row, {2: " NONE ", 6: source, 7: " reason: the part has none "})

    def raised(self, dice: random.Random) -> Plant | None:
        """A third party's value graded as a device's word, a limit as the vendor's."""
        higher = {"secondary": "device", "threshold": "vendor"}
        row = self._pick(dice, "", lambda one: one.grade in higher)
        return None if row is None else self._cells("grade raised", row, {5: f" {higher[row.grade]} "})

    def sister(self, dice: random.Random) -> Plant | None:
        """A group of rows of another product of the target."""
        one, other = dice.sample(dice.choice([paths for paths in self.products.values() if len(paths) > 1]), 2)
        metrics = dice.choice(_GROUPS)
        theirs = {(row.key, row.unit): row.value for row in self._rows(other)}
        changes = {
            row.line: _replace(self._line(row), row.value, theirs[row.key, row.unit])
            for row in self._rows(one)
            if row.metric in metrics and theirs.get((row.key, row.unit), row.value) != row.value
        }
        kind = "group of rows of a sister"
        return Plant(kind, one, "/".join(metrics), self._with(one, changes)) if changes else None

    def plants(self, count: int, dice: random.Random) -> Iterator[Plant]:
        """Yield that many errors, the kinds by turns."""
        plain = (self.unit, self.scope, self.scope, self.exchanged, self.digit, self.digit, self.token)
        makers: list[Callable[[], Plant | None]] = [
            *(lambda make=make: make(dice) for make in (*plain, self.none, self.raised, self.sister)),  # type: ignore[misc]
            *(lambda kind=kind: self.axis(dice, kind) for kind in _AXES),  # type: ignore[misc]
        ]
        made = 0
        while made < count:
            plant = makers[made % len(makers)]()
            if plant is not None and plant.text != self.texts[plant.path]:
                made += 1
                yield plant

    def faults(self, path: str, text: str | None = None) -> Counter[tuple[str, str]]:
        """Return the faults of a planted page, and the rows that it now lacks."""
        found = super().faults(path, text)
        wiki = _Planted(self.wiki, path, text or self.texts[path])
        for one in wiki.names.identities.values():
            if path in {one.path, f"targets/{one.target}.md"}:
                found.update(("WK401", f"{one.platform} {key}") for key in missing(wiki.sheet(one), one.vendor))
        return found


def main() -> int:
    """Print the share that is refused, by kind, and what got through."""
    words = sys.argv[1:]
    count, seed = (int(word) for word in [*words, *["360", "1"][len(words) :]])
    planter = Mistaker(Wiki(Path("gpuwiki"), use_cache=False))
    before = {path: planter.faults(path) for path in planter.texts}
    tried, refused = Counter[str](), Counter[str]()
    for plant in planter.plants(count, random.Random(seed)):  # noqa: S311 - plants are repeatable, not secret
        tried[plant.kind] += 1
        if planter.faults(plant.path, plant.text) - before[plant.path]:
            refused[plant.kind] += 1
        else:
            print(f"  through: {plant.kind}: {plant.path} {plant.key}")
    for kind in sorted(tried):
        print(f"{refused[kind]:4d} of {tried[kind]:4d} refused: {kind}")
    print(f"{sum(refused.values())} of {sum(tried.values())} refused by rules")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

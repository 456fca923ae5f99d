"""Bounds of a folder of problems on every product of the wiki: a table a product, and one of all.

Usage: python benchmarks/kernelbench_products.py FOLDER --out DIR --table TABLE.csv > benchmarks/results/FILE.txt

What `kb suite FOLDER --platform P --bounds DIR/P.json` does (.csv and .md as well) is done for each product, in one
process; the first run traces the problems, the others find what it kept. A line a product: seconds, problems by
kind of bound. TABLE.csv has a row a problem and a column a product: microseconds that no correct answer can
beat, caches flushed before it, 0 where nothing could be shown or the product's rows are UNKNOWN.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections import Counter
from pathlib import Path

from kopt_kb.packs.problem_sets.bounds.bound import BoundTable
from kopt_kb.packs.problem_sets.bounds.folder import bounds_of
from kopt_kb.packs.problem_sets.bounds.forms import FORMS
from kopt_kb.wiki.registry import Platform, Registry


def bounded(folder: Path, platform: Platform, out: Path) -> tuple[float, BoundTable]:
    """Return seconds and the table, which is written too."""
    begin = time.monotonic()
    table = bounds_of(folder, platform, [out / f"{platform.id}{suffix}" for suffix in FORMS], (), _say)
    return time.monotonic() - begin, table


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Write a table a product and one of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--table", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    columns: dict[str, dict[str, float]] = {}
    registry = Registry.open()
    for name in sorted(registry.platforms()):
        seconds, table = bounded(args.folder, registry.platform(name), args.out)
        columns[name] = {one.problem: one.floor_s * 1e6 for one in table.rows}
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(Counter(one.kind for one in table.rows).items()))
        print(f"{name}: {seconds:.1f} s, {len(table.rows)} problems: {kinds}", flush=True)
    with args.table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("problem", *columns))
        for problem in next(iter(columns.values())):
            writer.writerow((problem, *(f"{column[problem]:.4g}" for column in columns.values())))


if __name__ == "__main__":
    main()

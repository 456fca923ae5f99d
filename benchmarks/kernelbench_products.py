"""Bounds of a folder of problems on every product of the wiki: a table a product, and one of all.

Usage: python benchmarks/kernelbench_products.py FOLDER --out DIR --table TABLE.csv > benchmarks/results/FILE.txt

`kb suite FOLDER --platform P --bounds DIR/P.json --bounds DIR/P.csv --bounds DIR/P.md` is run for each product, as a
user would; the first run traces the problems, the others find what it kept. A line a product: seconds of the command,
problems by kind of bound. TABLE.csv has a row a problem and a column a product: microseconds that no correct answer can
beat, caches flushed before it, 0 where nothing could be shown or the product's rows are UNKNOWN.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from kopt_kb.wiki.registry import Registry


def bounded(folder: str, platform: str, out: Path) -> tuple[float, list[dict[str, object]]]:
    """Return seconds of the command and the rows of its table."""
    files = [out / f"{platform}{suffix}" for suffix in (".json", ".csv", ".md")]
    words = ["suite", folder, "--platform", platform, *(word for one in files for word in ("--bounds", str(one)))]
    begin = time.monotonic()
    subprocess.run([sys.executable, "-m", "kopt_kb", *words], capture_output=True, check=False)
    seconds = time.monotonic() - begin
    rows: list[dict[str, object]] = json.loads(files[0].read_text(encoding="utf-8"))["rows"]
    return seconds, rows


def main() -> None:
    """Write a table a product and one of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--table", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    columns: dict[str, dict[str, float]] = {}
    for platform in sorted(Registry.open().platforms()):
        seconds, rows = bounded(args.folder, platform, args.out)
        columns[platform] = {str(one["problem"]): float(str(one["floor_s"])) * 1e6 for one in rows}
        kinds = ", ".join(
            f"{kind} {count}" for kind, count in sorted(Counter(str(one["kind"]) for one in rows).items())
        )
        print(f"{platform}: {seconds:.1f} s, {len(rows)} problems: {kinds}", flush=True)
    with args.table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("problem", *columns))
        for problem in next(iter(columns.values())):
            writer.writerow((problem, *(f"{column[problem]:.4g}" for column in columns.values())))


if __name__ == "__main__":
    main()

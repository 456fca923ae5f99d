"""Searches against tables of exhaustive results at equal evaluations, table by table, with the spread over seeds.

    python benchmarks/search_tables.py TABLES --out DIR [--seeds 20] [--only searcher,tpe] [--table PART] [--budget-s S]
    python benchmarks/search_tables.py --print DIR_OR_FILE...

TABLES is a checkout of AutoTuningAssociation/benchmark_hub or any folder with its files. Each finished pair of a table
and a search is a line of DIR/runs.jsonl, so that a run which was cut off goes on; `--print` makes the Markdown of one
or more such folders or files. A table with fewer configurations than another of its kernel, or one its tuner did not
finish, is left out and named. The
budget is 15 % of the valid configurations, at most `--most`; what is selected is judged after
`--judged-at` evaluations.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from loop_search import loop_searches  # noqa: E402
from result_table import ResultTable, read_table, tables_in  # noqa: E402
from search_baselines import installed  # noqa: E402
from table_replay import Rules, Run, TableSearch, median_hit, replay  # noqa: E402

SHARE_OF_SPACE = 0.15
DEVELOPED_ON = {"A100", "A4000", "attention", "cross_entropy", "gemm", "softmax"}
"""Devices of public tables, and kernels of our own: the searcher was developed on these."""
SEEN = {"convolution_milo"}
"""A rule that the tables above did not speak against was dropped by what it cost on the others of this kernel."""
OWN = ("searcher", "loop")
"""How the names of our own searches begin."""
COLUMNS = (
    "Search", "median to within 2 %", "quartiles", "of the valid space", "seeds that missed", "selected after",
    "selected, median (worst)", "by its own times",
)  # fmt: skip


def whole_tables(folder: Path, part: str) -> Iterator[ResultTable]:
    """Yield the tables that are whole, by name; the others are named."""
    tables = [read_table(path) for path in tables_in(folder)]
    for one in sorted(tables, key=lambda one: one.name):
        kernel = one.name.partition("/")[0]
        most = max(len(other.results) for other in tables if other.name.partition("/")[0] == kernel)
        if not one.is_whole or len(one.results) < most:
            print(f"{one.name}: left out: {len(one.results)} of {most} configurations", file=sys.stderr)
        elif part in one.name:
            yield one


def record(args: argparse.Namespace) -> None:
    """Run what is not in DIR/runs.jsonl yet."""
    args.out.mkdir(parents=True, exist_ok=True)
    file, ends_at = args.out / "runs.jsonl", time.monotonic() + args.budget_s
    known = {(one["table"], one["search"]) for one in lines([args.out])}
    searches = {name: one for name, one in installed().items() if not args.only or name in args.only.split(",")}
    for table in whole_tables(args.tables, args.table):
        rules = Rules(min(int(SHARE_OF_SPACE * table.valid), args.most), args.judged_at)
        for name, search in {**searches, **_loops(table, rules, args.only)}.items():
            if (table.name, name) in known or time.monotonic() > ends_at:
                continue
            begin = time.monotonic()
            runs = [replay(table, search, seed, rules) for seed in range(args.seeds)]
            line = {
                "table": table.name, "device": table.device, "configurations": len(table.results),
                "valid": table.valid, "within_2pct": table.within(rules.share), "search": name, "budget": rules.budget,
                "judged_at": rules.judged_at, "seconds": round(time.monotonic() - begin, 1),
                "runs": [asdict(one) for one in runs],
            }  # fmt: skip
            with file.open("a") as stream:
                stream.write(json.dumps(line) + "\n")
            print(f"{table.name} {name}: {median_hit(runs)} of {table.valid}, {line['seconds']} s", flush=True)


def _loops(table: ResultTable, rules: Rules, only: str) -> dict[str, TableSearch]:
    """Return searches with facts, the tuning loop's among them, for tables that have any; `--only loop` names them."""
    if not any(one.facts for one in table.results) or (only and "loop" not in only.split(",")):
        return {}
    return loop_searches(table, rules.budget)


def lines(folders: Sequence[Path]) -> list[dict]:
    """Return all lines of the folders, the last of each pair."""
    found = {}
    for folder in folders:
        file = folder if folder.is_file() else folder / "runs.jsonl"
        for text in file.read_text().splitlines() if file.exists() else ():
            one = json.loads(text)
            found[one["table"], one["search"]] = one
    return list(found.values())


def printed(every: Sequence[dict]) -> Iterator[str]:
    """Yield the Markdown of all tables."""
    names = sorted({one["table"] for one in every}, key=lambda name: (standing(name) == "developed on", name))
    yield from summary(every, names)
    for name in names:
        rows = [one for one in every if one["table"] == name]
        first = rows[0]
        yield f"\n### {name} ({standing(name)})\n"
        yield (
            f"{first['configurations']} configurations, {first['valid']} valid, {first['within_2pct']} within 2 % of "
            "the best.\n"
        )
        yield "| " + " | ".join(COLUMNS) + " |"
        yield "|---" * len(COLUMNS) + "|"
        yield from (row(one) for one in sorted(rows, key=lambda one: (median_hit(runs_of(one)), one["search"])))


def standing(name: str) -> str:
    """Return whether the searcher had seen a table."""
    words = set(name.split("/"))
    return "developed on" if words & DEVELOPED_ON else "seen once" if words & SEEN else "held out"


def summary(every: Sequence[dict], names: Sequence[str]) -> Iterator[str]:
    """Yield one row a table: the searcher, and the best of the others."""
    yield "| Table | valid | within 2 % | searcher, median | of the valid space | best other, median |"
    yield "|---|---|---|---|---|---|"
    for name in names:
        rows = {one["search"]: one for one in every if one["table"] == name}
        own = rows.pop("searcher", None)
        if own is None:
            continue
        hit, shown = median_hit(runs_of(own)), f"{name} | {own['valid']} | {own['within_2pct']}"
        others = [one for search, one in rows.items() if not search.startswith(OWN)]
        other = min(others, key=lambda one: median_hit(runs_of(one)), default=None)
        least = float("inf") if other is None else median_hit(runs_of(other))
        words = (
            "none within its budget" if other is None or least == float("inf") else f"{least:.0f}, {other['search']}"
        )
        share = (
            f"> {own['budget']} | > {own['budget']}"
            if hit == float("inf")
            else f"{hit:.0f} | {100 * hit / own['valid']:.2f} %"
        )
        yield f"| {shown} | {share} | {words} |"


def runs_of(one: dict) -> list[Run]:
    """Return the runs of a line."""
    return [Run(**run) for run in one["runs"]]


def row(one: dict) -> str:
    """Return the row of a search."""
    runs = runs_of(one)
    hits = sorted(float("inf") if run.hit is None else run.hit for run in runs)
    over = f"> {one['budget']}"
    words = [over if hit == float("inf") else f"{hit:.0f}" for hit in (*quartiles(hits), median_hit(runs))]
    share = over if median_hit(runs) == float("inf") else f"{100 * median_hit(runs) / one['valid']:.2f} %"
    selected = [run.selected for run in runs]
    return (
        f"| {one['search']} | {words[2]} | {words[0]} to {words[1]} | {share} | {hits.count(float('inf'))} of "
        f"{len(runs)} in {one['budget']} | {min(one['judged_at'], one['budget'])} | "
        f"{statistics.median(selected):.3f} ({max(selected):.3f}) | "
        f"{statistics.median(run.first_timed for run in runs):.3f} |"
    )


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the values a quarter from each end of a sorted list."""
    at = len(values) // 4
    return values[at], values[-1 - at]


def main() -> int:
    """Record or print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=Path, nargs="?")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--print", type=Path, nargs="+", dest="printed")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--table", default="")
    parser.add_argument("--most", type=int, default=400)
    parser.add_argument("--judged-at", type=int, default=100)
    parser.add_argument("--budget-s", type=float, default=3600.0)
    args = parser.parse_args()
    if args.printed:
        print("\n".join(printed(lines(args.printed))))
        return 0
    if args.tables is None or args.out is None:
        parser.error("give TABLES and --out, or --print")
    record(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())

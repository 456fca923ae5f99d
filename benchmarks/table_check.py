"""Rows of a public fused-MoE table checked and a ladder of 18 token counts tuned, on one GPU of the table's product.

python benchmarks/table_check.py --engine DIR --table FILE --hidden 4096 --top-k 8 --out FILE.jsonl [--budget-s 300]

DIR is an engine's checkout or unpacked wheel, FILE one of its tables. Each row is written as soon as it is known;
accepted rows are held against what they replace once more, in fresh processes.

Expected on an H100 or H200, and measured nowhere yet: records 2 to 10 s each, side by side on 16 cores, so 30 s for
20 rows and their defaults; a contest 2 to 4 s, most of it inputs and float64 results of a layer of half a gigabyte,
and 2 s for fresh processes, so 20 rows against the default alone in 150 s; 15 s a token count with 6 s of search, so
270 s for 18, where the aim is 300 s. Tables that are older than their compiler are expected to hold one or two rows in
twenty that are slower than the default; every accepted row lies within its interval again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kopt_kb.packs.tables.check import check_rows, rows_at
from kopt_kb.packs.tables.session import LayerAsked, TableSession, session
from kopt_kb.packs.tables.tune import TunedSize, TunePlan, tune_rows
from kopt_kb.wiki.registry import Registry

LADDER = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 1536, 2048, 3072, 4096)


class OverError(Exception):
    """No time is left."""


def main() -> None:
    args = _arguments()
    begin = time.monotonic()
    registry = Registry.open()
    asked = LayerAsked(args.table, args.engine, args.hidden, args.top_k, platform=args.platform, routing=args.routing)
    found = session(asked, registry)
    accepted: list[TunedSize] = []

    def write(kind: str) -> Callable[[Any], None]:
        def line(row: Any) -> None:
            said = {"kind": kind, "at_s": round(time.monotonic() - begin, 1), **row.to_json()}
            with args.out.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(said, default=float) + "\n")
            if isinstance(row, TunedSize) and row.settings is not None:
                accepted.append(row)
            if time.monotonic() - begin > args.budget_s:
                raise OverError

        return line

    def tell(text: str) -> None:
        print(f"{time.monotonic() - begin:6.1f} s  {text}", file=sys.stderr, flush=True)

    try:
        with found.bouts(registry, tell) as bouts:
            check_rows(found, bouts, rows_at(found.table)[: args.rows], write("check"), neighbours=False)
            tune_rows(found, bouts, LADDER[: args.sizes], TunePlan(args.seconds), write("tune"))
    except OverError:
        tell("the budget is spent")
    _again(found, registry, accepted, args.out, tell)


def _again(
    found: TableSession, registry: Registry, accepted: list[TunedSize], out: Path, tell: Callable[[str], None]
) -> None:
    """Hold accepted rows against what they replace in fresh processes, and say whether the interval holds it."""
    if not accepted:
        return
    with found.bouts(registry, tell) as bouts:
        for one in accepted:
            seen = bouts.bout(one.tokens, one.now, one.settings or {})
            least, most = one.bout.least_pct, one.bout.most_pct
            known = None not in (least, most, seen.change_pct)
            is_within = known and least <= seen.change_pct <= most  # type: ignore[operator]
            said = {"kind": "again", "tokens": one.tokens, "within": is_within, "first": one.bout.to_json()}
            with out.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({**said, "again": seen.to_json()}, default=float) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--table", required=True)
    parser.add_argument("--hidden", type=int, required=True)
    parser.add_argument("--top-k", type=int, required=True)
    parser.add_argument("--platform", default="")
    parser.add_argument("--routing", default="balanced")
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--sizes", type=int, default=len(LADDER))
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--budget-s", type=float, default=600.0)
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()

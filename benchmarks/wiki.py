"""Time the wiki commands as a user meets them: fresh processes, cold and warm caches.

    python benchmarks/wiki.py [--repeat N]

Prints the median of each in seconds beside its budget. "Cold" starts with an empty cache folder (compiled pages and the
search index are built); "warm" finds both.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

WORDS = {
    "python -c pass": ([sys.executable, "-c", "pass"], {}),
    "wiki check": (["wiki", "check"], {"cold": 1.0}),
    "lookup H20": (["lookup", "H20"], {"cold": 0.15, "warm": 0.08}),
    "lookup H20 memory_bandwidth": (["lookup", "H20", "memory_bandwidth"], {"cold": 0.15, "warm": 0.08}),
    "search": (["search", "bank conflict", "--arch", "gfx942", "--backend", "flydsl"], {"cold": 0.2, "warm": 0.2}),
    "route knowledge": (["route", "knowledge", "--op", "gemm", "--arch", "gfx942", "--backend", "flydsl"], {}),
    "compare": (["compare", "H100_SXM", "H200_SXM"], {}),
    "wiki conflicts": (["wiki", "conflicts"], {}),
}


def run(words: list[str], cache: str) -> float:
    """Return the wall time of one fresh process."""
    command = words if words[0] == sys.executable else [sys.executable, "-m", "kopt_kb", *words]
    begin = time.perf_counter()
    subprocess.run(command, env={**os.environ, "KOPT_CACHE": cache}, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def measure(words: list[str], repeat: int) -> Iterator[tuple[str, float]]:
    """Yield the median with an empty cache, then with a full one."""
    cold = []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(run(words, cache))
    yield "cold", statistics.median(cold)
    with tempfile.TemporaryDirectory() as cache:
        run(words, cache)
        yield "warm", statistics.median(run(words, cache) for _ in range(repeat))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="processes a row (default 5)")
    repeat = parser.parse_args().repeat
    print(f"{'command':<30} {'cache':<5} {'median s':>9}  budget s")
    for name, (words, budget) in WORDS.items():
        for state, seconds in measure(words, repeat):
            allowed = budget.get(state)
            said = "" if allowed is None else f"{allowed:.2f}{'' if seconds <= allowed else '  OVER'}"
            print(f"{name:<30} {state:<5} {seconds:>9.3f}  {said}")


if __name__ == "__main__":
    main()

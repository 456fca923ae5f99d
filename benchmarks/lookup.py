"""Time `kb lookup H20` as fresh processes, with and without the page cache, and its peak memory; print the wheel sizes.

Usage: python benchmarks/lookup.py [--runs 21] [--wheels]
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def run_once(command: list[str], env: dict[str, str]) -> float:
    """Return wall seconds of one process."""
    began = time.perf_counter()
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def report(name: str, times: list[float]) -> None:
    """Print median, least and most in milliseconds."""
    low, middle, high = (1e3 * pick(times) for pick in (min, statistics.median, max))
    print(f"{name:<28} median {middle:6.1f} ms   min {low:6.1f} ms   max {high:6.1f} ms")


def wheels(root: Path) -> None:
    """Download the core install's wheels and print their sizes."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", folder, str(root)]
        subprocess.run(command, check=True)
        sizes = {path.name: path.stat().st_size for path in Path(folder).iterdir()}
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"{size / 1e6:8.2f} MB  {name}")
    print(f"{sum(sizes.values()) / 1e6:8.2f} MB  in all")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--wheels", action="store_true")
    args = parser.parse_args()
    kb = shutil.which("kb", path=str(Path(sys.executable).parent)) or "kb"
    command = [kb, "lookup", "H20"]
    bare = [sys.executable, "-c", "pass"]
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "KOPT_CACHE": cache}
        subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
        rounds = [
            (run_once(bare, env), run_once(command, env), run_once(command, {**env, "KOPT_CACHE": os.devnull}))
            for _ in range(args.runs)
        ]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    for name, times in zip(
        ("python -c pass", "kb lookup H20, cached", "kb lookup H20, no cache"), zip(*rounds, strict=True), strict=True
    ):
        report(name, list(times))
    print(f"largest process: {peak:.1f} MiB resident")
    if args.wheels:
        wheels(Path(__file__).resolve().parent.parent)
    return 0


if __name__ == "__main__":
    sys.exit(main())

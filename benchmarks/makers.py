"""Prints how long launch records take: the first of a fresh maker, and each further one of a warm maker.

Usage: python benchmarks/makers.py [--configs N] [--makers N]
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import tempfile
import time
from pathlib import Path

from kopt_kb.launch.judge.makers import Made, Makers, make_record
from kopt_kb.launch.kernel.declared import packaged_file
from kopt_kb.launch.record.request import MakerRequest, OpRequest

SHAPES = {"rms_norm": (8192, 4096), "softmax": (8192, 4096), "gemm": (4096, 4096, 4096)}
SPACE = {
    "BLOCK_M": (64, 128),
    "BLOCK_N": (64, 128, 256),
    "BLOCK_K": (32, 64),
    "num_warps": (4, 8),
    "num_stages": (2, 3, 4),
}


def asked(op: str, **config: object) -> MakerRequest:
    what = OpRequest(str(packaged_file(op)), SHAPES[op], "bf16", config)
    return MakerRequest(what, "sm_90", "sm_90", {"multi_processor_count": 4}, "")


def spent(made: Made, begin: float) -> float:
    made.stored()
    return time.perf_counter() - begin


def one_by_one(folder: Path, runs: int) -> None:
    """Print each op's first record in a fresh process, and the following ones of a warm maker."""
    with Makers(1) as makers:
        makers.make(asked("rms_norm"), folder / "warm")
        for op in SHAPES:
            cold_s, warm_s = [], []
            for number in range(runs):
                begin = time.perf_counter()
                make_record(asked(op), folder / f"cold-{op}-{number}")
                cold_s.append(time.perf_counter() - begin)
                begin = time.perf_counter()
                warm_s.append(spent(makers.make(asked(op), folder / f"warm-{op}-{number}"), begin))
            cold, warm = statistics.median(cold_s), statistics.median(warm_s)
            print(
                f"{op}: a maker of its own {cold:.2f} s, a warm maker {warm:.2f} s, ratio {cold / warm:.1f}, n {runs}"
            )


def space(folder: Path, configs: int, count: int) -> None:
    """Print how many configurations of the matrix product warm makers record in a second."""
    values = itertools.islice(itertools.product(*SPACE.values()), configs)
    jobs = [
        (asked("gemm", **dict(zip(SPACE, one, strict=True))), folder / f"config-{number}")
        for number, one in enumerate(values)
    ]
    with Makers(count) as makers:
        makers.make_all([(asked("rms_norm"), folder / f"start-{number}") for number in range(count)])
        begin = time.perf_counter()
        made = makers.make_all(jobs)
        wall_s = time.perf_counter() - begin
    right = sum(one.record is not None for one in made)
    each = statistics.median(one.seconds for one in made)
    each_s = f"{wall_s * count / len(made):.2f} s each and maker, median inside {each:.2f} s"
    print(f"gemm: {len(made)} configurations by {count} makers in {wall_s:.1f} s, {each_s}, {right} recorded")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--configs", type=int, default=36)
    parser.add_argument("--makers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        one_by_one(Path(name), args.runs)
        space(Path(name), args.configs, args.makers)


if __name__ == "__main__":
    main()

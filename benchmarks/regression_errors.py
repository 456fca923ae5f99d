"""How often the test of `kb bench compare` errs, simulated over quads as a shared GPU gives them.

    python benchmarks/regression_errors.py [--runs 4000] [--recorded FILE...]

A quad's log ratio is the sum of three parts: noise of its own (Gaussian, or Student's t with 3 degrees of freedom), a
part that fades from quad to quad (an autoregression: a neighbour's load), and one that a pair of processes keeps
(addresses, contexts). The third is taken from contests of a kernel against itself in fresh processes, recorded on an
H100 (benchmarks/results/replay_clock_h100_sxm.json): their means scatter by more than their quads explain. With
--recorded the quads are those of a run of benchmarks/compare_gpu.py: whole blocks of a base against itself, drawn with
replacement and scaled so that their quads deviate by as much as the row says; a regression is added to them.

A run has several kernels. It fails falsely when any of them is called slower; a planted regression of 2 % in one of
them is found when that one is called slower. Beside the program's test stands a bound for independent quads with the
same number of quads and the same errors.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kopt_kb.launch.judge.regression import BLOCKS, FALSE_ALARM, MISSED_A_LOOK, REGRESSION, QuadBlock, RegressionTest
from kopt_kb.launch.judge.sequential import winsorised_bound

if TYPE_CHECKING:
    from collections.abc import Iterator

CALM, NOISY = (12, 6), (20, 8)
"""Quads of a block, against the base and of the base against itself: where they deviate by up to 1.5 %, and what fits
into 60 s a kernel where they deviate by more and one takes 0.09 s, as an RMS norm's does on an H100. The first block
always has as many as a calm one."""
RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True)
class Noise:
    """What quads look like, as deviations of log ratios.

    Attributes:
        quad: Of a quad within its block.
        kept: Of what a pair of processes keeps.
        fading: Share of a quad's variance that fades from quad to quad, by 0.8 a quad.
        heavy: Whether a quad's own noise is Student's t with 3 degrees of freedom.
        itself: What a kernel gains over itself in every block.
    """

    quad: float
    kept: float
    fading: float = 0.0
    heavy: bool = False
    itself: float = 0.0

    @property
    def deviation(self) -> float:
        """Of a quad within its block."""
        return self.quad

    def blocks(self, rng: np.random.Generator, count: int, quads: int) -> np.ndarray:
        """Return log ratios of a kernel against itself, (count, quads)."""
        own = rng.standard_t(3, (count, quads)) / math.sqrt(3) if self.heavy else rng.standard_normal((count, quads))
        part = rng.standard_normal(count)
        for at in range(quads if self.fading else 0):
            part = 0.8 * part + 0.6 * rng.standard_normal(count)
            own[:, at] = math.sqrt(1 - self.fading) * own[:, at] + math.sqrt(self.fading) * part
        return self.quad * own + (self.kept * rng.standard_normal(count))[:, None]


@dataclass(frozen=True)
class Recorded:
    """Blocks of a base against itself, as they were measured.

    Attributes:
        quads: A list of log ratios a block.
        scale: What they are multiplied by.
    """

    quads: tuple[tuple[float, ...], ...]
    scale: float
    itself: float = 0.0

    @property
    def deviation(self) -> float:
        """Of a quad within its block."""
        return self.scale * math.sqrt(statistics.fmean(statistics.variance(one) for one in self.quads))

    def blocks(self, rng: np.random.Generator, count: int, quads: int) -> np.ndarray:
        """Return blocks drawn with replacement, each from a place of its own, with a sign of its own."""
        drawn = np.empty((count, quads))
        for at in range(count):
            one = np.asarray(self.quads[int(rng.integers(len(self.quads)))])
            begin = int(rng.integers(len(one)))
            drawn[at] = np.take(one, range(begin, begin + quads), mode="wrap")
        return self.scale * drawn * np.where(rng.random(count) < 0.5, -1, 1)[:, None]


def outcome(noise: Noise | Recorded, rng: np.random.Generator, kernels: int, planted: float) -> tuple[str, int]:
    """Return what the test says of one kernel, and after how many blocks."""
    test = RegressionTest(kernels)
    counts = NOISY if noise.deviation > 0.015 else CALM
    heads = noise.blocks(rng, BLOCKS[-1], counts[0]) + planted
    selves = noise.blocks(rng, BLOCKS[-1], counts[1]) + noise.itself
    for number, (head, itself) in enumerate(zip(heads.tolist(), selves.tolist(), strict=True)):
        had = (head, itself) if number else (head[: CALM[0]], itself[: CALM[1]])
        test.add(QuadBlock(bool(number % 2), tuple(had[0]), tuple(had[1])))
        if test.outcome:
            break
    return test.outcome or "undecided", len(test.blocks)


def naive(noise: Noise | Recorded, rng: np.random.Generator, kernels: int) -> bool:
    """Return whether a bound for independent quads calls a kernel slower: one pair of processes, the same quads."""
    quads = (NOISY if noise.deviation > 0.015 else CALM)[0]
    values = noise.blocks(rng, 1, quads * BLOCKS[-1])[0].tolist()
    looks = (quads * one for one in BLOCKS)
    return any(winsorised_bound(values[:look], FALSE_ALARM / kernels / len(BLOCKS)).low > 0 for look in looks)


def row(name: str, noise: Noise | Recorded, kernels: int, runs: int) -> str:
    """Return the rates of a world as a line."""
    rng = np.random.default_rng(20261123)
    null = [outcome(noise, rng, kernels, 0.0) for _ in range(runs)]
    slow = [outcome(noise, rng, kernels, REGRESSION) for _ in range(runs)]
    alone = sum(naive(noise, rng, kernels) for _ in range(runs)) / runs
    alarm, passed = (sum(one == word for one, _ in null) / runs for word in ("regression", "no_regression"))
    found, missed = (sum(one == word for one, _ in slow) / runs for word in ("regression", "no_regression"))
    blocks = (statistics.fmean(count for _, count in each) for each in (null, slow))
    shares = [1 - (1 - alarm) ** kernels, passed, found, missed, 1 - (1 - alone) ** kernels]
    cells = [f"{100 * one:8.2f} %" for one in shares] + [f"{one:6.1f}" for one in blocks]
    return f"{name:34s}{kernels:4d} {' '.join(cells)}"


def recorded(files: list[Path]) -> Iterator[tuple[str, tuple[tuple[float, ...], ...]]]:
    """Yield (kernel, its blocks against itself) of what compare_gpu.py recorded."""
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            said = json.loads(line)
            for case in said.get("comparison", {}).get("cases", ()):
                side = "head" if said["part"] == "null" else "itself"
                blocks = tuple(tuple(one[side]) for one in case["kernel"]["blocks"])
                if len(blocks) > 1:
                    yield f"{Path(case['name']).stem} {case['shape']} {said['part']}", blocks


def kept() -> tuple[float, float]:
    """Return (deviation of a quad, of what a pair of processes keeps) of the recorded contests of an RMS norm."""
    said = json.loads((RESULTS / "replay_clock_h100_sxm.json").read_text(encoding="utf-8"))
    contests = said["A/A norm"]["result"]["contests"]
    quad = statistics.fmean(one["error_pct"] / 100 * math.sqrt(one["quads"]) for one in contests)
    spread = statistics.fmean((one["mean_pct"] / 100) ** 2 for one in contests)
    explained = statistics.fmean((one["error_pct"] / 100) ** 2 for one in contests)
    return quad, math.sqrt(max(0.0, spread - explained))


def worlds(quad: float, part: float) -> dict[str, tuple[Noise, int]]:
    """Return world by name with the kernels of a run."""
    return {
        "as recorded": (Noise(quad, part), 4),
        "as recorded, 20 kernels": (Noise(quad, part), 20),
        "1 % a quad": (Noise(0.01, part), 4),
        "3 % a quad": (Noise(0.03, part), 4),
        "3 % a quad, 20 kernels": (Noise(0.03, part), 20),
        "3 % a quad, heavy tails": (Noise(0.03, part, heavy=True), 4),
        "3 % a quad, a fifth of it fading": (Noise(0.03, part, fading=0.2), 4),
        "1 % a quad, half of it fading": (Noise(0.01, part, fading=0.5), 4),
        "1 % kept by a pair of processes": (Noise(0.01, 0.01), 4),
        "1 % over itself": (Noise(quad, part, itself=0.01), 4),
    }


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--recorded", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    began = time.perf_counter()
    quad, part = kept()
    print(f"recorded: {100 * quad:.2f} % a quad, {100 * part:.2f} % kept by a pair of processes")
    print(f"test: looks at {BLOCKS} blocks of {CALM} or {NOISY} quads, {FALSE_ALARM} a run, {MISSED_A_LOOK} a look")
    head = ("fails, no change", "passes", "2 % found", "2 % passed", "quads alone fail")
    print(f"{'world':34s}   k " + " ".join(f"{one:>10s}" for one in head) + "  blocks, slower")
    for name, (noise, kernels) in worlds(quad, part).items():
        print(row(name, noise, kernels, args.runs), flush=True)
    for name, blocks in recorded(args.recorded):
        deviation = Recorded(blocks, 1.0).deviation
        for wanted in (deviation, 0.03):
            world = Recorded(blocks, wanted / deviation)
            print(row(f"{name}, {100 * wanted:.2f} %", world, 4, args.runs), flush=True)
    print(f"{args.runs} runs each, {time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()

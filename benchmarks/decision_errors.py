"""How often the decision test accepts an equal kernel and misses a faster one, simulated launch by launch.

    python benchmarks/decision_errors.py [--contests 20000]

Each contest draws times of single launches: a clock that drifts and steps, noise with heavy tails, outliers of whole
letters, a bias of a tenth of a percent of one side's allocation where named. The test is the one the program uses.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace

import numpy as np

from kopt_kb.launch.judge.sequential import LOOKS, SequentialTest

MOST = LOOKS[-1]


@dataclass(frozen=True)
class World:
    """What times look like; all numbers are natural logs, noise and outliers a launch.

    Attributes:
        noise: Standard deviation of a launch.
        heavy: Whether the noise is Student's t with 3 degrees of freedom, scaled to that deviation.
        drift: Standard deviation of a letter's step of a random walk, for both sides alike.
        steps: Clock steps in a contest, on average, each of up to 12 %.
        outliers: Share of letters that are 5 to 50 % too slow.
        launches: Launches of a letter.
    """

    noise: float = 0.01
    heavy: bool = False
    drift: float = 0.0
    steps: float = 0.0
    outliers: float = 0.0
    launches: int = 2


WORLDS = {
    "calm": World(),
    "drift": World(drift=0.004),
    "clock steps": World(steps=6),
    "heavy tails": World(heavy=True),
    "outliers": World(outliers=0.02),
    "all of it": World(heavy=True, drift=0.003, steps=4, outliers=0.01),
}


def quads(world: World, ratio: float, contests: int, seed: int) -> np.ndarray:
    """Return values of quads, (contests, 192); `ratio` is the true log ratio of candidate and incumbent."""
    rng = np.random.default_rng(seed)
    shape = (contests, MOST, 4)
    noise = rng.standard_t(3, shape) / np.sqrt(3) if world.heavy else rng.standard_normal(shape)
    letters = noise * (world.noise / np.sqrt(world.launches))
    flat = letters.reshape(contests, -1)
    if world.drift:
        flat += np.cumsum(rng.standard_normal(flat.shape) * world.drift, axis=1)
    if world.steps:
        stepped = rng.random(flat.shape) < world.steps / flat.shape[1]
        flat += np.cumsum(np.where(stepped, rng.uniform(-0.12, 0.12, flat.shape), 0.0), axis=1)
    letters += (rng.random(shape) < world.outliers) * rng.uniform(0.05, 0.5, shape)
    outer = (letters[..., 0] + letters[..., 3]) / 2
    inner = (letters[..., 1] + letters[..., 2]) / 2
    baab = rng.random(shape[:2]) < 0.5
    return np.where(baab, outer - inner, inner - outer) + ratio


def outcome(values: np.ndarray, delta: float) -> tuple[str, int]:
    """Return how one contest ends, and after how many quads."""
    test = SequentialTest(("s",), delta)
    for value in values.tolist():
        test.add("s", value)
        if test.outcome:
            break
    return test.outcome or "undecided", test.rounds


def rates(world: World, ratio: float, delta: float, contests: int, seed: int = 1) -> tuple[float, float, float]:
    """Return shares of accepted and of not-faster contests, and the mean number of quads."""
    ends = [outcome(one, delta) for part in range(0, contests, 2000)
            for one in quads(world, ratio, min(2000, contests - part), seed + part)]  # fmt: skip
    accepted = sum(end == "accepted" for end, _ in ends) / len(ends)
    refused = sum(end == "not_faster" for end, _ in ends) / len(ends)
    return accepted, refused, sum(count for _, count in ends) / len(ends)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contests", type=int, default=20000)
    contests = parser.parse_args().contests
    began = time.perf_counter()
    print(f"{'world':14s} {'true gain':>10s} {'delta':>6s} {'accepted':>9s} {'not faster':>11s} {'quads':>6s}")
    cases = ((0.0, 0.0), (-0.005, 0.005), (0.0, 0.005), (-0.01, 0.005), (np.log(0.98), 0.005))
    for name, world in {**WORLDS, "noise 3 %": replace(World(), noise=0.03)}.items():
        for ratio, delta in cases:
            accepted, refused, count = rates(world, ratio, delta, contests)
            gain = f"{100 * (1 - np.exp(ratio)):.2f} %"
            print(f"{name:14s} {gain:>10s} {delta:6.3f} {100 * accepted:7.2f} % {100 * refused:9.2f} % {count:6.0f}")
    print(f"{contests} contests each, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()

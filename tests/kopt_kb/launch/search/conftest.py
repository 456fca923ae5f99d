"""A table whose times a formula gives, with two valleys, failures and noise."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from result_table import ResultTable, TableResult


def seconds(block: int, tile: int, unroll: int) -> float:
    """Return a time in seconds with its least, 1 ms, at (64, 4, 2), and a second valley."""
    bumps = abs(math.log2(block / 64)) + 0.6 * abs(tile - 4) + 0.3 * abs(unroll - 2) + (0.4 if block == 128 else 0.0)
    return 1e-3 * (1 + bumps if tile != 7 else 1.1 + 0.2 * bumps)


@pytest.fixture(scope="session")
def table() -> ResultTable:
    """Return 5 x 8 x 4 configurations, of which those of 512 and 8 fail."""
    noise = random.Random(1)
    results = []
    for block, tile, unroll in itertools.product([32, 64, 128, 256, 512], range(1, 9), [1, 2, 4, 8]):
        config = {"block": block, "tile": tile, "unroll": unroll}
        if block == 512 and tile == 8:
            results.append(TableResult(config, (), "compile"))
            continue
        times = [seconds(block, tile, unroll) * (1 + 0.004 * noise.random()) for _ in range(9)]
        results.append(TableResult(config, tuple(times), facts={"registers": 8.0 * tile}))
    return ResultTable("hill/synthetic", "a formula", tuple(results), ("block * tile < 4097",), {"formula": "1"})

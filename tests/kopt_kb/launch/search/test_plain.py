"""Claims about the search of the core installation: each configuration once, all of them, and the best is found."""

from __future__ import annotations

import math

import pytest

from kopt_kb.launch.search.plain import plain_search

KNOBS = {"BLOCK": [16, 32, 64, 128, 256], "num_warps": [1, 2, 4, 8], "stages": [1, 2, 3, 4]}


def _time_s(config: dict[str, object]) -> float:
    block, warps, stages = (KNOBS[name].index(config[name]) for name in KNOBS)  # type: ignore[arg-type]
    return math.inf if stages == 3 else 1.0 + (block - 3) ** 2 + (warps - 1) ** 2 + (stages - 2) ** 2


@pytest.mark.core
def test_every_configuration_once_and_no_more() -> None:
    """80 of 80, the given one first, one that is none left out."""
    first = [{"BLOCK": 64, "num_warps": 4, "stages": 2}, {"BLOCK": 65, "num_warps": 4, "stages": 2}]
    found = []
    for config, tell in plain_search(KNOBS, 1000, 7, first):
        found.append(tuple(config.values()))
        tell(_time_s(config))
    assert found[0] == (64, 4, 2)
    assert len(found) == len(set(found)) == 80


@pytest.mark.core
@pytest.mark.parametrize("seed", range(5))
def test_neighbours_lead_to_the_best(seed: int) -> None:
    """A smooth space of 80 with failures: the best within 40, whatever the seed; the same seed asks the same."""
    runs = []
    for _ in range(2):
        asked = []
        for config, tell in plain_search(KNOBS, 40, seed):
            asked.append(_time_s(config))
            tell(asked[-1])
        runs.append(asked)
    assert runs[0] == runs[1] and len(runs[0]) == 40
    assert min(runs[0]) == 1.0


@pytest.mark.core
def test_nothing_is_told_and_it_goes_on() -> None:
    """Times that nobody tells, as of configurations that wait, end no search."""
    assert len(list(plain_search(KNOBS, 20, 0))) == 20

"""Rows that are found on a simulated device with one best setting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.wire import canonical
from kopt_kb.packs.tables.timed_page import tune_text
from kopt_kb.packs.tables.tune import TableTune, TunePlan, tune_rows
from kopt_kb.wiki.registry import Registry
from tests.packs.tables.simulated import ROW, Device, optimum
from tests.packs.tables.test_session import settled

BEST = {**ROW, "BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 128, "num_warps": 8, "num_stages": 4}


def tuned(folder: Path, wiki: Registry, rows: Any, tokens: list[int], more: str = "", **plan: Any) -> TableTune:
    """A tuned table."""
    found = settled(folder, wiki, more, rows)
    with found.bouts(wiki, lambda _: None) as bouts:
        return tune_rows(found, bouts, tokens, TunePlan(**{"stop_share": 1.0, "seconds": 60.0, **plan}))


def test_the_best_is_walked_to_and_kept(tmp_path: Path, registry: Registry, simulated: Device) -> None:
    """One setting at a time; a number of tokens begins at the row found before it; rows keep their order."""
    found = tuned(tmp_path, registry, {"1": ROW, "64": ROW}, [1, 16])
    assert [one.settings for one in found.sizes] == [BEST, BEST]
    assert [one.source for one in found.sizes] == ["1", "1"]
    assert [one.bout.verdict for one in found.sizes] == ["faster", "faster"] and found.accepted == 2
    assert [one.key for one in found.table.rows] == ["1", "16", "64"] and found.table.rows[2].settings == ROW
    assert found.sizes[1].tried < found.sizes[0].tried and found.sizes[0].ended == "no better neighbour"
    share = found.sizes[0].share
    assert share is not None and 0 < share < 1
    assert b'"accepted":2' in canonical(found.to_json()).replace(b" ", b"")


def test_nothing_is_written_that_is_not_faster(tmp_path: Path, registry: Registry, simulated: Device) -> None:
    """The row is the best already, or what seemed faster is not in fresh processes."""
    found = tuned(tmp_path, registry, {"1": BEST}, [1])
    assert (found.sizes[0].settings, found.sizes[0].bout.verdict, found.accepted) == (None, "equal", 0)
    simulated.placement = 2.0
    found = tuned(tmp_path, registry, {"1": ROW}, [1])
    assert (found.sizes[0].settings, found.sizes[0].bout.verdict) == (None, "undecided")
    assert found.table.rows[0].settings == ROW


@pytest.mark.parametrize(
    ("plan", "ended"), [({"stop_share": 1e-9}, "roof"), ({"seconds": 0.0}, "time")], ids=["at the roof", "no time"]
)
def test_a_search_ends(
    tmp_path: Path, registry: Registry, simulated: Device, plan: dict[str, float], ended: str
) -> None:
    """Before any neighbour is tried; what is known was timed."""
    found = tuned(tmp_path, registry, {"1": ROW}, [1], **plan)
    assert (found.sizes[0].ended, found.sizes[0].tried) == (ended, 1)


@pytest.mark.parametrize("cost", [-1.0, 0.0], ids=["it can't be recorded", "it is wrong"])
def test_a_row_that_does_not_work_is_mended(tmp_path: Path, registry: Registry, simulated: Device, cost: float) -> None:
    """By what is right; nothing can be faster than it."""
    broken = {**ROW, "num_stages": 5}

    def judged(settings: Any, tokens: int) -> float:
        return cost if settings["num_stages"] == 5 else optimum(settings, tokens)

    simulated.cost = judged
    found = tuned(tmp_path, registry, {"1": broken}, [1])
    assert found.sizes[0].settings == BEST and found.sizes[0].bout.verdict == "undecided"


def test_nothing_works(tmp_path: Path, registry: Registry, simulated: Device) -> None:
    """The row stays."""
    simulated.cost = lambda *_: -1.0
    found = tuned(tmp_path, registry, {"1": ROW}, [1])
    assert (found.sizes[0].settings, found.sizes[0].tried, found.sizes[0].share) == (None, 0, None)
    assert found.sizes[0].bout.verdict == "fault" and "none could be recorded" in tune_text(found)


def test_what_does_not_fit_is_not_compiled(tmp_path: Path, registry: Registry, simulated: Device) -> None:
    """More shared memory than a block of the product has; a tile deeper than the block of a scale."""
    large = {**ROW, "BLOCK_SIZE_M": 256, "BLOCK_SIZE_N": 256, "BLOCK_SIZE_K": 128, "num_stages": 4}
    simulated.cost = lambda settings, _: 1.0 / (settings["BLOCK_SIZE_M"] * settings["BLOCK_SIZE_N"])
    found = tuned(tmp_path, registry, {"1": large}, [1])
    assert found.sizes[0].refused > 0
    recorded = [one for _, one in simulated.settings]
    assert all((one["num_stages"] - 1) * one["BLOCK_SIZE_K"] * (one["BLOCK_SIZE_M"] + one["BLOCK_SIZE_N"]) * 2 <= 232_448
               for one in recorded if one != large)  # fmt: skip
    simulated.settings.clear()
    tuned(tmp_path, registry, {"1": ROW}, [1], ",dtype=fp8_w8a8,block_shape=[128,128]")
    assert simulated.settings and max(one["BLOCK_SIZE_K"] for _, one in simulated.settings) <= 128

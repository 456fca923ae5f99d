"""Cached reads and empty launches: the names and sizes anywhere, the measurements on a GPU."""

from __future__ import annotations

import pytest

from kopt_kb.base.wire import read
from kopt_kb.launch.kernel.idle import (
    CACHED_FOOTPRINTS,
    LAUNCHES,
    CacheRecord,
    IdleRecord,
    cache_records,
    launch_records,
)
from kopt_kb.wiki.vocabulary import AXES

needs_gpu = pytest.mark.skipif(
    not pytest.importorskip("torch", reason="torch is not installed").cuda.is_available(),
    reason="no GPU is visible to torch",
)


def test_every_way_to_launch_has_a_condition_in_the_wiki() -> None:
    """The rows of a page are keyed by it."""
    assert tuple(LAUNCHES) == AXES["by"]


def test_footprints_begin_inside_of_a_cache_and_end_outside() -> None:
    """8 MiB is the least that whole blocks divide."""
    assert (min(CACHED_FOOTPRINTS), max(CACHED_FOOTPRINTS)) == (8 << 20, 128 << 20)


def test_records_are_read_back() -> None:
    """With what they are called in the progress of a run."""
    cached = CacheRecord(8 << 20, 2 << 30, {"BLOCK": 2048}, 4e-4, 0.1, 20, 5e12)
    launch = IdleRecord("graph", 1.5e-6, 0.1, 200)
    assert (read(CacheRecord, cached.to_json()), cached.label) == (cached, "read again 8388608 B")
    assert (read(IdleRecord, launch.to_json()), launch.label) == (launch, "launch by graph")


@pytest.mark.gpu
@needs_gpu
def test_a_cached_read_is_measured() -> None:
    """A result, checked."""
    (record,) = cache_records([8 << 20], rounds=3)
    assert record.rate_per_s > 1e11


@pytest.mark.gpu
@needs_gpu
def test_launches_are_measured() -> None:
    """A kernel of a graph takes less than one that the host waits for."""
    found = {one.by: one.median_s for one in launch_records(rounds=20)}
    assert found["graph"] < found["events"] < 1e-3
    assert found["graph"] < found["host"]

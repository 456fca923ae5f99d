"""What surrounds a kernel's work on the GPU in this machine: reads that a cache serves, and launches of nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from kopt_kb.base.errors import FindingError
from kopt_kb.base.wire import Text, Wire
from kopt_kb.launch.kernel.timing import Samples, measure, summarise

__all__ = ["CACHED_FOOTPRINTS", "LAUNCHES", "CacheRecord", "IdleRecord", "cache_records", "launch_records"]

CACHED_FOOTPRINTS = tuple(1 << power for power in range(23, 28))
"""Bytes read over and over: 8 to 128 MiB, from well inside the L2 of a large part to outside of it."""

_READ_BYTES = 2 << 30
"""Read by one run, so that its launch and its first pass, which comes from memory, are a small part of it."""

LAUNCHES = {
    "events": "events around one launch of a kernel that does nothing: the least that a timing by events gives",
    "graph": "a kernel that does nothing, of many in a graph, one after the other",
    "host": "from the call that launches a kernel that does nothing until the host knows that it is over",
}
_IN_GRAPH = 200


@dataclass(frozen=True, slots=True)
class CacheRecord(Wire):
    """The fastest way to read one footprint over and over in one launch.

    Attributes:
        bytes: The footprint.
        read_bytes: Read by one run: many passes over the footprint.
        config: Launch configuration.
        spread_pct: As `Samples.spread_pct`.
        rate_per_s: Bytes read over the median.
    """

    bytes: int
    read_bytes: int
    config: Mapping[str, int]
    median_s: float
    spread_pct: float
    count: int
    rate_per_s: float

    @property
    def label(self) -> str:
        """Footprint in a few words."""
        return f"read again {self.bytes} B"


@dataclass(frozen=True, slots=True)
class IdleRecord(Wire):
    """How long a kernel that does nothing takes.

    Attributes:
        by: Key of `LAUNCHES`.
        spread_pct: As `Samples.spread_pct`.
    """

    by: Text
    median_s: float
    spread_pct: float
    count: int

    @property
    def label(self) -> str:
        """The way in a few words."""
        return f"launch by {self.by}"


def cache_records(footprints: Iterable[int] = CACHED_FOOTPRINTS, *, rounds: int = 20) -> Iterator[CacheRecord]:
    """Yield the fastest configuration of each footprint, its result checked."""
    import torch

    from kopt_kb.kernels import streams

    sms = torch.cuda.get_device_properties(0).multi_processor_count
    for footprint in footprints:
        best: CacheRecord | None = None
        for config in streams.REPEATED_CONFIGS:
            run, moved, is_right = streams.repeated(footprint, _READ_BYTES, config, sms)  # type: ignore[no-untyped-call]
            (times,) = measure([run], rounds=rounds, warmup=3)
            if not is_right():
                what = f"reading {footprint} bytes over and over gave a wrong result"
                raise FindingError(what, fix="nothing was recorded of it", code="KB089")
            timed = summarise(times)
            rate = moved / timed.median_s
            if best is None or rate > best.rate_per_s:
                best = CacheRecord(
                    footprint, moved, config, timed.median_s, timed.spread_pct, timed.count, rate
                )  # fmt: skip
        if best is not None:
            yield best


def launch_records(*, rounds: int = 200) -> Iterator[IdleRecord]:
    """Yield how long a kernel that does nothing takes, in each way of `LAUNCHES`."""
    from kopt_kb.kernels import streams

    (by_events,) = measure([streams.empty], rounds=rounds)
    yield _launch("events", summarise(by_events))
    graph = _graph(streams.empty)
    (by_graph,) = measure([graph], rounds=rounds)
    yield _launch("graph", summarise([one / _IN_GRAPH for one in by_graph]))
    yield _launch("host", summarise([_seen_by_host(streams.empty) for _ in range(rounds)]))


def _launch(by: str, timed: Samples) -> IdleRecord:
    return IdleRecord(by, timed.median_s, timed.spread_pct, timed.count)


def _graph(launch: Callable[[], object]) -> Callable[[], object]:
    import torch

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(_IN_GRAPH):
            launch()
    replay: Callable[[], object] = graph.replay
    return replay


def _seen_by_host(launch: Callable[[], object]) -> float:
    import torch

    torch.cuda.synchronize()
    start = time.perf_counter()
    launch()
    torch.cuda.synchronize()
    return time.perf_counter() - start

"""Stand-ins of torch.cuda's classes have the attributes of torch's own."""

from __future__ import annotations

import math

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from kopt_kb.launch.compile.cuda_objects import CLASSES, CudaEvent, CUDAGraph, MemPool, Stream  # noqa: E402

NAMED = [name for name in CLASSES if hasattr(torch.cuda, name)]


@pytest.mark.parametrize("name", NAMED)
def test_a_class_has_what_torchs_own_has(name) -> None:
    """Whatever stands in the class itself, under the same name, public or used by libraries."""
    reads = {"get_graph_data"}  # of a graph that was made
    own = {one for one in vars(getattr(torch.cuda, name)) if not one.startswith("_") or one == "_as_parameter_"}
    assert not {one for one in own if not hasattr(CLASSES[name], one)} - reads


def test_a_stream_is_one_of_torchs() -> None:
    """Of any class that a program makes of it; waiting is done at once."""

    class Mine(Stream):
        """A program's own."""

    stream = Mine(device="cuda", priority=-1)
    assert isinstance(stream, torch.Stream)
    assert (stream.device, stream.cuda_stream, stream._as_parameter_) == (torch.device("cuda", 0), 0, 0)
    assert (stream.query(), stream.is_capturing(), stream.__cuda_stream__()) == (True, False, (0, 0))
    assert Stream.priority_range()[0] == 0
    event = CudaEvent(enable_timing=True)
    with stream:
        stream.wait_stream(stream)
        stream.wait_event(event)
        stream.synchronize()
    assert stream.record_event(event) is event
    assert isinstance(stream.record_event(), CudaEvent)


def test_events_time_nothing() -> None:
    """And there is nothing to wait for."""
    event = CudaEvent.from_ipc_handle(0, b"")
    event.record()
    assert event.query()
    assert (event._as_parameter_, len(event.ipc_handle())) == (0, 64)
    assert math.isnan(event.elapsed_time(CudaEvent()))


def test_graphs_and_pools_hold_nothing() -> None:
    """They answer as torch's do."""
    graph, pool = CUDAGraph(), MemPool()
    graph.capture_begin(pool=graph.pool())
    graph.capture_end()
    graph.replay()
    assert graph.raw_cuda_graph() == 0
    assert (pool.id, pool.use_count(), pool.snapshot()) == ((0, 0), 1, [])


@pytest.mark.parametrize("name", ["device", "device_of", "StreamContext", "graph"])
def test_context_managers_choose_what_there_is(name) -> None:
    """One device, one stream."""
    made = CLASSES[name](0)
    with made:
        assert made.idx == 0

"""torch.cuda's classes without a device: streams, events, graphs and the context managers around them.

They are classes with the attributes of torch's own, since programs subclass them, ask `isinstance` and name them in
annotations (`torch.cuda.Stream | None`). Nothing runs: waiting is done at once, and the time between events is NaN.
"""

from __future__ import annotations

import math
from typing import Any

import torch

__all__ = ["CLASSES", "CUDAGraph", "CudaEvent", "MemPool", "Stream"]

_CUDA = 1
"""Number of CUDA among the device types of c10."""


class Stream(torch.Stream):  # type: ignore[misc] # torch is untyped
    """The only stream of the only device."""

    cuda_stream = 0
    priority = 0

    def __new__(cls, *_: object, **__: object) -> Stream:
        """Make a stream as unpacking one does, which asks no driver."""
        made: Stream = super().__new__(cls, stream_id=0, device_index=0, device_type=_CUDA)
        return made

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """Return the priorities of CUDA, least and greatest."""
        return 0, -5

    def synchronize(self) -> None:
        """Do nothing: there is no device."""

    def query(self) -> bool:
        """Return True: there is nothing to wait for."""
        return True

    def is_capturing(self) -> bool:
        """Return False: what is captured is recorded as what it is."""
        return False

    def wait_event(self, _event: object) -> None:
        """Do nothing: there is nothing to wait for."""

    wait_stream = wait_event

    def record_event(self, event: CudaEvent | None = None) -> CudaEvent:
        """Return the event, or a new one."""
        return event if event is not None else CudaEvent()

    @property
    def _as_parameter_(self) -> int:
        return 0

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return version and handle, as libraries beside torch ask for them."""
        return 0, 0

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: there is one stream."""


class ExternalStream(Stream):
    """A stream of another library."""


class CudaEvent:
    """An event that nothing records."""

    device = torch.device("cuda", 0)
    cuda_event = event_id = 0

    def __init__(self, *_: object, **__: object) -> None:
        """Take what torch's event takes."""

    @classmethod
    def from_ipc_handle(cls, *_: object) -> CudaEvent:
        """Return an event."""
        return cls()

    def ipc_handle(self) -> bytes:
        """Return a handle of CUDA's length."""
        return bytes(64)

    def record(self, *_: object, **__: object) -> None:
        """Do nothing: nothing runs."""

    synchronize = wait = record

    def query(self) -> bool:
        """Return True: there is nothing to wait for."""
        return True

    def elapsed_time(self, _other: object) -> float:
        """Return NaN: nothing was timed."""
        return math.nan

    @property
    def _as_parameter_(self) -> int:
        return 0


class CUDAGraph:
    """A graph; what is captured is recorded once, a replay adds nothing."""

    def __init__(self, *_: object, **__: object) -> None:
        """Take what torch's graph takes."""

    def replay(self, *_: object, **__: object) -> None:
        """Do nothing: there is no device."""

    capture_begin = capture_end = instantiate = reset = enable_debug_mode = debug_dump = replay
    register_generator_state = replay

    def pool(self) -> tuple[int, int]:
        """Return the id of its memory pool."""
        return 0, 0

    def raw_cuda_graph(self) -> int:
        """Return no handle."""
        return 0

    raw_cuda_graph_exec = raw_cuda_graph


class MemPool:
    """A pool of memory, of which nothing is taken."""

    id = (0, 0)
    allocator = None

    def __init__(self, *_: object, **__: object) -> None:
        """Take what torch's pool takes."""

    def use_count(self) -> int:
        """Return how many tensors are in it, as far as anybody knows."""
        return 1

    def snapshot(self, *_: object) -> list[Any]:
        """Return its segments: none."""
        return []


class _Inside:
    """A context manager of torch.cuda that chooses a device or a stream: there is one of each."""

    def __init__(self, *_: object, **__: object) -> None:
        self.idx = 0
        self.prev_idx = -1
        self.stream = None

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, *_: object) -> None:
        """Do nothing."""


class device(_Inside):  # noqa: N801 - torch's name
    """`with torch.cuda.device(0)`."""


class device_of(_Inside):  # noqa: N801
    """`with torch.cuda.device_of(tensor)`."""


class StreamContext(_Inside):
    """`with torch.cuda.stream(stream)`."""

    def __init__(self, stream: Any = None) -> None:
        super().__init__()
        self.stream = stream


class graph(_Inside):  # noqa: N801
    """`with torch.cuda.graph(graph)`: what is captured is recorded as what it is."""

    default_capture_stream = None

    def __init__(self, cuda_graph: Any, *_: object, **__: object) -> None:
        super().__init__()
        self.cuda_graph = cuda_graph


CLASSES: dict[str, type] = {
    "CUDAGraph": CUDAGraph,
    "Event": CudaEvent,
    "ExternalStream": ExternalStream,
    "MemPool": MemPool,
    "Stream": Stream,
    "StreamContext": StreamContext,
    "device": device,
    "device_of": device_of,
    "graph": graph,
}
"""Name in torch.cuda → class."""

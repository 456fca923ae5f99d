"""torch's questions about the GPU, answered from facts while it is not there."""

from __future__ import annotations

import multiprocessing
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from multiprocessing.context import BaseContext
from typing import Any
from unittest import mock

import torch
import torch._subclasses.fake_tensor
from torch._library.custom_ops import CustomOpDef

from kopt_kb.launch.compile.cuda_objects import CLASSES, CudaEvent, CUDAGraph, MemPool, Stream, StreamContext
from kopt_kb.launch.compile.device import DeviceFacts, vendor_tools

__all__ = ["own_kernel", "stand_ins"]

_NO_VERSION = "0.0"
"""What `torch.version.hip` says for an AMD target: that there is one, and of none in particular."""

_PROPERTIES = frozenset(
    {
        "L2_cache_size", "clock_rate", "is_integrated", "is_multi_gpu_board", "max_threads_per_block",
        "max_threads_per_multi_processor", "memory_bus_width", "memory_clock_rate", "multi_processor_count",
        "regs_per_multiprocessor", "shared_memory_per_block", "shared_memory_per_block_optin",
        "shared_memory_per_multiprocessor", "total_memory", "uuid", "warp_size",
    }
)  # fmt: skip
"""What torch's device properties have, beside name and capability."""


class _Properties:
    """torch's device properties, as far as they are known."""

    def __init__(self, facts: DeviceFacts) -> None:
        self._facts = facts
        self.name = facts.name
        self.major, self.minor = facts.capability
        self.gcnArchName = facts.target

    def __getattr__(self, name: str) -> int:
        facts: DeviceFacts = self.__dict__["_facts"]
        if name not in _PROPERTIES:  # as torch answers, so that a launcher may look for names of other versions
            raise AttributeError(name)
        return facts.value(name)


def _plainly(operation: Any, *args: Any, **kwargs: Any) -> Any:
    """Call what a library registered for CUDA, else for every device."""
    registered: Mapping[str | None, Callable[..., Any]] = operation._backend_fns
    function = registered.get("cuda") or registered.get(None) or operation._init_fn
    return function(*args, **kwargs)


_KERNELS: dict[str, dict[str, Callable[..., Any]]] = {}
"""Operation → dispatch key → Python function, of operations that libraries registered for a device or for all."""

_KEYS = ("CUDA", "CompositeExplicitAutograd", "Default", "")


def own_kernel(name: str) -> Callable[..., Any] | None:
    """Return the Python function that somebody registered as an operation for CUDA, else for every device."""
    found = _KERNELS.get(name, {})
    return next((found[key] for key in _KEYS if key in found), None)


def _noting(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return `Library.impl` that also keeps the function: a dispatcher without CUDA would never call it."""

    def impl(library: Any, op_name: Any, fn: Any, dispatch_key: str = "", **more: Any) -> Any:
        name = str(getattr(getattr(op_name, "_schema", None), "name", op_name))
        name = name if "::" in name else f"{library.ns}::{name}"
        if callable(fn) and not more.get("with_keyset"):
            _KERNELS.setdefault(name, {})[dispatch_key or library.dispatch_key] = fn
        return plain(library, op_name, fn, dispatch_key, **more)

    return impl


_TWICE = ("multiple times", "single c", "already")
"""Words in what torch says to whoever registers a name twice, as a module does that is run again."""


def _again(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that registers, and leaves be what is registered already."""

    def register(*args: Any, **kwargs: Any) -> Any:
        try:
            return plain(*args, **kwargs)
        except RuntimeError as error:
            if not any(words in str(error) for words in _TWICE):
                raise
            return None

    return register


def _without_context(kind: Callable[[], object]) -> Callable[[object], object]:
    return lambda _: kind()


class _Philox:
    """A device's generator: its state is a seed and an offset, 8 bytes each, as CUDA's and HIP's are."""

    def __init__(self) -> None:
        self.device = torch.device("cuda", 0)
        self.manual_seed(0)

    def get_state(self) -> Any:
        """Return a copy, which launchers read as two integers, change and set again."""
        return self._state.clone()

    def set_state(self, state: Any) -> None:
        self._state = state.clone()

    def manual_seed(self, seed: int) -> _Philox:
        words = torch.tensor([seed, 0], dtype=torch.int64, device="cpu")
        self._state = words.view(torch.uint8)
        return self

    def initial_seed(self) -> int:
        return int(self._state.view(torch.int64)[0])

    seed = initial_seed


def _number(value: object) -> Callable[..., object]:
    """Return a function of its own each time: torch's compiler keeps rules by function, not by name."""
    return lambda *_, **__: value


def _nothing() -> Callable[..., object]:
    return _number(None)


def _answers(facts: DeviceFacts) -> dict[str, Callable[..., object]]:
    """Return torch.cuda's functions that ask something, by name."""
    properties, generator = _Properties(facts), _Philox()

    def memory(*_: object) -> tuple[int, int]:
        total = facts.value("total_memory")
        return total, total

    capability = facts.capability
    arch = facts.target if facts.is_amd else f"sm_{capability[0]}{capability[1]}"
    return {
        "is_available": _number(True),
        "is_initialized": _number(True),
        "device_count": _number(1),
        "current_device": _number(0),
        "get_device_name": _number(facts.name),
        "get_device_capability": _number(capability),
        "get_device_properties": _number(properties),
        "get_arch_list": lambda: [arch],
        "current_stream": lambda *_, **__: Stream(),
        "default_stream": lambda *_, **__: Stream(),
        "stream": lambda stream=None: StreamContext(stream),
        "get_stream_from_external": lambda *_, **__: Stream(),
        "mem_get_info": memory,
        "memory_stats": lambda *_, **__: {},
        "get_rng_state": lambda *_: generator.get_state(),
        "set_rng_state": lambda state, *_: generator.set_state(state),
        "initial_seed": generator.initial_seed,
        "can_device_access_peer": _number(False),
        "graph_pool_handle": _number((0, 0)),
        "use_mem_pool": lambda *_, **__: CLASSES["device"](),
        "is_bf16_supported": _number(capability >= (8, 0)),
        "is_tf32_supported": _number(capability >= (8, 0) and not facts.is_amd),
        "is_current_stream_capturing": _number(False),
        **{name: _number(0) for name in _COUNTED},
        **{name: _nothing() for name in _DONE},
    }


_COUNTED = (
    "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "utilization",
    "current_blas_handle", "device_memory_used", "get_sync_debug_mode",
)  # fmt: skip
"""Functions that count what a device without memory has none of."""

_DONE = (
    "synchronize", "empty_cache", "set_device", "set_stream", "manual_seed", "manual_seed_all", "seed", "seed_all",
    "reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
    "reset_accumulated_memory_stats", "ipc_collect", "init", "_lazy_init", "set_sync_debug_mode",
    "set_per_process_memory_fraction", "check_error",
)  # fmt: skip
"""Functions whose effect is on a device alone."""


def _accelerator() -> dict[str, Callable[..., object]]:
    """Return the same for torch.accelerator, as far as this torch has it."""
    device = torch.device("cuda")
    made = {
        "is_available": _number(True), "current_accelerator": _number(device), "device_count": _number(1),
        "current_device_index": _number(0), "current_device_idx": _number(0), "synchronize": _nothing(),
        "set_device_index": _nothing(), "set_device_idx": _nothing(), "set_stream": _nothing(),
        "empty_cache": _nothing(), "current_stream": lambda *_: Stream(), "memory_allocated": _number(0),
        "device_index": lambda *_: CLASSES["device"](), "max_memory_allocated": _number(0),
        "reset_peak_memory_stats": _nothing(),
    }  # fmt: skip
    return {name: one for name, one in made.items() if hasattr(torch.accelerator, name)}


def _bindings() -> dict[str, Callable[..., object]]:
    """Return functions of torch._C that a build without CUDA lacks, and that libraries bind when they are imported."""
    made = {
        "_cuda_getCurrentRawStream": 0, "_cuda_getDevice": 0, "_cuda_exchangeDevice": 0, "_cuda_maybeExchangeDevice": 0,
        "_cuda_setDevice": None, "_cuda_synchronize": None, "_cuda_isCurrentStreamCapturing": False,
        "_cuda_getCurrentBlasHandle": 0, "_cuda_clearCublasWorkspaces": None,
    }  # fmt: skip
    found: dict[str, Callable[..., object]] = {name: _number(value) for name, value in made.items()}
    if hasattr(torch._C, "_register_opaque_type"):
        found["_register_opaque_type"] = _again(torch._C._register_opaque_type)
    return found


def _registering() -> dict[str, Callable[..., object]]:
    """Return the methods of a library that register operators."""
    library = torch.library.Library
    made = {"define": _again(library.define), "impl": _noting(_again(library.impl))}
    if hasattr(library, "_register_fake"):
        made["_register_fake"] = _again(library._register_fake)
    return made


@contextmanager
def stand_ins(facts: DeviceFacts) -> Iterator[None]:
    """Answer torch's questions about the GPU from facts while the block runs."""
    cuda = torch.cuda
    places: list[tuple[Any, Mapping[str, object]]] = [
        (cuda, _answers(facts)),
        (cuda, {name: one for name, one in CLASSES.items() if hasattr(cuda, name)}),
        (cuda, {"default_generators": (_Philox(),)}),
        (cuda.streams, {"Stream": Stream, "Event": CudaEvent}),
        (cuda.graphs, {"CUDAGraph": CUDAGraph, "graph": CLASSES["graph"]}),
        (cuda.memory, {"MemPool": MemPool}),
        (cuda.nvtx, {"range_push": _number(0), "range_pop": _number(0), "mark": _nothing()}),
        (cuda.profiler, {"start": _nothing(), "stop": _nothing()}),
        (torch.accelerator, _accelerator()),
        (torch._C, _bindings()),
        (torch.version, {"hip": _NO_VERSION} if facts.is_amd else _cuda_version(facts)),
        (subprocess, {"run": vendor_tools(facts, subprocess.run)}),
        # What torch would put around an operation of somebody else's library hides its launches; it is called plainly.
        (CustomOpDef, {"__call__": _plainly}),
        (torch.library.Library, _registering()),
        (torch.library, {"wrap_triton": lambda kernel: kernel}),
        # Fake tensors start the real device for autograd where one is said to be available; nothing here needs that.
        (torch._subclasses.fake_tensor, {"init_gpu_context": _nothing()}),
    ]
    with ExitStack() as stack:
        for owner, answers in places:
            for name, answer in answers.items():
                stack.enter_context(mock.patch.object(owner, name, answer, create=owner is torch._C))
        for name, kind in (("Lock", threading.Lock), ("RLock", threading.RLock)):  # a cage has no shared memory
            stack.enter_context(mock.patch.object(BaseContext, name, _without_context(kind)))
            stack.enter_context(mock.patch.object(multiprocessing, name, kind))
        yield


def _cuda_version(facts: DeviceFacts) -> dict[str, str]:
    """Return the toolkit's version where torch was built without one: that of Triton's own assembler for the target."""
    if torch.version.cuda:
        return {}
    try:
        from triton.backends.nvidia.compiler import get_ptxas
    except ImportError:
        return {}
    major, minor = facts.capability
    return {"cuda": str(get_ptxas(10 * major + minor).version)}

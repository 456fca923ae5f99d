"""Stand-ins for the GPU that is not there: what a program asks of the device is answered from sourced facts.

A CPU build of torch refuses everything that would start CUDA. Launchers and the modules they live in ask for few of
these things: the number of SMs, the capability, the current device and stream, whether the vendor's tool is there.
Their answers are the facts that whoever compiles or records hands in; a fact that nobody has is an error that names
it, never a guess.
"""

from __future__ import annotations

import math
import multiprocessing
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder
from multiprocessing.context import BaseContext
from pathlib import PurePath
from types import ModuleType
from typing import Any
from unittest import mock

from kopt_kb.base.errors import BadInput

__all__ = ["DeviceFacts", "stand_ins", "standing_in"]

_NO_VERSION = "0.0"
"""What `torch.version.hip` says for an AMD target: that there is one, and of none in particular."""


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What is known of the device that is compiled or recorded for.

    Attributes:
        name: Name of the product or target.
        target: Such as sm_90 or gfx942.
        values: Attribute of torch's device properties → value, such as multi_processor_count; sourced, so may be few.
    """

    name: str
    target: str
    values: Mapping[str, int] = field(default_factory=dict)

    @property
    def capability(self) -> tuple[int, int]:
        """Compute capability; of a gfx target its major and minor number, as HIP has them."""
        digits = self.target.partition("_")[2] or self.target.removeprefix("gfx")[:-1]
        number = "".join(one for one in digits if one.isdigit()) or "00"
        return int(number[:-1] or 0), int(number[-1])

    @property
    def is_amd(self) -> bool:
        """Whether it is a product of AMD."""
        return self.target.startswith("gfx")

    def value(self, name: str) -> int:
        """Return a fact; raises `BadInput` when nobody has it."""
        if name not in self.values:
            raise BadInput(
                f"the launcher asks for {name} of the device, and no sourced value is known for {self.name}",
                where="record",
                fix="name a product with --platform whose page has it",
                code="KB442",
            )
        return self.values[name]


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


class _Stream:
    cuda_stream = 0
    device_index = 0

    def synchronize(self) -> None:
        """Do nothing: there is no device."""

    def wait(self, *_: object) -> None:
        """Do nothing: there is nothing to wait for."""

    wait_stream = wait_event = record_event = wait


class _Event:
    """An event that nothing records; the time between two is no number."""

    def record(self, *_: object) -> None:
        """Do nothing: nothing runs."""

    synchronize = wait = record

    def query(self) -> bool:
        """Return True: there is nothing to wait for."""
        return True

    def elapsed_time(self, _other: object) -> float:
        """Return NaN: nothing was timed."""
        return math.nan


_TOOLS = {False: ("nvidia-smi",), True: ("rocm-smi", "amd-smi")}
"""Programs that are asked whether a vendor's GPU is there, by whether the vendor is AMD."""


def _asking(facts: DeviceFacts, plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return `subprocess.run` that answers for a vendor's tool: it is there, and says the device's name."""

    def run(command: Any, *args: Any, **kwargs: Any) -> Any:
        words = [command] if isinstance(command, str) else list(command)
        name = PurePath(str(words[0]).split()[0]).name if words else ""
        if name not in (*_TOOLS[True], *_TOOLS[False]):
            return plain(command, *args, **kwargs)
        if name not in _TOOLS[facts.is_amd]:
            raise FileNotFoundError(2, "No such file or directory", name)
        is_text = kwargs.get("text") or kwargs.get("universal_newlines")
        return subprocess.CompletedProcess(
            words, 0, facts.name if is_text else facts.name.encode(), "" if is_text else b""
        )

    return run


def _plainly(operation: Any, *args: Any, **kwargs: Any) -> Any:
    """Call what a library registered for CUDA, else for every device."""
    registered: Mapping[str | None, Callable[..., Any]] = operation._backend_fns
    function = registered.get("cuda") or registered.get(None) or operation._init_fn
    return function(*args, **kwargs)


def _without_context(kind: Callable[[], object]) -> Callable[[object], object]:
    return lambda _: kind()


def _device(*_: object) -> Any:
    return nullcontext()


class _Philox:
    """A device's generator: its state is a seed and an offset, 8 bytes each, as CUDA's and HIP's are."""

    def __init__(self, torch: Any) -> None:
        self._torch, self.device = torch, torch.device("cuda", 0)
        self.manual_seed(0)

    def get_state(self) -> Any:
        """Return a copy, which launchers read as two integers, change and set again."""
        return self._state.clone()

    def set_state(self, state: Any) -> None:
        self._state = state.clone()

    def manual_seed(self, seed: int) -> _Philox:
        words = self._torch.tensor([seed, 0], dtype=self._torch.int64, device="cpu")
        self._state = words.view(self._torch.uint8)
        return self

    def initial_seed(self) -> int:
        return int(self._state.view(self._torch.int64)[0])

    seed = initial_seed


@contextmanager
def stand_ins(facts: DeviceFacts) -> Iterator[None]:
    """Answer torch's questions about the GPU from facts while the block runs; imports torch."""
    import torch
    import torch._subclasses.fake_tensor
    from torch._library.custom_ops import CustomOpDef

    properties, cuda = _Properties(facts), torch.cuda
    answers: Mapping[str, Callable[..., object]] = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_name": lambda *_: facts.name,
        "get_device_capability": lambda *_, **__: facts.capability,
        "get_device_properties": lambda *_, **__: properties,
        "current_stream": lambda *_, **__: _Stream(),
        "default_stream": lambda *_, **__: _Stream(),
        "synchronize": lambda *_, **__: None,
        "empty_cache": lambda: None,
        "set_device": lambda *_: None,
        "set_stream": lambda *_: None,
        "Stream": lambda *_, **__: _Stream(),
        "Event": lambda *_, **__: _Event(),
        "manual_seed": lambda *_: None,
        "manual_seed_all": lambda *_: None,
        "memory_allocated": lambda *_, **__: 0,
        "max_memory_allocated": lambda *_, **__: 0,
        "reset_peak_memory_stats": lambda *_, **__: None,
        "device": _device,
        "device_of": _device,
        "stream": lambda *_: nullcontext(),
        "is_bf16_supported": lambda *_, **__: facts.capability >= (8, 0),
        "is_current_stream_capturing": lambda: False,
        "_lazy_init": lambda: None,
    }
    with ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(mock.patch.object(cuda, name, answer))
        stack.enter_context(mock.patch.object(cuda, "default_generators", (_Philox(torch),)))
        if facts.is_amd:
            stack.enter_context(mock.patch.object(torch.version, "hip", _NO_VERSION))
        stack.enter_context(mock.patch.object(subprocess, "run", _asking(facts, subprocess.run)))
        # What torch would put around an operation of somebody else's library hides its launches; it is called plainly.
        stack.enter_context(mock.patch.object(CustomOpDef, "__call__", _plainly))
        stack.enter_context(mock.patch.object(torch.library, "wrap_triton", lambda kernel: kernel))
        for name, kind in (("Lock", threading.Lock), ("RLock", threading.RLock)):  # a cage has no shared memory
            stack.enter_context(mock.patch.object(BaseContext, name, _without_context(kind)))
            stack.enter_context(mock.patch.object(multiprocessing, name, kind))
        # Fake tensors start the real device for autograd where one is said to be available; nothing here needs that.
        stack.enter_context(mock.patch("torch._subclasses.fake_tensor.init_gpu_context", return_value=None))
        yield


class _WhenTorchComes:
    """Finds torch as Python does and stands in once it is there: whoever needs no torch need not wait for it."""

    def __init__(self, stack: ExitStack, facts: DeviceFacts) -> None:
        self._stack, self._facts = stack, facts

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "torch":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        loader: Any = spec.loader
        execute = loader.exec_module

        def loaded(module: ModuleType) -> None:
            execute(module)
            self._stack.enter_context(stand_ins(self._facts))

        loader.exec_module = loaded
        return spec


@contextmanager
def standing_in(facts: DeviceFacts) -> Iterator[None]:
    """Answer torch's questions while the block runs, from the moment on that something in it imports torch."""
    with ExitStack() as stack:
        if "torch" in sys.modules:
            stack.enter_context(stand_ins(facts))
            yield
            return
        finder: Any = _WhenTorchComes(stack, facts)
        sys.meta_path.insert(0, finder)
        try:
            yield
        finally:
            sys.meta_path.remove(finder)

"""Stand-ins for the GPU that is not there: what a program asks of the device is answered from sourced facts.

A CPU build of torch refuses everything that would start CUDA. Launchers and the modules they live in ask for few of
these things: the number of SMs, the capability, the current device and stream, whether the vendor's tool is there.
Their answers are the facts that whoever compiles or records hands in; a fact that nobody has is an error that names
it, never a guess.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import PurePath
from types import ModuleType
from typing import Any

from kopt_kb.base.errors import BadInput

__all__ = ["DeviceFacts", "standing_in", "vendor_tools"]


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


_TOOLS = {False: ("nvidia-smi",), True: ("rocm-smi", "amd-smi")}
"""Programs that are asked whether a vendor's GPU is there, by whether the vendor is AMD."""


def vendor_tools(facts: DeviceFacts, plain: Callable[..., Any]) -> Callable[..., Any]:
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
            from kopt_kb.launch.compile.torch_stand_ins import stand_ins

            self._stack.enter_context(stand_ins(self._facts))

        loader.exec_module = loaded
        return spec


@contextmanager
def standing_in(facts: DeviceFacts) -> Iterator[None]:
    """Answer torch's questions while the block runs, from the moment on that something in it imports torch."""
    with ExitStack() as stack:
        if "torch" in sys.modules:
            from kopt_kb.launch.compile.torch_stand_ins import stand_ins

            stack.enter_context(stand_ins(facts))
            yield
            return
        finder: Any = _WhenTorchComes(stack, facts)
        sys.meta_path.insert(0, finder)
        try:
            yield
        finally:
            sys.meta_path.remove(finder)

"""A kernel file and what was made of it, run on the same inputs in this process: every bit compared, both timed.

python -m kopt_kb.launch.kernel.prepared ORIGINAL PREPARED DRIVER SHAPE DTYPE SIZES

DRIVER has `run(module)`, which returns tensors, and for times `bench(module, size)`, which returns something to call;
a file with `make_inputs` and `launch` (docs/kernels.md) needs none.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from kopt_kb.base.wire import Wire, canonical

__all__ = ["MARK", "SizeTime", "VersionTrial", "compare"]

MARK = "prepared: "
"""What the one line of the result begins with; kernels print as they like."""


@dataclass(frozen=True, slots=True)
class SizeTime(Wire):
    """Median times at one size."""

    size: int
    original_ms: float
    prepared_ms: float


@dataclass(frozen=True, slots=True)
class VersionTrial(Wire):
    """Two versions of a file on the same inputs.

    Attributes:
        device: Where they ran.
        outputs: How many tensors were compared.
        equal_bits: Whether all are the same to the bit.
        max_difference: Largest absolute difference; None where shapes or types differ.
        refused: Kernels that were started without descriptors, and why.
        times: By size.
    """

    device: str
    outputs: int
    equal_bits: bool
    max_difference: float | None
    refused: tuple[str, ...]
    times: tuple[SizeTime, ...]


def compare(
    original: str, prepared: str, driver: str, shape: tuple[int, ...], dtype: str, sizes: tuple[int, ...]
) -> VersionTrial:
    """Run both versions and return what they have in common.

    Args:
        original: The kernel file.
        prepared: What was made of it.
        driver: A file with `run`, or nothing: the kernel file has `run`, or `make_inputs` and `launch`.
        shape: For `make_inputs`.
        dtype: Likewise.
        sizes: To be timed; none where nothing can be.
    """
    one, two = _load(original, "kb_original"), _load(prepared, "kb_prepared")
    run, bench = _entries(_load(driver, "kb_driver") if driver else one, shape, dtype)
    first, second = _tensors(run(one)), _tensors(run(two))
    equal, difference = _difference(first, second)
    refused = tuple(
        f"{name}: {kernel.refused}"
        for name, kernel in vars(two).items()
        if type(kernel).__name__.endswith("Choice") and kernel.refused
    )
    times = tuple(_times(bench, one, two, size) for size in sizes) if bench is not None else ()
    return VersionTrial(_device(), len(first), equal, difference, refused, times)


def _load(path: str, name: str) -> ModuleType:
    sys.path.insert(0, str(Path(path).absolute().parent))
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _device() -> str:
    import torch

    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    return "interpreter" if interpreted else torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"


def _entries(driver: ModuleType, shape: tuple[int, ...], dtype: str) -> tuple[Callable[[Any], Any], Any]:
    if hasattr(driver, "run"):
        return driver.run, getattr(driver, "bench", None)
    if not (hasattr(driver, "make_inputs") and hasattr(driver, "launch")):
        raise AttributeError("the driver has no run(module), and no make_inputs and launch")
    device = "cpu" if _device() in {"interpreter", "cpu"} else "cuda"

    def run(module: Any) -> Any:
        return module.launch(*driver.make_inputs(shape, dtype, device=device))

    def bench(module: Any, size: int) -> Any:
        inputs = driver.make_inputs((size,) * len(shape), dtype, device=device)
        return lambda: module.launch(*inputs)

    return run, bench


def _tensors(value: Any) -> list[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    every = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [each for one in every for each in _tensors(one)]


def _difference(first: list[Any], second: list[Any]) -> tuple[bool, float | None]:
    """Return whether all bits are equal, and the largest difference; not-a-number equals itself bit by bit."""
    import torch

    pairs = list(zip(first, second, strict=False))
    if not first or len(first) != len(second) or any(a.shape != b.shape or a.dtype != b.dtype for a, b in pairs):
        return False, None
    largest, equal = 0.0, True
    for a, b in pairs:
        raw = [one.detach().cpu().contiguous() for one in (a, b)]
        equal = equal and torch.equal(*(one.reshape(-1).view(torch.uint8) for one in raw))
        gap = (raw[0].double() - raw[1].double()).abs().nan_to_num(0.0)
        largest = max(largest, float(gap.max()) if gap.numel() else 0.0)
    return equal, largest


def _times(bench: Any, one: Any, two: Any, size: int) -> SizeTime:
    import triton

    medians = [float(triton.testing.do_bench(bench(each, size), return_mode="median")) for each in (one, two)]
    return SizeTime(size, *medians)


def main(words: list[str]) -> None:
    """Print the result of what the words name, on a line of its own."""
    original, prepared, driver, shape, dtype, sizes = words
    dims = tuple(int(one) for one in shape.split("x") if one)
    trial = compare(original, prepared, driver, dims, dtype, tuple(int(one) for one in sizes.split(",") if one))
    sys.stdout.write(f"\n{MARK}{canonical(trial.to_json()).decode()}\n")


if __name__ == "__main__":
    main(sys.argv[1:])

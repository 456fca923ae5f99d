"""A program that calls the launcher of a kernel file: `python main.py DEVICE`, beside kernel.py.

It is copied into a folder of its own and imports torch and Triton alone, so that the process looks like any program
that uses the kernel: no module of this package that it did not ask for itself, no fake tensors, no variable that
recorders set. One JSON object a line of stdin says what to do, one a line of stdout what came of it; the kernel file is
there by the first line, and is imported then.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

_SPIN_CYCLES = 1 << 22
"""Cycles that the device waits for the host in before a timed call: about 2 ms."""


Answer = Mapping[str, object]


class _Program:
    def __init__(self, device: str) -> None:
        self._device, self._folder = device, Path(__file__).resolve().parent
        self._inputs: tuple[Any, ...] = ()
        self._out: Any = None
        self._flush: Any = None
        kernel, is_problem = self._loaded("kernel"), (self._folder / "problem.py").is_file()
        self._problem = self._loaded("problem") if is_problem else None
        self._launch = self._problem.launcher(kernel) if self._problem is not None else kernel.launch

    def _loaded(self, name: str) -> Any:
        spec = importlib.util.spec_from_file_location(name, self._folder / f"{name}.py")
        if spec is None or spec.loader is None:
            raise ImportError(name)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    def inputs(self, words: Any) -> Answer:
        """Load the tensors that the next calls get; a problem knows what else a call takes once it has made some."""
        self._out = None
        if self._problem is not None:
            self._problem.make_inputs(tuple(words["shape"]), words["dtype"], self._device, 0)
        found = torch.load(self._folder / words["file"], map_location=self._device, weights_only=True)
        self._inputs = tuple(found)
        return {}

    def run(self, words: Any) -> Answer:
        """Call it so often, without waiting for the device."""
        for _ in range(words["times"]):
            self._out = self._launch(*self._inputs)
        return {}

    def wait(self, _: Any) -> Answer:
        """Wait for the device."""
        if self._device != "cpu":
            torch.cuda.synchronize()
        return {}

    def save(self, words: Any) -> Answer:
        """Write the last result."""
        out = self._out
        kept = [one.detach().cpu() for one in out] if isinstance(out, tuple | list) else out.detach().cpu()
        torch.save(kept, self._folder / words["file"])
        return {}

    def time(self, words: Any) -> Answer:
        """Return the device's seconds of calls behind a flush, and of nothing likewise."""
        if self._flush is None:
            size = 2 * torch.cuda.get_device_properties(0).L2_cache_size
            self._flush = torch.empty(max(size, 1 << 20), dtype=torch.uint8, device=self._device)
        calls = [self._between(called=True) for _ in range(words["times"])]
        empty = [self._between(called=False) for _ in range(words["times"])]
        torch.cuda.synchronize()
        calls_s, empty_s = ([1e-3 * one.elapsed_time(two) for one, two in each] for each in (calls, empty))
        return {"calls_s": calls_s, "empty_s": empty_s}

    def _between(self, *, called: bool) -> tuple[Any, Any]:
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self._flush.zero_()
        torch.cuda._sleep(_SPIN_CYCLES)
        before.record()
        if called:
            self._out = self._launch(*self._inputs)
        after.record()
        return before, after

    def count(self, _: Any) -> Answer:
        """Return entry → launches of one call; `by` says who counted, or why nobody could."""
        if counted := self._profiled():
            return {"kernels": counted, "by": "the profiler"}
        try:
            return {"kernels": self._captured(), "by": "a graph"}
        except Exception as error:  # noqa: BLE001 - no profiler, and a launcher that no graph can hold
            return {"by": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}

    def _profiled(self) -> dict[str, int]:
        activities = [torch.profiler.ProfilerActivity.CUDA]
        torch.cuda.synchronize()
        try:
            with torch.profiler.profile(activities=activities, acc_events=True) as seen:
                self._out = self._launch(*self._inputs)
                torch.cuda.synchronize()
            events = seen.events() or []
        except (RuntimeError, AssertionError):
            return {}
        kind = torch.autograd.DeviceType.CUDA
        return dict(Counter(str(one.name) for one in events if one.device_type == kind))

    def _captured(self) -> dict[str, int]:
        """Count the nodes of a graph, where no profiler may watch."""
        driver: Any = importlib.import_module("cuda.bindings.driver")
        graph = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(graph):
            self._out = self._launch(*self._inputs)
        raw = driver.CUgraph(graph.raw_cuda_graph())
        _, _, size = driver.cuGraphGetNodes(raw)
        _, nodes, _ = driver.cuGraphGetNodes(raw, size)
        names = []
        for node in nodes[:size]:
            _, kind = driver.cuGraphNodeGetType(node)
            if kind != driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL:
                names.append(str(kind))
                continue
            _, parameters = driver.cuGraphKernelNodeGetParams(node)
            _, name = driver.cuFuncGetName(parameters.func)
            names.append(name.decode() if isinstance(name, bytes) else str(name))
        return dict(Counter(names))


def _load(device: str) -> None:
    """Load what is loaded once, whatever the kernel: Triton's driver is built, its library hashed; the profiler."""
    with suppress(Exception):  # who has no Triton here, or another version of it, loads that with the kernel
        runtime: Any = importlib.import_module("triton.runtime")
        if device != "cpu":
            str(runtime.driver.active)
            importlib.import_module("triton.runtime.cache").triton_key()
    if device != "cpu":
        with suppress(Exception):  # without a profiler launches are counted otherwise
            _profiler_loaded()


def _profiler_loaded() -> None:
    """Load the library behind torch's profiler, once for the process: 5.2 s on an H100, 1 ms for each later use."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]):
        torch.cuda.synchronize()


def main(device: str) -> None:
    """Do what the lines of stdin say."""
    said = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the kernel file prints is no answer
    _load(device)
    program: _Program | None = None
    for line in sys.stdin:
        words = json.loads(line)
        try:
            program = program or _Program(device)
            answer = getattr(program, words["do"])(words)
        except Exception as error:  # noqa: BLE001 - a kernel file may raise anything, and that is the answer
            answer = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}
        print(json.dumps(answer), file=said, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

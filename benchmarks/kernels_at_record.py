"""Packaged kernels against the best a user could pick, in one run on a GPU, and against a copy of the same bytes.

Usage: python benchmarks/kernels_at_record.py --out DIR [--budget-s 90] [--only attention ...] [--rounds 15]

Contenders of a shape run in turn, in a new random order each round; each is a CUDA graph of launches over rotating
buffers that together are several times the L2, so that no launch finds its data there. Everything is checked against
a float64 reference first. The opponents: torch eager, torch.compile (max-autotune, no graphs), Liger where it is
installed, the best of cuBLASLt's heuristics (all that it returns are timed), cuDNN's and FlashAttention's attention
through torch, cuBLASLt's product of fp8 blocks through torch. Of the last, one scale a tensor is timed beside it: other
work, so it stands under `context_us` only. results.jsonl in DIR has one line a shape, written as soon as it is
measured: medians, and the median over the rounds of opponent over kernel with what it lies between with 95 %
confidence. `copy` is the fastest of what moves the same bytes (same_bytes.py). Kernels are compiled first, in processes
without the GPU.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import importlib
import json
import math
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from library_opponents import CublasLt, compiled, eager, liger, sdpa
from record_settings import CASES
from same_bytes import KINDS, passes

from kopt_kb.launch.kernel.blocked import reference_result
from kopt_kb.launch.kernel.ceilings import environment
from kopt_kb.launch.kernel.comparison import compare
from kopt_kb.problem.tolerances import tolerance_of

DTYPE, DTYPES = "bf16", {"fp8_gemm": "fp8"}
LEAST_BYTES = 5_000_000_000
"""Moved at least by a graph where bytes decide: what its launch costs the host is little beside its time."""


def _of_inputs(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a contender that makes its own result."""
    return lambda inputs, _out: function(*inputs)


def is_context(name: str) -> bool:
    """Return whether a contender does other work: it is timed, and neither checked nor an opponent."""
    return name.startswith(("copy", "context "))


def named(config: dict[str, Any]) -> str:
    return ",".join(f"{key}={value}" for key, value in config.items())


def _scaled(buffers: Buffers) -> dict[str, Any]:
    """Return torch's products of fp8 blocks, scales laid out beforehand as they want them, and one scale a tensor."""
    columns = {id(out): one[2].t().contiguous().t() for one, out in zip(buffers.inputs, buffers.outs, strict=True)}
    one = torch.ones((), device="cuda")

    def blocks(inputs: Any, out: Any) -> Any:
        a, b, _, sb = inputs
        return torch._scaled_mm(a, b.t(), columns[id(out)], sb.t(), out_dtype=torch.bfloat16)

    def whole(fast: bool) -> Callable[..., Any]:
        return lambda inputs, _out: torch._scaled_mm(
            inputs[0], inputs[1].t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=fast
        )

    return {
        "scaled_mm": blocks, "context one_scale": whole(fast=False), "context one_scale_fast": whole(fast=True),
    }  # fmt: skip


def contenders(name: str, shape: tuple[int, ...], configs: list[dict[str, Any]], buffers: Buffers) -> dict[str, Any]:
    """Return name → function of (inputs, out), or the reason why there is none; kernels begin with `kb`."""
    module = importlib.import_module(f"kopt_kb.kernels.{name}")
    found: dict[str, Any] = {}
    for config in [{}, *configs]:
        found[f"kb {named(config) or 'default'}"] = (
            lambda inputs, out, config=config: module.launch(*inputs, config=config or None, out=out)
        )  # fmt: skip
    if name == "attention":
        for kind in ("CUDNN_ATTENTION", "FLASH_ATTENTION"):
            found[kind.lower()] = _of_inputs(sdpa(kind))
        return found
    if name == "fp8_gemm":
        return found | _scaled(buffers)
    found["eager"] = _of_inputs(eager()[name])
    if name == "matmul":
        return found | CublasLt().algorithms(*shape)
    found["compile"] = _of_inputs(compiled(name))
    try:
        found["liger"] = _of_inputs(liger(name))
    except (ImportError, AttributeError) as error:
        found["liger"] = str(error)
    return found


class Buffers:
    """Inputs and outputs in as many copies as keep them out of the cache."""

    def __init__(self, name: str, shape: tuple[int, ...]) -> None:
        self.module = importlib.import_module(f"kopt_kb.kernels.{name}")
        first = self.module.make_inputs(shape, DTYPES.get(name, DTYPE), "cuda", 1)
        self.reference = reference_result(self.module, first)
        self.bytes = sum(one.numel() * one.element_size() for one in first) + 2 * self.reference.numel()
        cache = torch.cuda.get_device_properties(0).L2_cache_size
        copies = max(2, min(8, -(-4 * cache // self.bytes)))
        self.inputs = [first, *(tuple(one.clone() for one in first) for _ in range(copies - 1))]
        self.outs = [torch.empty(self.reference.shape, dtype=torch.bfloat16, device="cuda") for _ in self.inputs]
        self.name, self.pool = name, torch.cuda.graph_pool_handle()

    @property
    def launches(self) -> int:
        """Launches of a graph: two of each buffer, of what only moves bytes 5 GB."""
        least = LEAST_BYTES / self.bytes if self.name in KINDS else 2
        return len(self.outs) * max(1, math.ceil(least / len(self.outs)))

    def copies(self) -> dict[str, Any]:
        """Return what moves the same bytes: the inputs themselves where they are all, else half read, half written."""
        if self.name in KINDS:
            return passes(self.name)
        pairs = [tuple(torch.empty(self.bytes // 2, dtype=torch.int8, device="cuda") for _ in "ab") for _ in self.outs]
        at = {id(out): pair for out, pair in zip(self.outs, pairs, strict=True)}
        return {"copy": lambda _, out: at[id(out)][1].copy_(at[id(out)][0])}

    def checked(self, found: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """Return what answers rightly, and the reason for each that does not."""
        good, left = {}, {}
        for name, function in found.items():
            if isinstance(function, str):
                left[name] = function
                continue
            try:
                self.outs[0].fill_(float("nan"))
                answer = function(self.inputs[0], self.outs[0])
                torch.cuda.synchronize()
                wrong = "" if is_context(name) else compare(answer, self.reference).failure(tolerance_of(DTYPE))
            except Exception as error:  # noqa: BLE001 - one contender must not end the others
                wrong = f"{type(error).__name__}: {str(error)[:200]}"
            if wrong:
                left[name] = wrong
            else:
                good[name] = function
        return good, left


def graph_of(function: Callable[..., Any], buffers: Buffers, launches: int) -> Callable[[], float]:
    """Return a timer of one launch, in seconds: a graph of several over all buffers.

    Results are taken anew from one pool for all contenders, so that they write to the same addresses; as many are kept
    as there are inputs, so that they share no memory.
    """
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    kept: collections.deque[Any] = collections.deque(maxlen=len(buffers.outs))
    places = [place % len(buffers.outs) for place in range(launches)]
    # What only moves bytes makes its result as the opponents do.
    outs = [None] * len(buffers.outs) if buffers.name in KINDS else buffers.outs
    with torch.cuda.stream(stream):
        function(buffers.inputs[0], outs[0])
    stream.synchronize()
    with torch.cuda.graph(graph, pool=buffers.pool, stream=stream):
        for place in places:
            kept.append(function(buffers.inputs[place], outs[place]))
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def timed() -> float:
        torch.cuda._sleep(100_000)  # cycles in which the host sends the graph, so that its start is not timed
        start.record()
        graph.replay()
        stop.record()
        stop.synchronize()
        return float(start.elapsed_time(stop)) * 1e-3 / launches

    timed()
    return timed


def median_95(ratios: list[float]) -> list[float]:
    """Return what the median lies between with 95 % confidence, from the order of the samples alone."""
    ordered, half = sorted(ratios), 0.98 * math.sqrt(len(ratios))
    middle = len(ordered) / 2
    low, high = max(0, math.floor(middle - half)), min(len(ordered) - 1, math.ceil(middle + half) - 1)
    return [round(ordered[low], 4), round(ordered[high], 4)]


def shuffled(timers: dict[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Return name → durations in seconds; no contender runs always after the same other, whose heat it would meet."""
    found: dict[str, list[float]] = {one: [] for one in timers}
    order = random.Random(0)
    for _ in range(rounds):
        for one in order.sample(list(timers), len(timers)):
            found[one].append(timers[one]())
    return found


def case(name: str, shape: tuple[int, ...], configs: list[dict[str, Any]], rounds: int) -> dict[str, Any]:
    """Measure one shape: all contenders briefly, then the best kernels and opponents at length."""
    buffers = Buffers(name, shape)
    good, left = buffers.checked(contenders(name, shape, configs, buffers) | buffers.copies())
    timers = {}
    for one, function in good.items():
        try:
            timers[one] = graph_of(function, buffers, buffers.launches)
        except Exception as error:  # noqa: BLE001 - what cannot be captured is named
            left[one] = f"{type(error).__name__}: {str(error)[:200]}"
    torch.cuda.synchronize()
    brief = {one: statistics.median(times) for one, times in shuffled(timers, 5).items()}
    kernels = sorted((one for one in brief if one.startswith("kb")), key=brief.__getitem__)
    others = sorted((one for one in brief if not one.startswith("kb") and not is_context(one)), key=brief.__getitem__)
    copy = min((one for one in brief if one.startswith("copy")), key=brief.__getitem__)
    last = [*kernels[:3], *others[:4], copy]
    samples = shuffled({one: timers[one] for one in last}, rounds)
    medians = {one: statistics.median(times) for one, times in samples.items()}
    best, rival = min(kernels[:3], key=medians.__getitem__), min(others[:4], key=medians.__getitem__)

    def over(other: str) -> list[float]:
        return [a / b for a, b in zip(samples[other], samples[best], strict=True)]

    return {
        "op": name, "shape": "x".join(map(str, shape)), "dtype": DTYPES.get(name, DTYPE),
        "best": best, "opponent": rival,
        "over_opponent": round(statistics.median(over(rival)), 4), "over_opponent_95": median_95(over(rival)),
        "copy": copy, "over_copy": round(statistics.median(over(copy)), 4), "over_copy_95": median_95(over(copy)),
        "bytes": buffers.bytes, "launches": buffers.launches, "rounds": rounds,
        "median_us": {one: round(1e6 * seconds, 2) for one, seconds in medians.items()},
        "context_us": {one[8:]: round(1e6 * brief[one], 2) for one in brief if one.startswith("context ")},
        "brief_us": {one: round(1e6 * seconds, 2) for one, seconds in brief.items()}, "left_out": left,
    }  # fmt: skip


def _compile_one(name: str, shape: tuple[int, ...], config: dict[str, Any]) -> None:
    """Compile what a launch would, for the GPU of this machine, on tensors of the host that nobody fills."""
    from triton.runtime.jit import JITFunction

    from kopt_kb.launch.compile.stub import activate
    from kopt_kb.launch.compile.target import CompileTarget

    activate(CompileTarget.parse(os.environ["KB_RECORD_TARGET"]))
    run = JITFunction.run
    module = importlib.import_module(f"kopt_kb.kernels.{name}")
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        shapes = [(tuple(one.shape), one.dtype) for one in module.make_inputs(shape, DTYPES.get(name, DTYPE), "cpu", 1)]
    inputs = [torch.empty(size, dtype=dtype) for size, dtype in shapes]
    JITFunction.run = lambda self, *args, **more: run(self, *args, **(more | {"warmup": True}))
    try:
        module.launch(*inputs, config=config or None)
    finally:
        JITFunction.run = run


def prepare(cases: list[Any], seconds: float) -> None:
    """Compile all settings on all cores, for so many seconds at most; what is not done is compiled when it is met."""
    # A product's sizes are arguments: one shape's kernels serve the others.
    jobs = list({
        (name, named(config), None if name in {"matmul", "fp8_gemm"} else shape): (name, shape, config)
        for name, shape, configs in cases for config in [{}, *configs]
    }.values())  # fmt: skip
    ends = time.monotonic() + seconds
    pool = multiprocessing.get_context("fork").Pool(max(1, (os.cpu_count() or 2) - 1))
    try:
        answers = [pool.apply_async(_compile_one, job) for job in jobs]
        for answer in answers:
            with contextlib.suppress(Exception):
                answer.get(max(0.01, ends - time.monotonic()))
    finally:
        pool.terminate()
        pool.join()


def warm(name: str, shapes: list[tuple[int, ...]]) -> None:
    """Fill torch.compile's cache with one operation's kernels; run in a process of its own."""
    module, function = importlib.import_module(f"kopt_kb.kernels.{name}"), compiled(name)
    for shape in shapes:
        function(*module.make_inputs(shape, DTYPE, "cuda", 1))
    torch.cuda.synchronize()


def _warming(cases: list[Any]) -> Iterator[subprocess.Popen[bytes]]:
    for name in sorted({name for name, _, _ in cases} - {"attention", "matmul", "fp8_gemm"}):
        shapes = ["x".join(map(str, shape)) for one, shape, _ in cases if one == name]
        yield subprocess.Popen([sys.executable, __file__, "--warm", name, *shapes], stderr=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--budget-s", type=float, default=90.0)
    parser.add_argument(
        "--only", action="append", default=[], help="a kernel file, or a file and a shape: matmul:16x8192x8192"
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--warm", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.warm:
        warm(args.warm[0], [tuple(map(int, one.split("x"))) for one in args.warm[1:]])
        return
    begin = time.monotonic()
    args.out.mkdir(parents=True, exist_ok=True)
    wanted = [
        one for one in CASES
        if not args.only or one[0] in args.only or f"{one[0]}:{'x'.join(map(str, one[1]))}" in args.only
    ]  # fmt: skip
    if args.only:
        wanted.sort(key=lambda one: next(at for at, word in enumerate(args.only) if word.split(":")[0] == one[0]))
    os.environ.setdefault("KB_RECORD_TARGET", "sm_90")
    warming = list(_warming(wanted))
    prepare(wanted, args.budget_s * 0.35)
    for one in warming:
        with contextlib.suppress(subprocess.TimeoutExpired):
            one.wait(max(0.1, begin + args.budget_s * 0.45 - time.monotonic()))
    for one in warming:
        one.kill()
    print(f"prepared after {time.monotonic() - begin:.1f} s", flush=True)
    with (args.out / "results.jsonl").open("w") as file:
        file.write(json.dumps({"environment": environment(), "torch.compile": "max-autotune-no-cudagraphs"}) + "\n")
        for name, shape, configs in wanted:
            if time.monotonic() - begin > args.budget_s:
                break
            try:
                line = case(name, shape, configs, args.rounds)
            except Exception as error:  # noqa: BLE001 - the other shapes are measured all the same
                line = {
                    "op": name,
                    "shape": "x".join(map(str, shape)),
                    "failed": f"{type(error).__name__}: {error}"[:500],
                }
            torch.cuda.empty_cache()
            line["at_s"] = round(time.monotonic() - begin, 1)
            file.write(json.dumps(line) + "\n")
            file.flush()
            print({key: one for key, one in line.items() if key != "brief_us"}, flush=True)


if __name__ == "__main__":
    main()

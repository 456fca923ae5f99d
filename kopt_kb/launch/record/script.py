"""A whole program, run for its launches: on tensors without memory, to its end or to the first thing it can't do.

What a program does besides launching is made harmless: comparisons of results that nobody has hold, nothing is timed,
benchmarks run at three of their sizes, plots are not drawn. Its record is a list of launches, not something to replay.
"""

from __future__ import annotations

import math
import os
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, chdir, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import torch

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.record.called import RunningCalls
from kopt_kb.launch.record.ended import LateError, place_of
from kopt_kb.launch.record.gradients import gradients
from kopt_kb.launch.record.model import Argument, Launch, LaunchRecord, TensorAddress, TensorMapArg
from kopt_kb.launch.record.request import ScriptRequest
from kopt_kb.launch.record.trace import CallTrace

__all__ = ["Script", "of_script"]

_MOST_STEPS, _MOST_BUFFERS, _MOST_BYTES = 512, 200, 1 << 35
"""Of a record that lists launches; what is behind them is in the statics alone."""


class Script:
    """A program with its words; it is given no tensors."""

    def __init__(self, what: ScriptRequest, trace: CallTrace) -> None:
        self._what, self._trace = what, trace
        self.tensors: dict[str, torch.Tensor] = {}
        self.module = ModuleType("script")
        file = Path(what.folder) / what.words[0]
        self.module.__file__ = str(file) if file.suffix == ".py" and file.is_file() else None

    def run(self) -> None:
        """Run the program; how it ended early is a reason of the trace."""
        words = list(self._what.words)
        with (
            chdir(self._what.folder),
            mock.patch.object(sys, "argv", words[1:] if words[0] == "-m" else words),
            _harmless(self._trace),
            self._calls(),
        ):
            try:
                self._begin(words)
            except SystemExit as error:
                if error.code not in (None, 0):
                    self._trace.reasons.append(f"the program ended with status {error.code}")
            except (Exception, LateError) as error:  # noqa: BLE001 - whatever a program runs into without a GPU
                text = "".join(one for one in " ".join(str(error).split())[:200] if one.isprintable())
                told = error.what if isinstance(error, BadInput) else f"{type(error).__name__}: {text}"
                told = text if isinstance(error, LateError) else told
                told = f"{error.name} is not installed" if isinstance(error, ModuleNotFoundError) else told
                where = place_of(error) or "its beginning"
                self._trace.reasons.append(f"the program was recorded up to {where}: {told}")

    def _calls(self) -> AbstractContextManager[None]:
        calls = RunningCalls(self._trace)
        if not self._what.calls:
            return nullcontext()
        self._trace.launched_by = calls.innermost
        return calls.noting()

    @staticmethod
    def _begin(words: list[str]) -> None:
        if words[0] == "-m":
            sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as Python does it
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
            return
        path = Path(words[0])
        if not path.is_file():
            raise BadInput("no such file", where=str(path), fix="kb record -- python FILE.py", code="KB110")
        sys.path.insert(0, str(path.resolve().parent))
        runpy.run_path(str(path), run_name="__main__")


def of_script(record: LaunchRecord) -> LaunchRecord:
    """Return a program's record: each different launch once, with its buffers, as far as a record goes."""
    kept: dict[object, Launch] = {}
    buffers: dict[str, int] = {}
    sizes = {one.name: one.size_bytes for one in record.buffers}
    for launch in record.launches:
        key = (launch.code, launch.grid, _anywhere(launch.arguments))
        names = {arg.view.buffer for arg in launch.arguments if isinstance(arg, TensorAddress | TensorMapArg)}
        together = buffers | {name: sizes[name] for name in names}
        fits = len(together) <= _MOST_BUFFERS and sum(together.values()) <= _MOST_BYTES
        if key not in kept and fits and len(kept) < _MOST_STEPS:
            kept[key], buffers = launch, together
    ended = [one for one in record.not_replayable.split("; ") if one.startswith("the program")]
    reasons = ["a program's launches, without what it computes besides", *ended]
    codes = {one.code for one in kept.values()}
    return replace(
        record,
        inputs=(),
        outputs=(),
        steps=tuple(kept.values()),
        buffers=tuple(replace(one, role="scratch", changed=True) for one in record.buffers if one.name in buffers),
        codes={name: size for name, size in record.codes.items() if name in codes},
        not_replayable="; ".join(reasons),
    )


def _anywhere(arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    """Return arguments with numbers for buffers: which of them share one matters, not which it is."""
    numbers: dict[str, str] = {}
    return tuple(
        replace(one, view=replace(one.view, buffer=numbers.setdefault(one.view.buffer, str(len(numbers)))))
        if isinstance(one, TensorAddress | TensorMapArg)
        else one
        for one in arguments
    )


@contextmanager
def _harmless(trace: CallTrace) -> Iterator[None]:
    """Take for granted what needs results, and do once what is done to be timed."""
    import triton.testing
    from triton._C import libtriton

    patches: list[Any] = [
        mock.patch.object(torch.testing, "assert_close", return_value=None),
        mock.patch.object(triton.testing, "assert_close", return_value=None, create=True),
        mock.patch.object(triton.testing, "do_bench", _once),
        mock.patch.object(triton.testing, "do_bench_cudagraph", _once),
        mock.patch.object(triton.testing.Mark, "run", _at_three_sizes),
    ]
    if hasattr(libtriton, "nvidia"):
        patches.append(mock.patch.object(libtriton.nvidia.cublas, "CublasLt", _Library))
    with ExitStack() as stack:
        for one in patches:
            stack.enter_context(one)
        stack.enter_context(gradients(trace.parameters))
        yield


class _Library:
    """A library of the vendor, beside which a program times its kernels; it computes nothing."""

    def __init__(self, *_: object) -> None:
        """Load nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


def _once(function: Callable[[], object], *_: object, quantiles: list[float] | None = None, **__: object) -> Any:
    """Call what would be timed once; its time is no number."""
    function()
    return [math.nan] * len(quantiles) if quantiles else math.nan


def _at_three_sizes(mark: Any, *_: object, **more: Any) -> None:
    """Run a benchmark at the first, the middle and the last of its sizes, for each line of its plots."""
    more = {
        name: value
        for name, value in more.items()
        if name not in {"show_plots", "print_data", "save_path", "return_df", "diff_col", "save_precision"}
    }
    benches = mark.benchmarks if isinstance(mark.benchmarks, list | tuple) else [mark.benchmarks]
    for bench in benches:
        sizes = list(bench.x_vals)
        for number in sorted({0, len(sizes) // 2, len(sizes) - 1}):
            at = sizes[number] if isinstance(sizes[number], list | tuple) else [sizes[number]] * len(bench.x_names)
            given = dict(zip(bench.x_names, at, strict=True))
            for line in bench.line_vals:
                mark.fn(**given, **{bench.line_arg: line}, **bench.args, **more)

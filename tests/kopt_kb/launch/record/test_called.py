"""The call of a program's function that launched something: its arguments are those that it was called with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from kopt_kb.launch.compile.device import DeviceFacts  # noqa: E402
from kopt_kb.launch.record.called import NOBODY, RunningCalls  # noqa: E402
from kopt_kb.launch.record.trace import CallTrace  # noqa: E402

PROGRAM = """
import torch

def outer(x, scale, more=None):
    x = x.view(-1, 4)
    return x + told(x[:, :2], scale, *([more] if more else []))

def told(x, scale, more=(1, 2.5)):
    x, scale = x.contiguous(), None
    def inner(x):
        note()
    inner(x)
    return 0

def wide(x, on):
    told(x, object())

def listed(xs, eps=1e-6):
    note()

def anything(*args):
    note()

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dtype):
        note()
        return x + x

class Later(torch.autograd.Function):
    @staticmethod
    def forward(x, ids):
        note()
        return x + 1

    @staticmethod
    def setup_context(ctx, inputs, output): ...

class Module:
    def forward(self, x):
        note()
"""


@pytest.fixture
def called(tmp_path: Path) -> Callable[[Callable[[Any], object]], list[tuple[str, str]]]:
    """Runs a program's function on tensors without memory, and returns which call each launch of it comes from."""

    def run(what: Callable[[Any], object]) -> list[tuple[str, str]]:
        trace = CallTrace(DeviceFacts("Test", "sm_90"), lenient=True)
        calls, found = RunningCalls(trace), list[tuple[str, str]]()
        file = tmp_path / "program.py"
        names: dict[str, Any] = {"note": lambda: found.append(calls.innermost())}
        exec(compile(PROGRAM, str(file), "exec"), names)
        with trace.running(), calls.noting():
            what(type("Program", (), names))
        return [(Path(one).name, call) for one, call in found]

    return run


def made(*shape: int) -> Any:
    return torch.empty(shape, device="cuda", dtype=torch.float16)


@pytest.mark.parametrize(
    ("what", "call"),
    [
        (lambda p: p.outer(made(2, 8), 0.5), "told(x=fp16[4,2;strides=4,1], scale=0.5, more=[1,2.5])"),
        (lambda p: p.told(made(4), None, "sum"), "told(x=fp16[4], scale=none, more='sum')"),
        (lambda p: p.wide(made(4), True), "wide(x=fp16[4], on=true)"),
        (lambda p: p.Double.apply(made(4), torch.float32), "Double.apply(x=fp16[4], dtype=torch.float32)"),
        (
            lambda p: p.Later.apply(made(4), torch.randint(0, 9, (3,)).to("cuda")),
            "Later.apply(x=fp16[4], ids=int64[3]<9)",
        ),
        (
            lambda p: p.told(torch.tensor([0, 7], device="cuda"), float("-inf"), torch.randperm(5, device="cuda")),
            "told(x=int64[2]=[0,7], scale=-inf, more=int64[5]<5)",
        ),
        (
            lambda p: p.listed([made(1), made(2).to(torch.float8_e5m2)]),
            "listed(xs=[fp16[1],float8_e5m2[2]], eps=1e-06)",
        ),
    ],
    ids=["view", "text", "outer one", "autograd", "no context", "values", "list"],
)
def test_a_launch_comes_from_the_innermost_call_that_can_be_written(called, what, call) -> None:  # type: ignore[no-untyped-def]
    """Functions inside others, of tensors that were rebound, and objects are passed over."""
    assert called(what) == [("program.py", call)]


@pytest.mark.parametrize(
    "what",
    [
        lambda p: p.anything(made(4)),
        lambda p: p.Module().forward(made(4)),
        lambda p: p.listed(1),
        lambda p: p.listed(torch.empty(4)),
        lambda p: p.told(made(4), "it's"),
        lambda p: p.note(),
    ],
    ids=["any", "method", "no tensor", "host tensor", "quote", "nobody"],
)
def test_what_no_call_can_say_comes_from_nobody(called, what) -> None:  # type: ignore[no-untyped-def]
    """It is listed without a call."""
    assert called(what) == [("", NOBODY[1])]

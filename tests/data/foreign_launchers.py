"""Launchers as other libraries have them: custom operators, streams, graphs, modules, types that Triton lacks."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def add_all(x, y, o, n, BLOCK: tl.constexpr):
    """o = x + y."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


TABLE = torch.arange(1024, dtype=torch.float32, device="cuda") * 2
HOST = torch.arange(4).tolist()
MOVED = torch.ones(1024).cuda()


def by_tables(x, y):
    """What the module put on the device while it was imported, and on the host."""
    return add(add(x, TABLE[:]), add(y, MOVED)), HOST[3]


def add(x, y):
    """A new tensor."""
    o = torch.empty_like(x)
    add_all[(triton.cdiv(x.numel(), 1024),)](x, y, o, x.numel(), 1024)
    return o


def into_another(x, out):
    """An argument has the name that results have."""
    return add(x, out)


def zeroes(x, y):
    """Writes an argument beside what it returns."""
    x.zero_()
    return add(x, y)


@torch.library.custom_op("kopt_test::plus", mutates_args=())
def plus(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """An operator with a fake."""
    return add(x, y)


@plus.register_fake
def _(x, y):
    return torch.empty_like(x)


def by_custom_op(x, y):
    """Called by its name and through the dispatcher."""
    return plus(x, torch.ops.kopt_test.plus(x, y))


LIBRARY = torch.library.Library("kopt_test_cuda", "FRAGMENT")
LIBRARY.define("plus(Tensor x, Tensor y) -> Tensor")
LIBRARY.impl("plus", add, "CUDA")
LIBRARY._register_fake("plus", lambda x, _: torch.empty_like(x))


def by_library(x, y):
    """An operator that has a kernel for CUDA alone."""
    return torch.ops.kopt_test_cuda.plus(x, y)


def asks(x: torch.Tensor, y: torch.Tensor, stream: torch.cuda.Stream | None = None):
    """What modules ask of tensors, streams and versions."""
    assert x.is_cuda and not x.is_cpu and x.get_device() == 0
    assert type(x).__name__ == "Tensor"
    assert torch.version.cuda and torch.version.cuda[0].isdigit()
    assert isinstance(stream or torch.cuda.current_stream(), torch.Stream)
    assert torch.cuda.device(x.device).idx == 0
    assert torch.accelerator.current_stream().is_capturing() is False
    return add(x, y)


def on_streams(x, y):
    """Waits, records and captures."""
    stream, event = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        made = add(x, y)
        event.record(stream)
    made.record_stream(stream)
    torch.cuda.current_stream().wait_event(event)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        made = add(x, y)
    graph.replay()
    return made


def pinned(x, y):
    """Memory of the host on its way to the device."""
    held = torch.zeros(x.numel(), pin_memory=True).pin_memory()
    assert held.is_pinned()
    return add(x, held.to("cuda", non_blocking=True))


class Scaled(torch.nn.Module):
    """A module with two names for one parameter."""

    def __init__(self):
        super().__init__()
        self.weight = self.tied = torch.nn.Parameter(torch.ones(1024))
        self.weight.note = "kept"
        self.register_buffer("bias", torch.zeros(1024))
        self.inner = torch.nn.Linear(2, 2)

    def forward(self, x):
        """Both tensors by kernels."""
        return add(add(x, self.weight), self.bias)


def by_module(x, y):
    """Parameters that are moved to the device."""
    module = Scaled().cuda().to(torch.float32)
    assert module.weight is module.tied and module.weight.is_cuda and module.weight.note == "kept"
    assert isinstance(module.weight, torch.nn.Parameter) and module.bias.is_cuda and module.inner.weight.is_cuda
    return add(module(x), torch.nn.Parameter(y))


def lists(xs, how):
    """Lists of lists, and mixed ones."""
    assert isinstance(xs[0], list) and how[0] is None and how[1] == "sum"
    return add(xs[0][0], xs[1][0])


def real_parts(x):
    """Complex numbers as pairs."""
    pairs = torch.view_as_real(x)
    return add(pairs, pairs)


def scales(x, s):
    """MX elements and scales as bytes."""
    return add(s.view(torch.uint8), s.view(torch.uint8)), add(x.view(torch.uint8), x.view(torch.uint8))

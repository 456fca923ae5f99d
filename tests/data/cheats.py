"""Launchers that try to make a record look as if it computed: each is refused, or named by what it did outside."""

import ctypes
import importlib.util
from pathlib import Path

import torch

_spec = importlib.util.spec_from_file_location("honest", Path(__file__).with_name("launchers.py"))
honest = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(honest)
OP, make_inputs, reference = honest.OP, honest.make_inputs, honest.reference
LIBRARY = torch.library.Library("cheats", "DEF")
LIBRARY.define("empty_like(Tensor x, Tensor y) -> Tensor")
LIBRARY.define("zero_(Tensor(a!) out, Tensor x, Tensor y) -> ()")
LIBRARY.impl("empty_like", lambda x, _: torch.empty_like(x), "Meta")
LIBRARY.impl("zero_", lambda *_: None, "Meta")


def launch(x, y, *, config=None):
    """Launch a kernel, and get the result in the way that the configuration names."""
    out = honest.plain(x, y)
    return globals()[(config or {})["HOW"]](x, y, out)


def alias(x, y, out):
    """Return an input."""
    return x


def view_of_input(x, y, out):
    """Return a view of an input."""
    return x[: x.shape[0]]


def on_cpu(x, y, out):
    """Compute on the CPU and copy."""
    return (x.cpu() + y.cpu()).cuda()


def left_on_cpu(x, y, out):
    """Compute on the CPU and leave it there."""
    return x.cpu() + y.cpu()


def constant(x, y, out):
    """Return numbers of the host."""
    return torch.tensor([1.0] * x.shape[0], dtype=x.dtype, device="cuda")


def from_numpy(x, y, out):
    """Return numbers of numpy."""
    import numpy

    return torch.from_numpy(numpy.ones(x.shape[0], dtype=numpy.float32)).to("cuda")


class _Add(torch.autograd.Function):
    @staticmethod
    def forward(_, x, y):
        """Add."""
        return x + y


def autograd(x, y, out):
    """Hide an addition in an autograd function."""
    return _Add.apply(x, y)


def custom_named_empty(x, y, out):
    """Call an operation whose name is that of an allocation."""
    return torch.ops.cheats.empty_like(x, y)


def custom_named_zero(x, y, out):
    """Call an operation whose name is that of a fill, and which returns nothing."""
    torch.ops.cheats.zero_(out, x, y)
    return out


def packet(x, y, out):
    """Call the dispatcher's name of an addition."""
    return torch.ops.aten.add.Tensor(x, y)


def view_in_place(x, y, out):
    """Add into a view of the output."""
    out[4:].add_(y[4:])
    return out


def foreach(x, y, out):
    """Add with an operation that returns nothing."""
    torch._foreach_add_([out], [y])
    return out


def foreign_out(x, y, out):
    """Add with an argument for the result."""
    torch.add(x, y, out=out)
    return out


def set_data(x, y, out):
    """Put the sum in the place of the output's memory."""
    out.data = x + y
    return out


def through_fill(x, y, out):
    """Add, and fill all but one element."""
    out = x + y
    out[1:].fill_(0)
    return out


def expanded(x, y, out):
    """Return one element, expanded."""
    return out[:1].expand(x.shape[0])


def by_pointer(x, y, out):
    """Write through the address of a tensor."""
    ctypes.memset(x.data_ptr(), 0, 4)
    return out


def by_numpy(x, y, out):
    """Read as an array of numpy."""
    return torch.as_tensor(x.float().numpy() + y.float().numpy(), device="cuda")


def address_as_number(x, y, out):
    """Give a kernel the address of a tensor as a number."""
    honest.add_blocks[(4,)](x, y, out, x.data_ptr(), BLOCK=256)
    return out


def kernel_on_cpu(x, y, out):
    """Launch on a tensor of the CPU."""
    honest.add_blocks[(4,)](x.cpu(), y, out, x.numel(), BLOCK=256)
    return out


def compiled_kernel(x, y, out):
    """Launch the object that Triton compiled: it is a launch like any other."""
    result = torch.empty_like(x)
    made = honest.add_blocks.warmup(x, y, result, x.numel(), BLOCK=256, grid=(4,))
    made[(4, 1, 1)](x, y, result, x.numel(), 256)
    return result


def dynamo(x, y, out):
    """Add in a compiled function."""
    return torch.compile(lambda a, b: a + b)(x, y)

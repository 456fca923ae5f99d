"""Launchers for the tests of launch records: several kernels, scratch, fills, views, descriptors, and what is not allowed."""

import torch
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

OP = "elementwise"
CACHE = {}


@triton.jit
def add_blocks(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    """Add two vectors."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)


@triton.jit
def add_beyond(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    """Add two vectors, and write one element behind the last."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)
    tl.store(out_ptr + count, 1.0)


@triton.jit
def add_into_x(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    """Add two vectors into the output and into the first of them."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    total = tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask)
    tl.store(out_ptr + at, total, mask=mask)
    tl.store(x_ptr + at, total, mask=mask)


@triton.jit
def add_most(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    """Add two vectors, all but their last block."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count - BLOCK
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)


@triton.jit
def accumulate(x_ptr, sum_ptr, count, BLOCK: tl.constexpr):
    """Add a vector into fp32 sums that were zero."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    tl.atomic_add(sum_ptr + at, tl.load(x_ptr + at, mask=mask).to(tl.float32), mask=mask)


@triton.jit
def narrow(sum_ptr, out_ptr, count, BLOCK: tl.constexpr):
    """Round fp32 sums to the output's type."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    tl.store(out_ptr + at, tl.load(sum_ptr + at, mask=mask).to(out_ptr.dtype.element_ty), mask=mask)


@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 512}, num_warps=8)], key=["count"])
@triton.jit
def add_tuned(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    """Add two vectors in blocks of a tuned size."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)


@gluon.jit
def add_gluon(x_ptr, y_ptr, out_ptr, count, BLOCK: gl.constexpr):
    """Add two vectors, in Gluon."""
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    mask = at < count
    gl.store(out_ptr + at, gl.load(x_ptr + at, mask=mask) + gl.load(y_ptr + at, mask=mask), mask=mask)


def make_inputs(shape, dtype, device="cuda", seed=0):
    """Return two vectors of a type."""
    kind = {"bf16": torch.bfloat16, "fp32": torch.float32, "fp16": torch.float16}[dtype]
    generator = torch.Generator(device=device).manual_seed(seed)
    return tuple(torch.randn(shape, generator=generator, device=device).to(kind) for _ in range(2))


def reference(x, y):
    """Return the sum in float64."""
    return x.double() + y.double()


def _blocks(x):
    return (triton.cdiv(x.numel(), 256),)


def launch(x, y, *, config=None, out=None):
    """Add, by the kernel or the trick that the configuration names."""
    return globals()[(config or {}).get("HOW", "plain")](x, y)


def plain(x, y):
    """Add with one kernel."""
    out = torch.empty_like(x)
    add_blocks[_blocks(x)](x, y, out, x.numel(), BLOCK=256)
    return out


def beyond(x, y):
    """Write behind the output."""
    out = torch.empty_like(x)
    add_beyond[_blocks(x)](x, y, out, x.numel(), BLOCK=256)
    return out


def into_x(x, y):
    """Change an input."""
    out = torch.empty_like(x)
    add_into_x[_blocks(x)](x, y, out, x.numel(), BLOCK=256)
    return out


def most(x, y):
    """Leave the last block unwritten."""
    out = torch.empty_like(x)
    add_most[_blocks(x)](x, y, out, x.numel(), BLOCK=256)
    return out


def summed(x, y):
    """Use zeroed fp32 scratch and three launches."""
    total = torch.zeros(x.shape, dtype=torch.float32, device=x.device)
    out = torch.empty_like(x)
    for one in (x, y):
        accumulate[_blocks(x)](one, total, x.numel(), BLOCK=256)
    narrow[_blocks(x)](total, out, x.numel(), BLOCK=256)
    return out


def halves(x, y):
    """Launch on the two halves of the vectors, views with an offset."""
    out, half = torch.empty_like(x), x.shape[0] // 2
    for part in (slice(None, half), slice(half, None)):
        a, b, c = x[part], y[part], out[part]
        add_blocks[_blocks(a)](a, b, c, a.numel(), BLOCK=256)
    return out


def tuned(x, y):
    """Launch an autotuned kernel with a grid that depends on its configuration."""
    out = torch.empty_like(x)
    add_tuned[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, out, x.numel())
    return out


def in_gluon(x, y):
    """Launch a Gluon kernel."""
    out = torch.empty_like(x)
    add_gluon[_blocks(x)](x, y, out, x.numel(), BLOCK=256, num_warps=4)
    return out


def copied(x, y):
    """Launch on a copy of an input."""
    kept, out = x.clone(), torch.empty_like(x)
    add_blocks[_blocks(x)](kept, y, out, x.numel(), BLOCK=256)
    return out


def computed(x, y):
    """Compute the result with torch beside a kernel that does nothing for it."""
    out = torch.empty_like(x)
    add_blocks[_blocks(x)](x, y, out, x.numel(), BLOCK=256)
    return x + y


def doubled(x, y):
    """Give a kernel what torch computed."""
    out = torch.empty_like(x)
    wide = x * 1.0
    add_blocks[_blocks(x)](wide, y, out, x.numel(), BLOCK=256)
    return out


def remembered(x, y):
    """Launch once for an input and remember the output by the object."""
    if id(x) not in CACHE:
        CACHE[id(x)] = plain(x, y)
    return CACHE[id(x)]


def reads(x, y):
    """Choose by a value on the device."""
    return plain(x, y) if float(x[0]) > 0 else plain(y, x)


def nothing(x, y):
    """Launch nothing."""
    return torch.empty_like(x)


def asks(x, y):
    """Ask the device how many SMs it has, and launch that many programs."""
    count = torch.cuda.get_device_properties(x.device).multi_processor_count
    out = torch.empty_like(x)
    add_blocks[(max(count, triton.cdiv(x.numel(), 256)),)](x, y, out, x.numel(), BLOCK=256)
    return out


class Added(torch.autograd.Function):
    """Adds by one kernel; `apply` takes its arguments by place."""

    @staticmethod
    def forward(_, x, y):
        """Add, and return a tensor beside nothing."""
        return plain(x, y), None

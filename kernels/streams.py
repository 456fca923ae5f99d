"""Memory streams: copy, read, write and triad kernels, the patterns bandwidth ceilings are measured with.

Bandwidth has one definition everywhere: bytes read plus bytes written over time.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

__all__ = ["CONFIGS", "LIBRARY", "PATTERNS", "REPEATED_CONFIGS", "empty", "repeated", "stream"]

PATTERNS = {"copy": (1, 1), "read": (1, 0), "write": (0, 1), "triad": (2, 1)}
"""Arrays read and arrays written by each pattern."""

CONFIGS = [{"BLOCK": block, "num_warps": warps} for block in (1024, 2048, 4096, 8192, 16384) for warps in (4, 8)]
"""Launch configurations tried; the fastest is the ceiling."""

REPEATED_CONFIGS = [
    {"BLOCK": block, "num_warps": warps, "programs": programs}
    for block in (2048, 4096, 8192)
    for warps in (4, 8)
    for programs in (2, 4, 8)
]
"""As CONFIGS, for reads that stay in a cache; `programs` is how many each SM gets."""

LIBRARY = {"copy", "write"}
"""Patterns the framework has an operation of its own for; tried beside the configurations."""


@triton.jit
def copy_blocks(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    """Copy: out = x."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    tl.store(out_ptr + place, tl.load(x_ptr + place, mask=mask), mask=mask)


@triton.jit
def read_blocks(x_ptr, sums_ptr, count, BLOCK: tl.constexpr):
    """One sum a program: the loads can't be dropped, and what is stored is negligible."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + place, mask=place < count, other=0.0)
    tl.store(sums_ptr + tl.program_id(0), tl.sum(x, axis=0))


@triton.jit
def write_blocks(out_ptr, value, count, BLOCK: tl.constexpr):
    """Write: out = value."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + place, tl.full((BLOCK,), 0.0, tl.float32) + value, mask=place < count)


@triton.jit
def triad_blocks(x_ptr, y_ptr, out_ptr, scale, count, BLOCK: tl.constexpr):
    """Triad: out = x + scale * y."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    x = tl.load(x_ptr + place, mask=mask)
    y = tl.load(y_ptr + place, mask=mask)
    tl.store(out_ptr + place, x + scale * y, mask=mask)


def stream(pattern, footprint_bytes, config, device="cuda", seed=0):
    """Return (function that runs the stream once, bytes it reads plus writes, function that checks the result).

    Args:
        pattern: Key of PATTERNS.
        footprint_bytes: Bytes to move; rounded down to whole fp32 elements of every array.
        config: BLOCK and num_warps; None for the framework's own operation.
        device: Torch device.
        seed: Of the random data.
    """
    reads, writes = PATTERNS[pattern]
    count = footprint_bytes // (4 * (reads + writes))
    generator = torch.Generator(device=device).manual_seed(seed)
    x, y = (torch.rand(count if needed else 1, generator=generator, device=device) for needed in (reads > 0, reads > 1))
    grid = (triton.cdiv(count, config["BLOCK"] if config else 1),)
    out = torch.full((count if writes else grid[0],), float("nan"), device=device)
    launches = {
        "copy": lambda: copy_blocks[grid](x, out, count, **config),
        "read": lambda: read_blocks[grid](x, out, count, **config),
        "write": lambda: write_blocks[grid](out, 2.5, count, **config),
        "triad": lambda: triad_blocks[grid](x, y, out, 0.5, count, **config),
    }
    expected = {
        "copy": lambda: torch.equal(out, x),
        "read": lambda: bool(torch.isclose(out.double().sum(), x.double().sum(), rtol=1e-5)),
        "write": lambda: bool((out == 2.5).all()),
        "triad": lambda: bool(torch.allclose(out, x + 0.5 * y)),
    }
    library = {"copy": lambda: out.copy_(x), "write": lambda: out.fill_(2.5)}
    return (launches if config else library)[pattern], 4 * count * (reads + writes), expected[pattern]


@triton.jit
def read_blocks_again(x_ptr, sums_ptr, blocks, turns, BLOCK: tl.constexpr):
    """One sum a program over blocks that lie a grid apart, round and round; the cache of an SM is passed by."""
    total = tl.zeros((BLOCK,), tl.float32)
    for turn in range(turns):
        block = (tl.program_id(0) + turn * tl.num_programs(0)) % blocks
        total += tl.load(x_ptr + block * BLOCK + tl.arange(0, BLOCK), cache_modifier=".cg")
    tl.store(sums_ptr + tl.program_id(0), tl.sum(total, axis=0))


def repeated(footprint_bytes, total_bytes, config, sms, device="cuda", seed=0):
    """Return (function that reads a footprint over and over, bytes it reads, function that checks the result).

    Args:
        footprint_bytes: A multiple of every block: a power of two from 8 MiB on is.
        total_bytes: Least that one run reads; rounded up to whole passes over the footprint.
        config: BLOCK, num_warps, and programs an SM.
        sms: Of the device.
        device: Torch device.
        seed: Of the random data.
    """
    block, programs = config["BLOCK"], config["programs"] * sms
    blocks = footprint_bytes // (4 * block)
    step = blocks // math.gcd(programs, blocks)  # turns after which every block was read equally often
    turns = step * -(-total_bytes // (4 * block * programs * step))
    generator = torch.Generator(device=device).manual_seed(seed)
    x = torch.rand(blocks * block, generator=generator, device=device)
    sums = torch.full((programs,), float("nan"), device=device)
    expected = x.double().sum() * (programs * turns // blocks)
    return (
        lambda: read_blocks_again[(programs,)](x, sums, blocks, turns, block, num_warps=config["num_warps"]),
        4 * block * programs * turns,
        lambda: bool(torch.isclose(sums.double().sum(), expected, rtol=1e-4)),
    )


@triton.jit
def nothing():
    """Do nothing."""


def empty():
    """Launch a kernel of one program that does nothing."""
    nothing[(1,)]()

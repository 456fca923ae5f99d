"""Closed sets that name families of profile metrics: limiters, engines, pipes and stall reasons."""

from __future__ import annotations

from typing import Literal

__all__ = ["CACHE_LEVELS", "ENGINES", "FLOP_DTYPES", "LIMITERS", "PIPES", "STALL_REASONS", "SolClass", "Vendor"]

Vendor = Literal["nvidia", "amd"]
SolClass = Literal["small_grid", "latency", "compute", "memory", "balanced", "high_throughput"]

CACHE_LEVELS = ("l1", "l2")
ENGINES = ("vector", "matrix")
LIMITERS = ("blocks", "registers", "shared", "warps", "barriers")
FLOP_DTYPES = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp6", "fp4", "int32", "int64", "int8", "int4", "int1")
"""Types of operands. A counter that covers several of them is booked under the widest: ncu's utcqmma (fp4, fp6,
fp8) is fp8, AMD's F6F4 is fp6."""

_WAIT = "warps (mean an issue) that wait "
STALL_REASONS: dict[str, str] = {
    "barrier": _WAIT + "at a block barrier",
    "branch_resolving": _WAIT + "for a branch target",
    "dispatch_stall": _WAIT + "for the dispatcher",
    "drain": _WAIT + "after exit for their stores",
    "gmma": _WAIT + "for a warpgroup matrix operation or its arrival",
    "imc_miss": _WAIT + "for the immediate constant cache",
    "lg_throttle": _WAIT + "for the queue of local and global accesses",
    "long_scoreboard": _WAIT + "for L1, L2 or DRAM data",
    "math_pipe_throttle": _WAIT + "for a busy math pipe",
    "membar": _WAIT + "at a memory barrier",
    "mio_throttle": _WAIT + "for the queue of shared memory and special functions",
    "misc": _WAIT + "for another reason",
    "no_instruction": _WAIT + "for an instruction fetch",
    "not_selected": "warps (mean an issue) that could issue while another did",
    "selected": "warps (mean an issue) that issue: 1 by definition",
    "short_scoreboard": _WAIT + "for shared memory or special function data",
    "sleeping": _WAIT + "asleep",
    "tex_throttle": _WAIT + "for the texture queue",
    "wait": _WAIT + "a fixed latency",
    "vector_memory": _WAIT + "for vector memory (AMD s_waitcnt vmcnt)",
    "scalar_memory": _WAIT + "for scalar memory or LDS (AMD s_waitcnt lgkmcnt)",
    "any": _WAIT + "for any reason (AMD SQ_WAIT_ANY over issued instructions)",
    "issue": _WAIT + "for an issue slot (AMD SQ_WAIT_INST_ANY over issued instructions)",
}

_USE = "use of the "
PIPES: dict[str, str] = {
    "tensor": _USE + "matrix engine (tensor, MFMA)",
    "tensor_memory": _USE + "tensor memory pipe",
    "fma": _USE + "FP32 multiply-add pipe",
    "fp16": _USE + "packed FP16 pipe",
    "fp64": _USE + "FP64 pipe",
    "alu": _USE + "integer and logic pipe",
    "xu": _USE + "special function and conversion pipe",
    "lsu": _USE + "load and store pipe",
    "tex": _USE + "texture pipe",
    "tma": _USE + "bulk copy (TMA) pipe",
    "uniform": _USE + "uniform data path (scalar ALU on AMD)",
    "cbu": _USE + "control and barrier pipe",
    "adu": _USE + "address divergence pipe",
    "valu": _USE + "vector ALU (AMD)",
    "vmem": _USE + "vector memory unit (AMD)",
    "lds": _USE + "LDS unit (AMD)",
    "branch": _USE + "branch unit (AMD)",
}

"""The specialists of a performance task: what each does, on which hardware, and with which command; as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "CATEGORIES",
    "CUTE_TARGETS",
    "NOT_THE_SAME",
    "SAFETY_RULES",
    "SPECIALISTS",
    "Availability",
    "Specialist",
    "TaskCategory",
]  # fmt: skip

Availability = Literal["built_in", "outside", "not_available"]
"""Done by commands of kb, by a command of the user's that kb drives and judges, or by nobody here."""

TaskCategory = Literal[
    "cuda_graph", "profiling", "kernel", "triton", "tileir", "cute_dsl", "cutile", "other_language", "distributed",
    "parallelism",
]  # fmt: skip
"""What a request asks for."""

_AMPERE, _BLACKWELL = "sm_80", "sm_100"
"""Least targets of the table: the first with asynchronous copies, the first data-centre target with tensor memory."""


@dataclass(frozen=True, slots=True)
class Specialist:
    """One who does a kind of work.

    Attributes:
        name: As requests name it.
        does: What it is for, one clause.
        availability: Whether kb does it itself.
        command: The command, with words in capitals for what the task names; empty where nobody does it.
        least: Least NVIDIA target; empty: any.
        least_gemm: Least NVIDIA target of matrix products where that is another one.
        amd: Whether it works on AMD targets.
        needs: Command of kb without which it is not there; empty: always there.
    """

    name: str
    does: str
    availability: Availability
    command: str
    least: str = ""
    least_gemm: str = ""
    amd: bool = False
    needs: str = ""


SPECIALISTS: Mapping[str, Specialist] = {
    one.name: one
    for one in (
        Specialist(
            "perf-torch-cuda-graph-specialist", "captures and replays a torch callable as a CUDA graph", "built_in",
            "kb graph check FILE", needs="graph",
        ),
        Specialist(
            "perf-profiling-specialist", "measures, profiles and validates", "built_in",
            "kb profile run -- COMMAND; kb profile read REPORT; kb bench kernel WORKSPACE", amd=True,
        ),
        Specialist(
            "kernel-triton-specialist", "writes new Triton kernels", "built_in",
            "kb init NAME --platform PLATFORM --framework Triton --kernel-demo FILE; kb tune run WORKSPACE",
            least=_AMPERE, amd=True,
        ),
        Specialist(
            "kernel-tileir-specialist", "rewrites existing Triton kernels for TileIR; never writes new ones",
            "built_in", "kb tileir apply FILE", least=_BLACKWELL, needs="tileir",
        ),
        Specialist(
            "kernel-cute-specialist", "writes CuTe DSL kernels from examples", "outside",
            "kb init NAME --platform PLATFORM --framework CuteDSL --kernel-demo FILE; kb tune run WORKSPACE",
            least=_AMPERE, least_gemm=_BLACKWELL,
        ),
        Specialist(
            "kernel-cutile-specialist", "tunes cuTile kernels", "built_in",
            "kb cutile check DIR; kb cutile recipes FILE; kb init NAME --platform PLATFORM --framework cuTile "
            "--kernel-demo FILE; kb tune run WORKSPACE --policy cutile", least=_AMPERE, needs="cutile",
        ),
        Specialist(
            "kernel-outside-specialist", "writes kernels in HIP, CK, FlyDSL or CUDA C++", "outside",
            "kb tune run WORKSPACE --proposer COMMAND", amd=True,
        ),
        Specialist(
            "distributed-specialist", "overlaps communication, buckets gradients, chooses TP, PP or FSDP",
            "not_available", "", amd=True,
        ),
    )
}  # fmt: skip
"""Name → specialist; the first five are those of the coordination playbook."""

CATEGORIES: Mapping[TaskCategory, tuple[str, ...]] = {
    "cuda_graph": ("perf-torch-cuda-graph-specialist",),
    "profiling": ("perf-profiling-specialist",),
    "kernel": ("perf-profiling-specialist",),
    "triton": ("kernel-triton-specialist",),
    "tileir": ("kernel-triton-specialist", "kernel-tileir-specialist"),
    "cute_dsl": ("kernel-cute-specialist",),
    "cutile": ("kernel-cutile-specialist",),
    "other_language": ("kernel-outside-specialist",),
    "distributed": ("distributed-specialist",),
    "parallelism": ("distributed-specialist",),
}
"""Category → who does it, in order."""

NOT_THE_SAME = (
    "TileIR is a backend of Triton (nvtriton, ENABLE_TILE=1); CuTe DSL is CUTLASS's Python language and no Triton; "
    "cuTile is a third: cuda.tile"
)
"""What requests confuse."""

CUTE_TARGETS: Mapping[str, str] = {"rms_norm": "", "gemm": "sm_90", "attention": "sm_90"}
"""Operation → target that the package's CuTe DSL kernel is written for; empty: any. It was verified and timed there."""

SAFETY_RULES: tuple[str, ...] = (
    "measure the baseline before any change",
    "back up each file before it is modified",
    "one optimization at a time",
    "validate after each change: correctness, then time",
    "roll back on a wrong result, or when it is more than 5 % slower",
    "document every change",
)
"""What holds for every task; `kb tune` does each of them."""

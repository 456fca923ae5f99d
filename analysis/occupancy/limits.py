"""What a block uses and what an SM or CU offers: the two inputs of an occupancy calculation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire

__all__ = ["TENSOR_MEMORY_COLUMN_BYTES", "Limiter", "Limits", "Resources", "Vendor", "round_up"]

Vendor = Literal["nvidia", "amd"]

Limiter = Literal[
    "warps",
    "blocks",
    "registers",
    "scalar_registers",
    "shared_memory",
    "tensor_memory",
    "barriers",
    "cluster",
]

TENSOR_MEMORY_COLUMN_BYTES = 128 * 4
"""A tensor memory column is 128 lanes of 32 bits (PTX ISA, Tensor Memory Addressing)."""


def round_up(value: int, granule: int) -> int:
    """Return the smallest multiple of `granule` that is at least `value`."""
    return -(-value // granule) * granule


@dataclass(frozen=True, slots=True)
class Resources:
    """What one block (workgroup) of a kernel uses.

    Attributes:
        threads_per_block: Threads of a block.
        registers_per_thread: NVIDIA: registers; AMD: architectural VGPRs.
        accumulation_registers_per_thread: AMD AGPRs; 0 on NVIDIA.
        scalar_registers_per_warp: AMD SGPRs with the extra ones (VCC, …) included; 0 on NVIDIA.
        shared_static_bytes: Shared memory or LDS known to the binary.
        shared_dynamic_bytes: Shared memory or LDS asked for at launch.
        tensor_memory_bytes: Tensor memory as allocated; columns times `TENSOR_MEMORY_COLUMN_BYTES`.
        barriers: Named barriers a block uses; 1 is what `__syncthreads` takes.
        blocks_per_cluster: Blocks that are launched together; 1 without clusters.
    """

    threads_per_block: int
    registers_per_thread: int = 0
    accumulation_registers_per_thread: int = 0
    scalar_registers_per_warp: int = 0
    shared_static_bytes: int = 0
    shared_dynamic_bytes: int = 0
    tensor_memory_bytes: int = 0
    barriers: int = 1
    blocks_per_cluster: int = 1

    def __post_init__(self) -> None:
        """Refuse negative numbers and a block without threads."""
        for one in fields(self):
            if getattr(self, one.name) < 0:
                raise BadInput(f"{one.name} is negative", where="Resources", code="KB045")
        if self.threads_per_block == 0:
            raise BadInput("threads_per_block is 0", where="Resources", fix="give at least one thread", code="KB045")

    @property
    def shared_bytes(self) -> int:
        """Static plus dynamic shared memory of a block, in bytes."""
        return self.shared_static_bytes + self.shared_dynamic_bytes


@dataclass(frozen=True)
class Limits(Wire):
    """What one SM (CU) of a target offers; every number comes from a cited row, None is UNKNOWN.

    Field names are the wiki's metrics; on AMD the plain register fields are `file=vgpr` and the
    `scalar_` ones `file=sgpr`. Register counts are 32-bit registers with lanes included,
    `registers_per_thread` is per lane; `register_granule` is per warp on NVIDIA and per lane on AMD,
    as the vendors print it. `shared_memory_per_block` is the opt-in limit. A resource that the part
    does not have (NONE) is 0.

    Attributes:
        vendor: Whose allocation rules apply.
        citations: Citation line of each field that has one, by field name.
    """

    vendor: Vendor
    warp_size: int | None = None
    warps_per_sm: int | None = None
    warps_per_simd: int | None = None
    simds_per_sm: int | None = None
    threads_per_sm: int | None = None
    threads_per_block: int | None = None
    blocks_per_sm: int | None = None
    barriers_per_sm: int | None = None
    registers_per_sm: int | None = None
    registers_per_simd: int | None = None
    registers_per_block: int | None = None
    registers_per_thread: int | None = None
    register_granule: int | None = None
    scalar_registers_per_simd: int | None = None
    scalar_register_granule: int | None = None
    shared_memory_per_sm: int | None = None
    shared_memory_per_block: int | None = None
    shared_memory_reserved_per_block: int | None = None
    shared_memory_granule: int | None = None
    tensor_memory_per_sm: int | None = None
    cluster_size: int | None = None
    citations: Mapping[str, str] = field(default_factory=dict)

    def cite(self, name: str) -> str:
        """Return `name=value <- citation`; a citation line that names its metric itself stands alone."""
        value, source = getattr(self, name), self.citations.get(name, "")
        if " <- " in source:
            return source
        text = f"{name}={'UNKNOWN' if value is None else value}"
        return f"{text} <- {source}" if source else text

    @property
    def resident_warps(self) -> int | None:
        """Most warps on an SM: the row itself, else waves a SIMD times SIMDs, else threads over warp size."""
        if self.warps_per_sm is not None:
            return self.warps_per_sm
        if self.warps_per_simd is not None and self.simds_per_sm is not None:
            return self.warps_per_simd * self.simds_per_sm
        if self.threads_per_sm is not None and self.warp_size:
            return self.threads_per_sm // self.warp_size
        return None

    @property
    def simd_registers(self) -> int | None:
        """32-bit registers of one SIMD, lanes included: the row itself, else the SM's share."""
        if self.registers_per_simd is not None:
            return self.registers_per_simd
        if self.registers_per_sm is not None and self.simds_per_sm:
            return self.registers_per_sm // self.simds_per_sm
        return None

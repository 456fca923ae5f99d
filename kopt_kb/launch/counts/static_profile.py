"""Compile a kernel for a target without a GPU and read off what the hardware will be asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from kopt_kb.analysis.ir.machine.model import IsaResources, IsaScan
from kopt_kb.analysis.ir.machine.nvidia_resources import PtxasWarning, parse_ptxas_log
from kopt_kb.analysis.ir.machine.scan import scan_text
from kopt_kb.analysis.occupancy.limits import TENSOR_MEMORY_COLUMN_BYTES, Limits, Resources
from kopt_kb.analysis.occupancy.occupancy import Occupancy
from kopt_kb.base.wire import Wire, inside
from kopt_kb.kernels.launch_case import LaunchCase
from kopt_kb.launch.compile.pool import CompilePool
from kopt_kb.launch.compile.request import Compilation, CompileFailed, CompileRequest, KernelCase, OpCase, kernel_case
from kopt_kb.launch.compile.target import CompileTarget

__all__ = [
    "CompileCase", "CompiledKernel", "CompiledKernels", "FittedKernel", "as_case", "check_shared_memory",
    "compile_kernel", "profile_of",
]  # fmt: skip

CompileCase = LaunchCase | KernelCase | OpCase
"""Anything that can be compiled: a launch, a kernel of a file with its arguments, an op file with a shape."""

_REGISTER_BYTES = 4


@dataclass(frozen=True)
class CompiledKernel(Wire):
    """The static profile of one kernel on one target.

    Attributes:
        compilation: What the compiler gave, with versions, specialisation and options.
        assembler: The assembler's own resource lines.
        scan: Instruction classes: SASS or AMDGCN, PTX when no SASS was asked for.
        warnings: Performance warnings of ptxas.
    """

    WIRE: ClassVar = (
        "name", "target", "registers=assembler.registers",
        "accumulation_registers=assembler.accumulation_registers", "scalar_registers=assembler.scalar_registers",
        "spills=spill_bytes", "shared_bytes", "tensor_memory_columns", "stack_bytes=assembler.stack_bytes",
        "barriers=assembler.barriers", "matrix_instructions=scan.matrix", "matrix_shapes=scan.matrix_shapes",
        "accesses=scan._accesses", "features=scan.features", "tma=scan.uses_tma", "wgmma_serialised", "warnings",
        "num_warps", "num_stages", "num_ctas", "grid=compilation.grid", "versions=compilation.versions",
        "specialisation=compilation.specialisation", "constexprs=compilation.constexprs",
        "options=compilation.options", "seconds=compilation.seconds",
    )  # fmt: skip
    compilation: Compilation
    assembler: IsaResources
    scan: IsaScan
    warnings: tuple[PtxasWarning, ...] = ()

    @property
    def name(self) -> str:
        """Symbol of the kernel."""
        return self.compilation.name

    @property
    def target(self) -> str:
        """Public target name."""
        return self.compilation.target

    @property
    def shared_bytes(self) -> int:
        """Shared memory or LDS of a block: static of the binary plus dynamic of the launch, in bytes."""
        return self.compilation.metadata["shared"] + (self.assembler.shared_static_bytes or 0)

    @property
    def spill_bytes(self) -> int | None:
        """Bytes a thread spills: ptxas's spill stores, or 4 for each register LLVM spilled; None if unsaid."""
        if self.assembler.spilled_registers is not None:
            return _REGISTER_BYTES * self.assembler.spilled_registers
        return self.assembler.spill_store_bytes

    @property
    def wgmma_serialised(self) -> bool:
        """Whether ptxas says that warpgroup matrix instructions lost their overlap."""
        return any(warning.serialises_wgmma for warning in self.warnings)

    @property
    def resources(self) -> Resources:
        """What one block uses, for an occupancy calculation."""
        metadata = self.compilation.metadata
        return Resources(
            threads_per_block=metadata["num_warps"] * CompileTarget.parse(self.target).warp_size,
            registers_per_thread=self.assembler.registers or 0,
            accumulation_registers_per_thread=self.assembler.accumulation_registers or 0,
            scalar_registers_per_warp=self.assembler.scalar_registers or 0,
            shared_static_bytes=self.assembler.shared_static_bytes or 0,
            shared_dynamic_bytes=metadata["shared"],
            tensor_memory_bytes=metadata["tmem_size"] * TENSOR_MEMORY_COLUMN_BYTES,
            barriers=max(self.assembler.barriers or 0, 1),
            blocks_per_cluster=max(metadata["num_ctas"], 1),
        )

    @property
    def tensor_memory_columns(self) -> int:
        """Columns of tensor memory a block takes; 0 without tensor memory."""
        return self.compilation.metadata["tmem_size"]

    @property
    def num_warps(self) -> int:
        """Warps of a block."""
        return self.compilation.metadata["num_warps"]

    @property
    def num_stages(self) -> int:
        """Stages of the software pipeline."""
        return self.compilation.metadata["num_stages"]

    @property
    def num_ctas(self) -> int:
        """Blocks of a cluster."""
        return self.compilation.metadata["num_ctas"]


def compile_kernel(
    case: CompileCase,
    target: str,
    *,
    limits: Limits | None = None,
    pool: CompilePool | None = None,
    disassemble: bool = True,
    facts: Mapping[str, int] | None = None,
) -> tuple[CompiledKernel, ...]:
    """Return the static profile of a kernel, or of all kernels that an op file launches for a shape.

    Args:
        case: What to compile.
        target: Such as `sm_90` or `gfx942`; `kopt_kb/launch/compile/target.py` lists those that are tested.
        limits: Sourced limits; shared memory above them is refused, which Triton leaves to the launch.
        pool: Warm workers to use, with limits of their own; else one is started and ended.
        disassemble: Whether to read SASS; without it the instruction classes come from PTX.
        facts: Sourced properties of the device, for modules that ask as they are imported.

    Raises:
        BadInput: File, kernel, argument or target is wrong.
        MissingTool: Triton is not installed.
        CompileFailed: The compiler refuses, dies or overruns, or the result can't be launched.
    """
    request = CompileRequest(as_case(case), CompileTarget.parse(target).name, disassemble, facts=facts or {})
    if pool is not None:
        compiled = pool.compile(request)
    else:
        with CompilePool() as own:
            compiled = own.compile(request)
    profiles = tuple(profile_of(one) for one in compiled)
    if limits is not None:
        check_shared_memory(profiles, limits)
    return profiles


@dataclass(frozen=True, slots=True)
class FittedKernel(Wire):
    """A compiled kernel and how many of its blocks fit on an SM; None where no platform was named."""

    WIRE: ClassVar = (*inside("compiled", CompiledKernel), "occupancy")
    compiled: CompiledKernel
    occupancy: Occupancy | None


@dataclass(frozen=True, slots=True)
class CompiledKernels(Wire):
    """The static profiles of several kernels."""

    kernels: tuple[FittedKernel, ...]


def as_case(case: CompileCase) -> KernelCase | OpCase:
    """Return the case as data that a worker can be sent."""
    return kernel_case(case) if isinstance(case, LaunchCase) else case


def profile_of(compilation: Compilation) -> CompiledKernel:
    """Return the profile of a raw compilation: texts scanned, resource lines read."""
    scans = scan_text(compilation.assembly or compilation.ptx, where=compilation.name, kernel=compilation.name)
    scan = next((one for one in scans if one.kernel == compilation.name), scans[0])
    if scan.isa == "amdgcn":
        return CompiledKernel(compilation, scan.resources or IsaResources(), scan)
    found, warnings = parse_ptxas_log(compilation.assembler_log)
    return CompiledKernel(compilation, found.get(compilation.name, IsaResources()), scan, warnings)


def check_shared_memory(profiles: Iterable[CompiledKernel], limits: Limits) -> None:
    """Raise `CompileFailed` when a kernel asks for more shared memory than the sourced limit of a block."""
    most = limits.shared_memory_per_block
    for profile in profiles:
        if most is not None and profile.shared_bytes > most:
            raise CompileFailed.of(
                "shared_memory",
                f"{profile.shared_bytes} B of shared memory, more than a block may use "
                f"({limits.cite('shared_memory_per_block')})",
                where=f"{profile.name} on {profile.target}",
                fix="smaller tiles or fewer stages",
            )

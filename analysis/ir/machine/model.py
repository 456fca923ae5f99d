"""The result of an ISA scan: instructions by class, memory accesses by space and width, resources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from kopt_kb.base.wire import Wire

__all__ = ["Access", "AccessKind", "Isa", "IsaResources", "IsaScan", "IsaTally", "MemorySpace"]

Isa = Literal["sass", "ptx", "amdgcn"]
MemorySpace = Literal["global", "shared", "local", "generic", "tensor", "scalar"]
AccessKind = Literal["load", "store", "copy", "atomic"]


@dataclass(frozen=True, slots=True, order=True)
class Access:
    """One kind of memory instruction.

    Attributes:
        space: `local` is private memory (SASS LDL/STL, AMD scratch), where spills go; `scalar` AMD s_load.
        kind: `copy` goes from global to shared memory without registers (LDGSTS, cp.async, load to LDS).
        width_bits: Bits each thread moves in one instruction.
    """

    space: MemorySpace
    kind: AccessKind
    width_bits: int


@dataclass(frozen=True, slots=True)
class IsaResources(Wire):
    """What the assembler says a kernel uses; None where the text doesn't say.

    Attributes:
        registers: NVIDIA registers a thread; AMD architectural VGPRs.
        accumulation_registers: AMD AGPRs.
        scalar_registers: AMD SGPRs a wave.
        spill_store_bytes: Bytes a thread stores to spill registers.
        spill_load_bytes: Bytes a thread loads to bring them back.
        spilled_registers: AMD: VGPRs and SGPRs that were spilled.
        stack_bytes: Private memory a thread (NVIDIA stack frame, AMD scratch).
        shared_static_bytes: Shared memory or LDS known to the binary, the system's reserve not included.
        barriers: Named barriers.
    """

    registers: int | None = None
    accumulation_registers: int | None = None
    scalar_registers: int | None = None
    spill_store_bytes: int | None = None
    spill_load_bytes: int | None = None
    spilled_registers: int | None = None
    stack_bytes: int | None = None
    shared_static_bytes: int | None = None
    barriers: int | None = None

    @property
    def spills(self) -> bool | None:
        """Whether any register is spilled; None when the text doesn't say."""
        said = [
            value
            for value in (self.spill_store_bytes, self.spill_load_bytes, self.spilled_registers)
            if value is not None
        ]
        return any(said) if said else None


@dataclass(frozen=True, slots=True)
class AccessCount(Wire):
    """How many memory instructions of one space, kind and width there are."""

    space: MemorySpace
    kind: AccessKind
    width_bits: int
    count: int


@dataclass
class IsaTally:
    """Counters that a scanner fills while it reads one kernel."""

    kernel: str
    instructions: int = 0
    matrix: Counter[str] = field(default_factory=Counter)
    matrix_shapes: Counter[str] = field(default_factory=Counter)
    accesses: Counter[Access] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    resources: IsaResources | None = None

    def add_matrix(self, family: str, shape: str) -> None:
        """Count one matrix instruction of that family and full spelling."""
        self.matrix[family] += 1
        self.matrix_shapes[shape] += 1

    def add_access(self, space: MemorySpace, kind: AccessKind, width_bits: int) -> None:
        """Count one memory instruction."""
        self.accesses[Access(space, kind, width_bits)] += 1


@dataclass(frozen=True)
class IsaScan(Wire):
    """What one kernel's instructions are. Counts are static: how often they stand in the text.

    Attributes:
        kernel: Symbol of the kernel.
        isa: Instruction set.
        target: `sm_90`, `gfx942`, …; empty when the text doesn't say.
        instructions: All instructions.
        matrix: Matrix instructions by family (HGMMA, UTCHMMA, MFMA, …).
        matrix_shapes: The same by full spelling, shape and types included.
        accesses: Memory instructions by space, kind and width.
        features: Other classes (barrier, shuffle, special_function, tma_load, …).
        resources: Register, spill and memory use, where the text has it.
    """

    WIRE: ClassVar = (
        "name=kernel", "isa", "target", "instructions", "matrix_instructions=matrix", "matrix_shapes",
        "accesses=_accesses", "features", "resources",
    )  # fmt: skip
    kernel: str
    isa: Isa
    target: str
    instructions: int
    matrix: Mapping[str, int]
    matrix_shapes: Mapping[str, int]
    accesses: Mapping[Access, int]
    features: Mapping[str, int]
    resources: IsaResources | None = None

    @classmethod
    def of(cls, tally: IsaTally, isa: Isa, target: str) -> IsaScan:
        """Freeze a tally, in a stable order."""
        return cls(
            kernel=tally.kernel,
            isa=isa,
            target=target,
            instructions=tally.instructions,
            matrix=_by_count(tally.matrix),
            matrix_shapes=_by_count(tally.matrix_shapes),
            accesses=dict(sorted(tally.accesses.items())),
            features=_by_count(tally.features),
            resources=tally.resources,
        )

    def count(self, space: MemorySpace, kinds: Iterable[AccessKind], *, at_least_bits: int = 0) -> int:
        """Return the memory instructions of that space and those kinds, of at least that width."""
        wanted = set(kinds)
        return sum(
            number
            for access, number in self.accesses.items()
            if access.space == space and access.kind in wanted and access.width_bits >= at_least_bits
        )

    def wide_share(self, space: MemorySpace, kinds: Iterable[AccessKind], *, bits: int) -> float | None:
        """Return the share (0 to 1) of at least `bits` wide; None when there is no such access."""
        kinds = tuple(kinds)
        total = self.count(space, kinds)
        return self.count(space, kinds, at_least_bits=bits) / total if total else None

    @property
    def uses_tma(self) -> bool:
        """Whether a tensor memory accelerator copy occurs."""
        return any(self.features.get(name) for name in ("tma_load", "tma_store", "tma_reduce"))

    @property
    def _accesses(self) -> tuple[AccessCount, ...]:
        return tuple(AccessCount(one.space, one.kind, one.width_bits, count) for one, count in self.accesses.items())


def _by_count(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))

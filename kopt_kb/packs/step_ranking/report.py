"""What a step of a model is made of: the documents of `kb profile step`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from kopt_kb.analysis.profile.timeline import DeviceTimeline
from kopt_kb.base.wire import Wire
from kopt_kb.packs.step_ranking.kernel_names import KernelCategory
from kopt_kb.quantity import Exactness

__all__ = ["CategoryShare", "OperatorTime", "StepChange", "StepReport"]

StepChange = Literal["library", "kernel", "fusion", "layout", "graph", "overlap", "unknown"]


@dataclass(frozen=True, slots=True)
class OperatorTime(Wire):
    """Calls of one form in a step, with the kernels that they launched.

    Attributes:
        operator: Its name, empty where no operator is known and the kernel's name stands for itself.
        shapes: Extents and types of its tensors, in words.
        category: What it is.
        count: Calls in the step.
        kernels: Names of the kernels of a call.
        library: Library, tile and type that the first kernel's name says; empty: none.
        total_s: Time of all calls on the GPU.
        share: Of the step's time on the GPU.
        roof_s: Least time of all calls under the roofs of the product; None where nothing says their work.
        roof: Roof that binds, `bf16 matrix` or `dram`; empty without one.
        roof_basis: `documented`, or `vendor_measured` where a product has no documented roof.
        counts: Whether work is exact or a bound.
        floor_s: Time below which no correct kernel can be, for products of matrices; None for other work.
        share_of_roof: roof_s / total_s. Above 1: inputs came from a cache.
        won_s: What the step is shorter by at most if all calls reach their roof.
        change: The class of change that this needs.
        why: The same in words; without a roof, why there is none.
    """

    WIRE: ClassVar = (
        "operator", "shapes", "category", "count", "kernels", "library", "total_s", "share", "roof_s", "roof",
        "roof_basis", "counts", "floor_s", "share_of_roof", "won_s", "change", "why",
    )  # fmt: skip
    operator: str
    shapes: str
    category: KernelCategory
    count: int
    kernels: tuple[str, ...]
    library: str
    total_s: float
    share: float
    roof_s: float | None = None
    roof: str = ""
    roof_basis: str = ""
    counts: Exactness | Literal["mixed", ""] = ""
    floor_s: float | None = None
    won_s: float | None = None
    change: StepChange = "unknown"
    why: str = ""

    @property
    def is_transfer(self) -> bool:
        """Whether it is a copy or fill that no kernel does."""
        return not self.operator and self.kernels[0].startswith(("Memcpy", "Memset", "Copy", "Fill"))

    @property
    def share_of_roof(self) -> float | None:
        """Part of the roof that is reached."""
        return self.roof_s / self.total_s if self.roof_s is not None and self.total_s else None


@dataclass(frozen=True, slots=True)
class CategoryShare(Wire):
    """One category: its time on the GPU, the part of it with a roof, and what could be won in it at most."""

    category: KernelCategory
    count: int
    total_s: float
    share: float
    roofed_s: float
    won_s: float


@dataclass(frozen=True, slots=True)
class StepReport(Wire):
    """One step of a trace.

    Attributes:
        file: The trace.
        device: Product as the trace names it.
        platform: Product whose roofs were taken, empty where nobody named one.
        step: What marks the step.
        found_by: How steps were found.
        steps: How many there are; the one shown has the median time on the GPU.
        host_s: Length of its range.
        gpu_s: Sum of its kernels, copies and fills.
        kernel_s: Sum of its kernels.
        roofed_s: Part of kernel_s that has a roof.
        launches: Calls of the host that launched its work.
        launch_s: Time in those calls.
        graph_won_s: What a CUDA or HIP graph would save at most: idle time in which the host had not launched yet.
        categories: By time.
        ranked: By time that could be won.
        unroofed: Without a roof, by time.
        timelines: What each GPU did in the step.
        notes: What a reader must know.
    """

    WIRE: ClassVar = (
        "file", "device", "platform", "step", "found_by", "steps", "host_s", "gpu_s", "kernel_s", "roofed_s",
        "covered", "launches", "launch_s", "graph_won_s", "categories", "ranked", "unroofed", "timelines", "notes",
    )  # fmt: skip
    file: str
    device: str
    platform: str
    step: str
    found_by: str
    steps: int
    host_s: float
    gpu_s: float
    kernel_s: float
    roofed_s: float
    launches: int
    launch_s: float
    graph_won_s: float
    categories: tuple[CategoryShare, ...]
    ranked: tuple[OperatorTime, ...]
    unroofed: tuple[OperatorTime, ...]
    timelines: tuple[DeviceTimeline, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def covered(self) -> float:
        """Share of the time of kernels that has a roof."""
        return self.roofed_s / self.kernel_s if self.kernel_s else 0.0

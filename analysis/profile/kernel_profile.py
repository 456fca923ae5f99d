"""A kernel as one report shows it: every launch of one configuration in one vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kopt_kb.analysis.profile.families import LIMITERS, STALL_REASONS, SolClass
from kopt_kb.analysis.profile.launch import Dim3, HotSpot, ProfiledLaunch, ReportPlace, ReportSource, StoredRule
from kopt_kb.analysis.profile.names import KernelRole, function_name, role_of
from kopt_kb.analysis.profile.sol import sol_class_of
from kopt_kb.analysis.profile.vocabulary import definition_of
from kopt_kb.base.markup.html import fragment
from kopt_kb.base.wire import Wire
from kopt_kb.quantity import Exactness
from kopt_kb.quantity.readable import duration

__all__ = ["DurationStats", "KernelProfile"]


@dataclass(frozen=True, slots=True)
class DurationStats(Wire):
    """Times of the launches that have one, in seconds."""

    count: int
    total_s: float
    median_s: float
    min_s: float
    max_s: float


@dataclass(frozen=True, slots=True)
class KernelProfile(Wire):
    """All launches of one kernel with one grid and block.

    Attributes:
        name: Kernel name as the report prints it.
        demangled: Full name with parameters, as far as the report has it.
        source: File, format, tool and vendor.
        place: Where the first launch stands.
        launch_count: Number of launches; may exceed `len(launches)` for traces too large to keep.
        metrics: Normalised metrics by vocabulary id. Amounts are the mean of one launch (sum over launches
            divided by their number), rates and shares are weighted by duration, `duration_s` is the median.
            What was not collected has no entry and is never 0.
        durations: Statistics of the times, None when no launch has one.
        launches: Records of single launches, in the report's order.
        bounds: Ids whose value is only a lower or upper bound.
        device: Name of the device, empty when unknown.
        target: Compiler target, empty when unknown.
        grid: Blocks along each axis.
        block: Threads of a block along each axis.
        rules: Verdicts the tool stored with the first launch that has any.
        hot_spots: Costs of single instructions, from traces.
        notes: What a reader should know: truncated input, a locale that was decided, skipped rows.
    """

    name: str
    demangled: str
    source: ReportSource
    place: ReportPlace
    launch_count: int
    metrics: Mapping[str, float]
    durations: DurationStats | None = None
    launches: tuple[ProfiledLaunch, ...] = ()
    bounds: Mapping[str, Exactness] = field(default_factory=dict)
    device: str = ""
    target: str = ""
    grid: Dim3 | None = None
    block: Dim3 | None = None
    rules: tuple[StoredRule, ...] = ()
    hot_spots: tuple[HotSpot, ...] = ()
    notes: tuple[str, ...] = ()

    WIRE: ClassVar = (
        "name", "function", "demangled", "role", "vendor=source.vendor", "device=known_device", "target=known_target",
        "file=source.file", "place=place.text", "grid", "block", "launches=launch_count", "duration_s", "durations",
        "metrics", "sol_class", "bounds", "occupancy_limiters", "rules", "hot_spots",
        "launch_records=launches", "notes",
    )  # fmt: skip
    """One element of `kernels` of `kb profile read --json`, without the verdict."""

    def __repr__(self) -> str:
        time = "no time" if self.durations is None else f"median {duration(self.durations.median_s)}"
        count = f"{self.launch_count} launch{'' if self.launch_count == 1 else 'es'}"
        return f"KernelProfile({self.function}: {count}, {time}, {len(self.metrics)} metrics)"

    def _repr_html_(self) -> str:
        from kopt_kb.analysis.profile.shown import profile_blocks

        return fragment(*profile_blocks(self))

    @property
    def known_device(self) -> str | None:
        """Name of the device, None when unknown."""
        return self.device or None

    @property
    def known_target(self) -> str | None:
        """Compiler target, None when unknown."""
        return self.target or None

    @property
    def function(self) -> str:
        """The bare function name: no return type, namespace, template arguments or parameters."""
        return function_name(self.demangled or self.name)

    @property
    def role(self) -> KernelRole:
        """Whether this is the user's work, a collective, or a helper of the runtime."""
        return role_of(self.function)

    @property
    def duration_s(self) -> float | None:
        """Median time of a launch, None when none was recorded."""
        return self.durations.median_s if self.durations else None

    def get(self, metric: str) -> float | None:
        """Return a metric, or None when it was not collected; raises `BadInput` for an unknown id."""
        definition_of(metric)
        return self.metrics.get(metric)

    def bound(self, metric: str) -> Exactness:
        """Return whether a metric is exact, a lower or an upper bound; raises `BadInput` for an unknown id."""
        definition_of(metric)
        return self.bounds.get(metric, "exact")

    def absent(self, *metrics: str) -> tuple[str, ...]:
        """Return those of the ids that were not collected."""
        return tuple(one for one in metrics if self.get(one) is None)

    def rate(self, amount: str) -> float | None:
        """Return an amount per second of GPU time: both summed over launches, then divided."""
        value = self.get(amount)
        if value is None or self.durations is None or self.durations.total_s <= 0:
            return None
        return value * self.durations.count / self.durations.total_s

    @property
    def flops(self) -> dict[tuple[str, str], float]:
        """Operations of one launch by (dtype, engine); a pair that was not counted is missing, not 0."""
        found: dict[tuple[str, str], float] = {}
        for name, value in self.metrics.items():
            family, _, rest = name.partition(".")
            if family == "flops":
                engine, _, dtype = rest.partition(".")
                found[dtype, engine] = value
        return found

    @property
    def stalls(self) -> dict[str, float]:
        """Stall reasons with warps waiting per issued instruction, largest first; `selected` left out."""
        found = {one: self.metrics[f"stall.{one}"] for one in STALL_REASONS if f"stall.{one}" in self.metrics}
        found.pop("selected", None)
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    @property
    def occupancy_limits(self) -> dict[str, float]:
        """Blocks an SM can hold by each resource that the report names."""
        limits = {one: self.metrics.get(f"occupancy_limit.{one}") for one in LIMITERS}
        return {one: value for one, value in limits.items() if value is not None}

    @property
    def occupancy_limiters(self) -> frozenset[str]:
        """The resources that allow the fewest blocks; several on a tie, empty when none is known."""
        limits = self.occupancy_limits
        return frozenset(one for one, value in limits.items() if value == min(limits.values()))

    @property
    def sol_class(self) -> SolClass | None:
        """Class by ncu's Speed-of-Light rule (`sol.py`), None without its metrics."""
        return sol_class_of(self.metrics)

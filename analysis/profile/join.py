"""Kernels of a trace joined with those of a report of counters: time from the one, what limits it from the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from kopt_kb.analysis.profile.kernel_profile import KernelProfile

__all__ = ["Counterparts", "with_counters"]

_OF_THE_RUN = frozenset({"duration_s"})


@dataclass(slots=True)
class Counterparts:
    """Kernels of reports of counters, found by name and shape.

    Attributes:
        used: Those that a kernel of a trace was joined with.
    """

    used: set[int] = field(default_factory=set)
    _by_name: dict[str, list[KernelProfile]] = field(default_factory=dict)
    _by_function: dict[str, list[KernelProfile]] = field(default_factory=dict)

    @classmethod
    def of(cls, profiles: Iterable[KernelProfile]) -> Counterparts:
        """Return the index of kernels with counters."""
        found = cls()
        for one in profiles:
            found._by_name.setdefault(one.demangled, []).append(one)
            found._by_function.setdefault(one.function, []).append(one)
        return found

    def find(self, profile: KernelProfile) -> KernelProfile | None:
        """Return the kernel with counters that is this one; None where there is none, or several that differ.

        The full name decides, else the function. Of several the one with the same grid and block, else with the same
        block; without shapes in the trace only a single one.
        """
        for index, name in ((self._by_name, profile.demangled), (self._by_function, profile.function)):
            same = index.get(name, [])
            for shape in ((profile.grid, profile.block), (None, profile.block)):
                if profile.block is not None:
                    fits = [one for one in same if one.block == shape[1] and shape[0] in {None, one.grid}]
                    if len(fits) == 1:
                        return self._take(fits[0])
            if len(same) == 1 and (profile.block is None or same[0].block is None):
                return self._take(same[0])
        return None

    def _take(self, profile: KernelProfile) -> KernelProfile:
        self.used.add(id(profile))
        return profile


def with_counters(profile: KernelProfile, counters: KernelProfile) -> KernelProfile:
    """Return a kernel of a trace with the counters of another report; its times stay those of the trace."""
    counted: Mapping[str, float] = {name: one for name, one in counters.metrics.items() if name not in _OF_THE_RUN}
    return replace(
        profile,
        metrics={**profile.metrics, **counted},
        bounds=counters.bounds,
        rules=counters.rules,
        hot_spots=counters.hot_spots,
        device=profile.device or counters.device,
        target=profile.target or counters.target,
        notes=(*profile.notes, *counters.notes, f"counters of {counters.place}"),
    )

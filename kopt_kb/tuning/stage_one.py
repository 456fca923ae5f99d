"""Stage 1 of the route pytorch: the first kernel, who proposes it, and what it needs before it is the baseline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kopt_kb.analysis.frameworks import framework_named
from kopt_kb.runners.candidate.answers import Check
from kopt_kb.tuning.proposals import Proposal, View
from kopt_kb.tuning.proposers import declared_of, packaged_kernel

__all__ = ["PackagedProposer", "unmet"]


@dataclass(frozen=True, slots=True)
class PackagedProposer:
    """Offers the package's own kernel of the operation, as it starts, where a Triton kernel is to be implemented."""

    name: str = "package"
    category: str = "implementation"

    def propose(self, view: View) -> Proposal | None:
        """Return the package's kernel once; None when the kernel is there, or is to be in another framework."""
        framework = framework_named(view.framework)
        if view.stage != "implement" or framework is None or framework.name != "Triton":
            return None
        source = packaged_kernel(view.op)
        declared = declared_of(source) if source is not None else None
        if source is None or declared is None or declared.op != view.op:
            return None
        claim = f"implement {view.op} in {framework.name}: the package's kernel as it starts"
        if view.earlier(self.category, claim) is not None:
            return None
        return Proposal(self.category, claim, "a correct kernel on every shape", self.name, source)


def unmet(shapes: Iterable[str], repeats: int, check: Check, times: Mapping[str, Sequence[float]]) -> tuple[str, ...]:
    """Return what is missing for a candidate whose gates passed to end Stage 1; empty when nothing is.

    That its kernel is one of the declared framework is the lint gate's word, that it is right the correctness gate's.

    Args:
        shapes: All shapes of the problem, as written.
        repeats: Timings that each shape needs.
        check: Answer of its correctness run.
        times: Shape → its recorded times, in seconds.
    """
    known = check.rel_l2_err_by_shape or {}
    found = []
    for shape in shapes:
        error = known.get(shape)
        if error is None or not math.isfinite(error):
            found.append(f"no rel_l2_err of {shape} is recorded")
        if len(times.get(shape, ())) < repeats:
            found.append(f"{shape} has fewer than {repeats} times")
    return tuple(found)

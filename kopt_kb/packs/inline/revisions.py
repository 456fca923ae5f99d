"""A kernel file of this tree against the same file of another revision, for a test."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.base.errors import BadInput, FindingError
from kopt_kb.launch.counts.device_facts import device_facts
from kopt_kb.launch.judge.revisions import ComparisonPlan, Revision, RevisionCase, compare_revisions
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.launch.judge.sides import sides
from kopt_kb.packs.inline import codes
from kopt_kb.problem.shapes import parse_shape
from kopt_kb.wiki.registry import Registry

__all__ = ["KernelProblem", "kernel_ratio"]


@dataclass(frozen=True, slots=True)
class KernelProblem:
    """On what a kernel file is compared.

    Attributes:
        shape: Such as 8192x4096.
        dtype: Storage type.
        platform: Product that both are recorded for.
        config: Tuning values.
        regression: More time that is looked for, in percent.
        reference: File with make_inputs and reference of an operation that is not packaged.
    """

    shape: str
    dtype: str
    platform: str
    config: Mapping[str, object] = field(default_factory=dict)
    regression: float = 2.0
    reference: str = ""


def kernel_ratio(file: str, base: str, problem: KernelProblem, kernels: int = 1) -> float:
    """Return the time of a kernel file here over that of the same file in a base; 1 where the code is the same.

    Args:
        file: The op file, below the current folder.
        base: A git revision or a folder.
        problem: On what it is compared.
        kernels: Kernels of the whole run, which share its false alarms.

    Raises:
        FindingError: It is slower, wrong or at fault, or that is undecided.
        BadInput: There is no such file or base.
    """
    found = Registry.open().platform(problem.platform)
    target = RecordTarget(found.identity.target, found.identity.platform, device_facts(found))
    references = (Path(problem.reference),) if problem.reference else ()
    plan = ComparisonPlan(target, references, math.log1p(problem.regression / 100), kernels=kernels)
    with sides(base, ".") as both:
        files = [side.path / file for side in both]
        for one in files:
            if not one.is_file():
                what = f"{base} has no {file}" if one is files[0] else "no such file"
                raise BadInput(what, where=file, fix="name a file of both", code="KB110")
        before, now = (Revision(side.label, one, problem.config) for side, one in zip(both, files, strict=True))
        case = RevisionCase(Path(file).name, file, parse_shape(problem.shape), problem.dtype, before, now)
        compared = compare_revisions([case], (base, "."), plan)
    kernel = compared.cases[0].kernel
    if compared.verdict != "no_regression":
        what, where = f"{kernel.verdict} against {base}: {kernel.reason}", f"{file} {problem.shape} {problem.dtype}"
        code = codes.UNDECIDED_REGRESSION if compared.verdict == "undecided" else codes.REGRESSION
        raise FindingError(what, where=where, fix="kb bench compare --json has its blocks", code=code)
    return kernel.ratio or 1.0

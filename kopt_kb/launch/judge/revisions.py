"""Two revisions of a set of kernels: recorded once each, equal ones told apart from changed ones, those timed.

What is timed shares one error: a run in which no time changed fails at most once in 100, however many kernels it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kopt_kb.base.errors import BadInput, KoptError, MissingTool
from kopt_kb.base.wire import JsonMap, Wire
from kopt_kb.launch.judge.blocks import ComparedKernel, compare_records, is_same_kernel
from kopt_kb.launch.judge.judges import Starting, judges
from kopt_kb.launch.judge.makers import Makers, make_records
from kopt_kb.launch.judge.records import packaged_reference
from kopt_kb.launch.judge.regression import FALSE_ALARM, REGRESSION
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.launch.kernel.declared import read_declared
from kopt_kb.launch.record.judge import load_record
from kopt_kb.launch.record.request import MakerRequest, OpRequest
from kopt_kb.problem.shapes import Shape, format_shape
from kopt_kb.sandbox.owned import owned_folder

__all__ = ["ComparedCase", "Revision", "RevisionCase", "RunComparison", "RunVerdict", "compare_revisions"]

RunVerdict = Literal["regression", "no_regression", "undecided"]

_FAILS = frozenset({"regression", "wrong", "fault"})


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of a kernel.

    Attributes:
        label: As a reader knows it.
        file: The op file; None where this revision has none.
        config: Tuning values; empty: what the file takes itself.
        python: Interpreter whose compiler is used; empty: this one.
    """

    label: str
    file: Path | None
    config: JsonMap = field(default_factory=dict)
    python: str = ""


@dataclass(frozen=True, slots=True)
class RevisionCase:
    """One problem with both revisions of the kernel that computes it; `file` is what a finding is shown at."""

    name: str
    file: str
    shape: Shape
    dtype: str
    base: Revision
    head: Revision


@dataclass(frozen=True, slots=True)
class ComparedCase(Wire):
    """What was seen of a case.

    Attributes:
        name: Of the kernel.
        file: What a finding is shown at: the kernel's file, or the table of a row.
        shape: Of the problem.
        dtype: Storage type.
        base: Label of the base.
        head: Label of the head.
        compared: Whether there were two revisions; a kernel that the base has not is new.
        kernel: What was seen.
    """

    name: str
    file: str
    shape: str
    dtype: str
    base: str
    head: str
    compared: bool
    kernel: ComparedKernel


@dataclass(frozen=True, slots=True)
class RunComparison(Wire):
    """A run.

    Attributes:
        verdict: `regression` where any kernel is slower, wrong or at fault; `undecided` where nothing was compared, or
            any kernel is undecided; `no_regression` otherwise.
        base: As it was given.
        head: Likewise.
        platform: Product that records were made for.
        regression_pct: More time that was looked for, in percent.
        false_alarm: Most probability that a run fails in which no time changed.
        timed: Kernels that were timed.
        cases: Each kernel.
    """

    verdict: RunVerdict
    base: str
    head: str
    platform: str
    regression_pct: float
    false_alarm: float
    timed: int
    cases: tuple[ComparedCase, ...]


@dataclass(frozen=True, slots=True)
class ComparisonPlan:
    """How a run is made.

    Attributes:
        target: For what records are made.
        references: Files with `make_inputs` and `reference`, each of the operation that it declares, in place of the
            package's.
        regression: Log ratio that is looked for.
        seconds: Most seconds a kernel.
        kernels: Kernels of a whole run of which this is a part; 0: those that are timed here are all.
        starting: How judges are started; None: as processes of this package.
        tell: Is told what happens, for whoever waits.
    """

    target: RecordTarget
    references: Sequence[Path] = ()
    regression: float = REGRESSION
    seconds: float = 60.0
    kernels: int = 0
    starting: Starting | None = None
    tell: Callable[[str], None] = lambda _: None


def compare_revisions(cases: Sequence[RevisionCase], named: tuple[str, str], plan: ComparisonPlan) -> RunComparison:
    """Compare both revisions of each case; `named` is how base and head were given.

    Raises:
        BadInput: A case can't be judged: no reference, no op file.
        MissingTool: A compiler or the GPU is missing.
    """
    own = {read_declared(one).op: one for one in plan.references}
    seen: dict[int, ComparedKernel] = {}
    with owned_folder("kb-compare-") as folder:
        made = _recorded(cases, plan, folder)
        changed: dict[int, tuple[Path, Path]] = {}
        for number, (base, head) in enumerate(made):
            if isinstance(base, ComparedKernel):
                seen[number] = base
            elif isinstance(head, ComparedKernel):
                seen[number] = head
            elif is_same_kernel(base, head):
                seen[number] = ComparedKernel("equal", "the same steps, and code that a driver can't tell apart")
            else:
                changed[number] = base, head
        if changed:
            with judges(_reference(own, next(iter(changed.values()))[0]), plan.starting) as children:
                for count, (number, (base, head)) in enumerate(changed.items(), start=1):
                    plan.tell(f"timing {cases[number].name}, {count} of {len(changed)}, at most {plan.seconds:g} s")
                    children.judged_by(_reference(own, base))
                    seen[number] = compare_records(
                        children,
                        base,
                        head,
                        kernels=max(len(changed), plan.kernels),
                        regression=plan.regression,
                        seconds=plan.seconds,
                    )
    listed = tuple(_case(one, seen[number]) for number, one in enumerate(cases))
    return RunComparison(
        _verdict(listed), *named, plan.target.device, round(100 * math.expm1(plan.regression), 6), FALSE_ALARM,
        len(changed), listed,
    )  # fmt: skip


_Recorded = Path | ComparedKernel
"""Folder of a record, or what is said of the kernel where there is none."""


def _reference(own: Mapping[str, Path], base: Path) -> Path:
    """Return the file that judges a record: of its operation's among those given, else the package's."""
    return own.get(load_record(base).op) or packaged_reference(base)


def _recorded(cases: Sequence[RevisionCase], plan: ComparisonPlan, folder: Path) -> list[tuple[_Recorded, _Recorded]]:
    """Record both revisions of each case, each compiler's side by side."""
    target = plan.target
    found: dict[tuple[int, str], _Recorded] = {}
    asked: dict[str, list[tuple[tuple[int, str], MakerRequest, Path]]] = {}
    for number, case in enumerate(cases):
        for side, revision in (("base", case.base), ("head", case.head)):
            if revision.file is None:
                verdict: Literal["undecided", "fault"] = "fault" if side == "head" else "undecided"
                found[number, side] = ComparedKernel(verdict, f"{revision.label} has no such file")
                continue
            what = OpRequest(str(revision.file), case.shape, case.dtype, dict(revision.config))
            request = MakerRequest(what, target.target, target.device, target.facts, "")
            asked.setdefault(revision.python, []).append(((number, side), request, folder / f"{number}.{side}"))
    for python, wanted in asked.items():
        plan.tell(f"recording {len(wanted)} kernels without a GPU" + (f" by {python}" if python else ""))
        with _makers(python, len(wanted)) as makers:
            for (key, _, out), one in zip(wanted, make_records([each[1:] for each in wanted], makers), strict=True):
                found[key] = out if one.error is None else _refused(key[1], one.error)
    return [(found[number, "base"], found[number, "head"]) for number in range(len(cases))]


@contextmanager
def _makers(python: str, count: int) -> Iterator[Makers | None]:
    if not python:
        yield None
        return
    with Makers(min(count, 2), python=python) as made:
        yield made


def _refused(side: str, error: KoptError) -> ComparedKernel:
    """Return what is said of a kernel that can't be recorded; a missing compiler or file is nobody's revision."""
    if isinstance(error, MissingTool) or (isinstance(error, BadInput) and error.error_code != "KB445"):
        raise error
    verdict: Literal["undecided", "fault"] = "fault" if side == "head" else "undecided"
    return ComparedKernel(verdict, f"{side} can't be recorded: {error}"[:500])


def _case(case: RevisionCase, seen: ComparedKernel) -> ComparedCase:
    both = case.base.file is not None
    return ComparedCase(
        case.name, case.file, format_shape(case.shape), case.dtype, case.base.label, case.head.label, both, seen
    )


def _verdict(cases: Sequence[ComparedCase]) -> RunVerdict:
    compared = [one.kernel.verdict for one in cases if one.compared]
    if _FAILS & set(compared):
        return "regression"
    return "undecided" if not compared or "undecided" in compared else "no_regression"

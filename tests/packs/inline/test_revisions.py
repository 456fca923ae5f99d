"""A kernel file against another revision of it, as a test asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, FindingError
from kopt_kb.launch.judge.blocks import ComparedKernel, KernelVerdict
from kopt_kb.launch.judge.revisions import ComparedCase, ComparisonPlan, RevisionCase, RunComparison, RunVerdict
from kopt_kb.packs.inline import revisions
from kopt_kb.packs.inline.revisions import KernelProblem, kernel_ratio

PROBLEM = KernelProblem("4x4", "bf16", "H100_SXM")


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[ComparisonPlan]]:
    """Two folders with a kernel, the second of them current; returns what sets the verdict and gives the plans."""
    for name in ("before", "now"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sum.py").write_text('OP = "elementwise"')
    (tmp_path / "now" / "new.py").write_text("")
    monkeypatch.chdir(tmp_path / "now")
    plans: list[ComparisonPlan] = []

    def set_verdict(run: RunVerdict, kernel: KernelVerdict, ratio: float | None) -> list[ComparisonPlan]:
        def compared(cases: Sequence[RevisionCase], named: tuple[str, str], plan: ComparisonPlan) -> RunComparison:
            plans.append(plan)
            (case,) = cases
            assert case.base.file is not None and case.head.file is not None
            one = ComparedCase(case.name, case.file, "4x4", "bf16", *named, True, ComparedKernel(kernel, "why", ratio))
            return RunComparison(run, *named, "H100_SXM", 2.0, 0.01, 1, (one,))

        monkeypatch.setattr(revisions, "compare_revisions", compared)
        return plans

    return set_verdict


def test_a_ratio_and_what_it_shares(says: Callable[..., list[ComparisonPlan]]) -> None:
    """Of the same code it is 1; the kernels of the run go with the question."""
    plans = says("no_regression", "no_regression", 0.9)
    assert kernel_ratio("sum.py", "../before", PROBLEM, 7) == 0.9
    assert plans[0].kernels == 7
    says("no_regression", "equal", None)
    assert kernel_ratio("sum.py", "../before", replace(PROBLEM, reference="sum.py")) == 1.0
    assert plans[1].references == (Path("sum.py"),)


@pytest.mark.parametrize(
    ("run", "kernel", "code"), [("regression", "wrong", "KB473"), ("undecided", "undecided", "KB478")]
)
def test_what_fails(says: Callable[..., object], run: str, kernel: str, code: str) -> None:
    """Undecided is no pass."""
    says(run, kernel, None)
    with pytest.raises(FindingError, match=f"{kernel} against ../before: why") as caught:
        kernel_ratio("sum.py", "../before", PROBLEM)
    assert caught.value.error_code == code


@pytest.mark.parametrize(("file", "part"), [("new.py", "../before has no new.py"), ("gone.py", "has no gone.py")])
def test_files_that_are_not_there(says: Callable[..., object], file: str, part: str) -> None:
    """In the base, or at all."""
    says("no_regression", "equal", None)
    with pytest.raises(BadInput, match=part):
        kernel_ratio(file, "../before", PROBLEM)

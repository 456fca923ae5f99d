"""A set of kernels in two revisions on simulated devices: what is recorded, what is timed, what a run says."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.base.wire import canonical, parse, read
from kopt_kb.launch.judge import revisions
from kopt_kb.launch.judge.makers import Made, NotRecordedError
from kopt_kb.launch.judge.revisions import ComparisonPlan, Revision, RevisionCase, RunComparison, compare_revisions
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.launch.record.judge import load_record
from kopt_kb.launch.record.request import MakerRequest

Records = Callable[..., Path]


class Shop:
    """Records what files say: an entry of the simulated device, or an error."""

    def __init__(self, record: Records, folder: Path) -> None:
        self.record, self.folder = record, folder
        self.asked: list[str] = []
        self.reference = folder / "reference.py"
        self.reference.write_text('OP = "elementwise"\n')

    def revision(self, text: str | None, python: str = "") -> Revision:
        if text is None:
            return Revision("main", None)
        file = self.folder / f"{len(list(self.folder.iterdir()))}.py"
        file.write_text(text)
        return Revision("main", file, {}, python)

    def case(self, base: str | None, head: str | None) -> RevisionCase:
        return RevisionCase("sum.py", "kernels/sum.py", (4,), "fp32", self.revision(base), self.revision(head))

    def made(self, asked: Sequence[tuple[MakerRequest, Path]], _makers: Any = None) -> list[Made]:
        return [self._made(request, out) for request, out in asked]

    def _made(self, request: MakerRequest, out: Path) -> Made:
        text = Path(getattr(request.what, "file", "")).read_text()
        self.asked.append(text)
        if text == "breaks":
            return Made(out, error=NotRecordedError("the launcher fails", where="sum.py"))
        if text == "lacks":
            return Made(out, error=MissingTool("no triton", code="KB120"))
        shutil.copytree(self.record(text), out)
        return Made(out, load_record(out))


@pytest.fixture
def shop(record: Records, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A maker that needs no compiler; blocks of few quads."""
    folder = tmp_path / "shop"
    folder.mkdir()
    made = Shop(record, folder)
    monkeypatch.setattr(revisions, "make_records", made.made)
    monkeypatch.setattr(revisions, "packaged_reference", lambda _: made.reference)
    monkeypatch.setattr("kopt_kb.launch.judge.blocks._FIRST", (4, 4))
    return made


def _run(lab: Any, cases: list[RevisionCase], **more: Any) -> RunComparison:
    plan = ComparisonPlan(RecordTarget("sm_90", "H100_SXM"), starting=lab.starting(), **more)
    return compare_revisions(cases, ("main", "HEAD"), plan)


def test_changed_kernels_are_timed_and_equal_ones_are_not(lab: Any, shop: Shop) -> None:
    """Each file is recorded once; one slower kernel fails the run; the document reads back."""
    told: list[str] = []
    cases = [shop.case("plusone__us100", "plusone__us100"), shop.case("plusone__us100", "plusone__us104")]
    found = _run(lab, cases, tell=told.append)
    assert [one.kernel.verdict for one in found.cases] == ["equal", "regression"]
    assert (found.verdict, found.timed, len(shop.asked)) == ("regression", 1, 4)
    assert told == ["recording 4 kernels without a GPU", "timing sum.py, 1 of 1, at most 60 s"]
    assert read(RunComparison, parse(canonical(found.to_json()))) == found


def test_no_device_is_asked_where_nothing_changed(lab: Any, shop: Shop) -> None:
    """Nor for a kernel that the base has not, which is new; with nothing compared a run is undecided."""
    found = _run(lab, [shop.case("plusone__us9", "plusone__us9"), shop.case(None, "plusone__us9")])
    assert (found.verdict, found.timed, lab.started) == ("no_regression", 0, [])
    assert [one.compared for one in found.cases] == [True, False]
    assert _run(lab, [shop.case(None, "plusone__us9")]).verdict == "undecided"


@pytest.mark.parametrize(
    ("base", "head", "kernel", "run"),
    [
        ("plusone__us9", "breaks", "fault", "regression"),
        ("plusone__us9", None, "fault", "regression"),
        ("plusone__us9", "wrong__us8", "wrong", "regression"),
        ("breaks", "plusone__us9", "undecided", "undecided"),
    ],
)
def test_what_can_not_be_compared(lab: Any, shop: Shop, base: str, head: str | None, kernel: str, run: str) -> None:
    """A head that can't be recorded, is gone or wrong fails; of a base like that nothing is known."""
    found = _run(lab, [shop.case(base, head)])
    assert (found.cases[0].kernel.verdict, found.verdict) == (kernel, run)
    assert found.cases[0].kernel.reason


def test_what_is_missing_is_nobodys_revision(lab: Any, shop: Shop) -> None:
    """No compiler: the run ends with that, whatever else there is."""
    with pytest.raises(MissingTool, match="no triton"):
        _run(lab, [shop.case("plusone__us9", "lacks")])


def test_a_reference_of_ones_own(lab: Any, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the operation that it declares, in place of the package's; a packaged one has to be there otherwise."""

    def none(_: Path) -> Path:
        raise BadInput("no reference", code="KB451")

    monkeypatch.setattr(revisions, "packaged_reference", none)
    case = shop.case("plusone__us100", "plusone__us90")
    with pytest.raises(BadInput, match="no reference"):
        _run(lab, [case])
    assert _run(lab, [case], references=[shop.reference]).verdict == "no_regression"


def test_two_compilers(lab: Any, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each interpreter has makers of its own, which end with its records."""
    begun: list[tuple[int, str]] = []

    class Maker:
        def __init__(self, count: int, *, python: str) -> None:
            begun.append((count, python))

        def __enter__(self) -> Maker:
            return self

        def __exit__(self, *_: object) -> None:
            begun.append((0, "ended"))

    monkeypatch.setattr(revisions, "Makers", Maker)
    both = [shop.revision("plusone__us9", python) for python in ("old/python", "new/python")]
    found = _run(lab, [RevisionCase("sum.py", "sum.py", (4,), "fp32", *both)])
    assert found.verdict == "no_regression"
    assert begun == [(1, "old/python"), (0, "ended"), (1, "new/python"), (0, "ended")]

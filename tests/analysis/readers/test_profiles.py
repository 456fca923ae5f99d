"""All kernels of reports, to look at twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb import KernelProfile, Profiles
from kopt_kb.analysis.readers import ReportError
from tests.kopt_kb.base.markup.test_elements import HOSTILE

ZOO = Path(__file__).resolve().parents[2] / "data" / "zoo"
HEAD = "Name,Calls,TotalDurationNs,AverageNs,Percentage,MinNs,MaxNs\n"


def test_a_sequence_of_kernels() -> None:
    """Length, items, slices, and a second look."""
    found = Profiles.read(ZOO / "library.csv", ZOO / "compute.csv")
    assert len(found) == len(list(found)) == len(list(found)) > 4
    assert isinstance(found[0], KernelProfile)
    assert repr(found[:4]) == "Profiles(4 kernels, 4.397 ms)"
    assert repr(found[:0]) == "Profiles(0 kernels)"
    assert found[0] in found
    assert [one["kernel"] for one in found.records()] == [one.function for one in found]
    assert len(Profiles.read(ZOO / "library.csv", kernel="ffma")) == 1
    with pytest.raises(ReportError):
        Profiles.read(ZOO / "none.csv")


def test_hostile_names_in_a_notebook(tmp_path: Path) -> None:
    """A notebook runs scripts: nothing of a name may become an element."""
    rows = "".join(
        f'"{one.replace(chr(34), chr(34) * 2)}",2,20,10,100,9,11\n'
        for one in HOSTILE
        if "\0" not in one and "\udcff" not in one
    )
    (tmp_path / "r.csv").write_text(HEAD + rows, encoding="utf-8")
    text = Profiles.read(tmp_path / "r.csv")._repr_html_()
    assert "<script" not in text
    assert "<img" not in text
    assert text.count("<tr>") == len(Profiles.read(tmp_path / "r.csv")) + 1
    many = Profiles([*Profiles.read(tmp_path / "r.csv")] * 100)
    assert "more kernels" in many._repr_html_()

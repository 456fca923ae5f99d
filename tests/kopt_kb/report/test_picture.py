"""What is drawn of works and measurements, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.problem.work import Work, work
from kopt_kb.report.drawing_files import write_picture
from kopt_kb.report.picture import Dot, DrawnRoof, Picture, Point, check_picture, picture_of, recorded_picture
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.workspace import Workspace


@pytest.fixture
def picture(wiki_root: Path) -> Picture:
    """A norm-like and a GEMM-like piece of work on T10, one of them measured."""
    t10 = Registry.open(wiki_root).platform("T10")
    works = [Work.given(10**9, 10**9, "fp32", "vector"), work("softmax", (128, 512), "fp16")]
    return picture_of("T10", [roofline(one, t10) for one in works], [1e-3, None])


def test_roofs_and_points_by_hand(picture: Picture) -> None:
    """Ridge 12.8; 1 FLOP/B attains 2 TFLOPS; the target asks for nine tenths; measured 1e9 in 1 ms is 1 TFLOPS."""
    roof, aim = picture.roofs
    assert (roof.basis, aim.basis) == ("documented", "target")
    assert roof.ridge == aim.ridge == pytest.approx(12.8)
    assert roof.at(1.0) == pytest.approx(2e12)
    assert aim.at(1.0) == pytest.approx(1.8e12)
    assert roof.at(1e6) == pytest.approx(25.6e12)
    assert [(p.kind, p.rate) for p in picture.points][:3] == [
        ("attainable", pytest.approx(2e12)),
        ("target", pytest.approx(1.8e12)),
        ("measured", pytest.approx(1e12)),
    ]
    assert "<gpu-wiki>/hardware/nvidia/t10.md" in roof.source


def test_a_measured_point_is_off_the_roof_where_it_was_measured(picture: Picture) -> None:
    """Its own rate, at half of what is attainable here; bars stand on their lines."""
    for point in picture.points:
        over = picture.roofs[0].at(point.intensity)
        share = {"attainable": 1.0, "target": 0.9, "measured": 0.5}[point.kind]
        assert point.rate == pytest.approx(share * over)


def test_a_campaign_is_drawn_from_its_journal(repo_root: Path) -> None:
    """Documented and measured roofs of every footprint, the targets, and a dot where a record says."""
    state = Workspace.open(repo_root / "benchmarks" / "campaigns" / "h200_sxm" / "rms_norm_2").state()
    picture = recorded_picture("t", state.rooflines, [Dot("v0", "8192x4096", 1e-3, "record r")])
    assert picture is not None
    documented = [one for one in picture.roofs if one.basis == "documented"]
    assert [(one.bandwidth, one.peak) for one in documented] == [(4.8e12, 67e12)]
    assert sorted(one.bandwidth for one in picture.roofs if one.basis == "measured") == [3.77e12, 4.017e12, 4.186e12]
    assert next(one.bandwidth for one in picture.roofs if one.basis == "target") == pytest.approx(3.393e12)
    (dot,) = [one for one in picture.points if one.is_measured]
    assert (dot.rate, dot.intensity, dot.source) == (pytest.approx(134225920 / 1e-3), pytest.approx(1.0), "record r")
    assert recorded_picture("t", (), []) is None


@pytest.mark.parametrize("number", [0.0, -1.0, float("nan"), float("inf")])
def test_what_has_no_place_on_the_axes_is_not_drawable(number: float) -> None:
    """And does not spoil the axes of the rest."""
    roof = DrawnRoof("r", 1e12, 1e13, "s")
    picture = Picture("t", (roof,), (Point("bad", 1.0, number), Point("worse", number, 1e12), Point("good", 1.0, 1e12)))
    assert [one.name for one in picture.drawable] == ["good"]
    assert picture.range == (1 / 16, 160.0)


def test_a_picture_that_can_not_be_made_is_refused_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a kernel is compiled for it; SVG and HTML need nothing."""
    monkeypatch.setattr("kopt_kb.report.picture.find_spec", lambda _: None)
    check_picture(tmp_path / "a.svg")
    check_picture(tmp_path / "a.html")
    with pytest.raises(MissingTool, match=r"install kopt-kb\[plot\], or write \.svg"):
        check_picture(tmp_path / "a.png")


def test_other_suffixes_and_unknown_roofs_are_refused(picture: Picture, wiki_root: Path, tmp_path: Path) -> None:
    """Nothing is drawn that is not known, and nothing is written over."""
    with pytest.raises(BadInput, match=r"\.svg"):
        write_picture(picture, tmp_path / "roof.gif")
    (tmp_path / "there.svg").write_text("mine")
    with pytest.raises(BadInput, match="exists already"):
        write_picture(picture, tmp_path / "there.svg")
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(BadInput, match="is a folder"):
        write_picture(picture, tmp_path / "folder.svg")
    with pytest.raises(BadInput, match="no such folder"):
        write_picture(picture, tmp_path / "none" / "roof.svg")
    t10 = Registry.open(wiki_root).platform("T10")
    with pytest.raises(BadInput, match="no roof"):
        picture_of("x", [roofline(work("gemm", (64, 64, 64), "bf16"), t10)])

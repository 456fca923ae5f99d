"""Pictures of rooflines: right heights, one self-contained file, refusals."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.errors import BadInput
from kopt_kb.problem.work import Work, work
from kopt_kb.static.picture import Picture, picture_of, terminal, write_picture
from kopt_kb.wiki.registry import Registry

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture
def picture(wiki_root: Path) -> Picture:
    """A norm-like and a GEMM-like piece of work on T10, one of them measured."""
    t10 = Registry.open(wiki_root).platform("T10")
    works = [Work.given(10**9, 10**9, "fp32", "vector"), work("softmax", (128, 512), "fp16")]
    return picture_of("T10", [t10], [roofline(one, t10) for one in works], [1e-3, None])


def test_roofs_and_points_by_hand(picture: Picture) -> None:
    """Ridge 12.8; 1 FLOP/B attains 2 TFLOPS; measured 1e9 in 1 ms is 1 TFLOPS."""
    (roof,) = picture.roofs
    assert roof.ridge == pytest.approx(12.8)
    assert roof.at(1.0) == pytest.approx(2e12)
    assert roof.at(1e6) == pytest.approx(25.6e12)
    assert [(p.is_measured, p.rate) for p in picture.points][:2] == [
        (False, pytest.approx(2e12)),
        (True, pytest.approx(1e12)),
    ]
    assert "<gpu-wiki>/hardware/nvidia/t10.md" in roof.source


def test_no_point_is_above_its_roof(picture: Picture) -> None:
    """Attainable points stand on it."""
    for point in picture.points:
        assert point.rate <= picture.roofs[0].at(point.intensity) * (1 + 1e-9)


def test_terminal_text_names_roofs_and_points(picture: Picture) -> None:
    """Plain characters, no colour codes."""
    text = terminal(picture)
    lines = text.split("\n")
    assert max(map(len, lines)) <= 97
    assert "T10 fp32 vector: 2e+12 B/s, 2.56e+13 FLOP/s" in text
    drawn = "\n".join(line for line in lines if line.startswith("|"))
    assert all(mark in drawn for mark in "*ox")


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_drawings(picture: Picture, tmp_path: Path, suffix: str) -> None:
    """Real files of that kind."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    path = tmp_path / f"roof{suffix}"
    write_picture(picture, path)
    assert path.read_bytes()[:4] in {b"\x89PNG", b"<?xm"}
    with pytest.raises(BadInput, match="exists already"):
        write_picture(picture, path)


def test_html_is_one_file_without_network(picture: Picture, tmp_path: Path) -> None:
    """The library is inside; hover texts carry the citations."""
    pytest.importorskip("plotly", reason="plotly is not installed")
    path = tmp_path / "roof.html"
    write_picture(picture, path)
    text = path.read_text()
    assert 'src="http' not in text
    assert "hardware\\u002fnvidia\\u002ft10.md" in text or "hardware/nvidia/t10.md" in text


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_the_page_draws_in_a_browser(picture: Picture, tmp_path: Path) -> None:
    """Headless Chromium draws traces: the page holds plot elements after its scripts ran."""
    pytest.importorskip("plotly", reason="plotly is not installed")
    path = tmp_path / "roof.html"
    write_picture(picture, path)
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=8000", "--dump-dom", path.as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.stdout.count('class="trace scatter') >= 3, done.stderr[-400:]


def test_other_suffixes_and_unknown_roofs_are_refused(picture: Picture, wiki_root: Path, tmp_path: Path) -> None:
    """Nothing is drawn that is not known."""
    with pytest.raises(BadInput, match=r"\.svg"):
        write_picture(picture, tmp_path / "roof.gif")
    t10 = Registry.open(wiki_root).platform("T10")
    with pytest.raises(BadInput, match="no roof"):
        picture_of("x", [t10], [roofline(work("gemm", (64, 64, 64), "bf16"), t10)])

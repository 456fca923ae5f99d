"""SVG, PNG and HTML of one drawing: the same words, the sources in each, nothing to inject, right in a browser."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kopt_kb.report.drawing import drawn
from kopt_kb.report.drawing_files import figure, html_bytes, picture_table, png_bytes, svg_bytes
from kopt_kb.report.picture import DrawnRoof, Picture, Point
from tests.kopt_kb.base.markup.test_elements import HOSTILE
from tests.kopt_kb.base.markup.test_html import Outline
from tests.kopt_kb.report.test_drawing import CROWDS, ROOFS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SVG = "{http://www.w3.org/2000/svg}"
ROOF = DrawnRoof("P fp32 vector", 2e12, 2.56e13, "page.md:L1", "P")


def picture(name: str = "k") -> Picture:
    """A roof and a dot of this name."""
    return Picture(name, (ROOF,), (Point(name, 1.0, 1e12, source=name, group="P"),))


def test_an_svg_is_text_with_its_sources() -> None:
    """It can be searched and read aloud: title, description, letters as letters; what lines rest on stands over them."""
    root = ElementTree.fromstring(svg_bytes(picture()))
    texts = [one.text for one in root.iter(f"{SVG}text")]
    assert texts == [one.text for one in drawn(picture()).labels]
    assert "page.md:L1" in (root.findtext(f"{SVG}desc") or "")
    assert not [one for one in texts if one is None or "page.md" in one]
    over = [one.findtext(f"{SVG}title") or "" for one in root.iter() if one.tag in {f"{SVG}polyline", f"{SVG}text"}]
    assert len([one for one in over if "page.md:L1" in one]) == 3
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == root.get("aria-label") == "k"
    assert "sans-serif" in (root.findtext(f"{SVG}style") or "")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_draw_nothing(name: str) -> None:
    """The elements of SVG and page are those of a harmless name; a longer name has more rows in the legend."""
    plain, found = (
        [one.tag.removeprefix(SVG) for one in ElementTree.fromstring(svg_bytes(picture(one))).iter()]
        for one in ("k", name)
    )
    assert set(found) == set(plain)
    assert [one for one in found if one not in {"rect", "text", "line"}] == [
        one for one in plain if one not in {"rect", "text", "line"}
    ]
    pages = [{tag for tag, _ in Outline(html_bytes(picture(one)).decode()).found} - {"line"} for one in ("k", name)]
    assert pages[0] == pages[1]


def test_a_page_needs_no_library_and_is_small() -> None:
    """A crowd of 120 kernels; roofs have their source as a note."""
    text = html_bytes(Picture("t", ROOFS, CROWDS["a cloud"])).decode()
    assert len(text) < 150_000
    assert "page0.md:L0</li>" in text
    assert "<script" not in text
    shown = figure(picture(), "words")
    assert shown.characters.startswith("k\n")
    (name, what, values), _ = picture_table(picture()).rows
    assert (name, what, getattr(values, "text", "")) == ("P fp32 vector", "documented roof", ROOF.values)


def test_a_png_carries_its_sources() -> None:
    """In the metadata, which programs show; the size is that of the layout; a dollar sign starts no formula."""
    data = png_bytes(picture("$x^2$"))
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    made = drawn(picture("$x^2$"))
    assert (width, height) == pytest.approx((made.width * 3, made.height * 3), abs=1)
    assert b"page.md:L1" in _texts(data)


def _texts(data: bytes) -> bytes:
    """Return the text chunks of a PNG."""
    found, at = b"", 8
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        if kind in {b"tEXt", b"iTXt"}:
            found += body
        if kind == b"zTXt":
            found += zlib.decompress(body.split(b"\0", 1)[1][1:])
        at += 12 + size
    return found


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_labels_of_a_browser_do_not_overlap(tmp_path: Path) -> None:
    """The boxes that a browser really draws, of a crowd: a harness page measures them."""
    shown = svg_bytes(Picture("crowd", ROOFS, CROWDS["a cloud"])).decode().split("\n", 1)[1]
    script = """<script>const b=[...document.querySelectorAll('text')].map(t=>t.getBoundingClientRect());let n=0;
    for(let i=0;i<b.length;i++)for(let j=0;j<i;j++)if(b[i].left+1<b[j].right&&b[j].left+1<b[i].right&&b[i].top+2<b[j].bottom
    &&b[j].top+2<b[i].bottom)n++;document.title='seen '+b.length+' overlaps '+n</script>"""
    page = tmp_path / "harness.html"
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8><title>x</title>{shown}{script}", encoding="utf-8")
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
               "--no-first-run", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    said = re.search(r"<title>seen (\d+) overlaps (\d+)</title>", done.stdout)
    assert said is not None, done.stderr[-400:]
    assert int(said[1]) > 60
    assert int(said[2]) == 0

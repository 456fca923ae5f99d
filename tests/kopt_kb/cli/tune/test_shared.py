"""`kb tune report --html --markdown` from the shell: files, exit codes, refusals."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.tuning.page.campaign import campaign_html
from tests.kopt_kb.base.markup.test_elements import Reader
from tests.kopt_kb.tuning.page.conftest import CAMPAIGNS, ROOT, reported, state_of, told

Capture = pytest.CaptureFixture[str]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def test_files_are_written_and_named(tmp_path: Path, capsys: Capture) -> None:
    """Text says their sizes; --json prints the document beside them; the exit code is the report's."""
    page, words = tmp_path / "a.html", tmp_path / "a.md"
    assert main(["tune", "report", str(CAMPAIGNS[0]), "--html", str(page), "--markdown", str(words)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("REPORT, stopped: ")
    assert out.endswith(f"\n\n{page}: {page.stat().st_size:,} bytes\n{words}: {words.stat().st_size:,} bytes\n")
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert words.read_text().startswith("# Campaign ")
    assert main(["tune", "report", str(CAMPAIGNS[0]), "--html", str(tmp_path / "b.html"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "REPORT"
    assert (tmp_path / "b.html").read_bytes() == page.read_bytes()


def test_a_picture_of_a_campaign(tmp_path: Path, capsys: Capture) -> None:
    """Its roofline with baseline and best, as a file of its own."""
    picture = tmp_path / "a.svg"
    assert main(["tune", "report", str(CAMPAIGNS[0]), "--picture", str(picture)]) == 0
    assert "rms_norm 8192x4096 v1" in picture.read_text()
    assert main(["tune", "report", str(CAMPAIGNS[0]), "--picture", str(tmp_path / "a.gif")]) == 2
    assert "no picture of kind" in capsys.readouterr().err


def test_what_can_not_be_written_is_refused(tmp_path: Path, capsys: Capture) -> None:
    """A file that is there, a folder, a folder that is not."""
    (tmp_path / "there").write_text("mine")
    for name in ("there", ".", "none/a.html"):
        assert main(["tune", "report", str(CAMPAIGNS[0]), "--html", str(tmp_path / name)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert (tmp_path / "there").read_text() == "mine"


def test_an_unreadable_journal_leaves_no_file(tmp_path: Path, capsys: Capture) -> None:
    """One line, a code, nothing written."""
    broken = tmp_path / "ws"
    shutil.copytree(CAMPAIGNS[0], broken)
    journal = broken / "journal.jsonl"
    journal.write_text("{" + journal.read_text()[5:])
    assert main(["tune", "report", str(broken), "--html", str(tmp_path / "a.html")]) != 0
    assert capsys.readouterr().err.startswith("kb: ")
    assert not (tmp_path / "a.html").exists()


EVIL = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\"></title><svg onload=alert(1)>"


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_runs_nothing_and_complains_of_nothing(tmp_path: Path) -> None:
    """Headless Chromium reads a page whose every text is an attack: all sections, no element of the texts, no refusal."""
    page = tmp_path / "a.html"
    state = told(state_of(ROOT / "h200_sxm" / "softmax"), EVIL)
    page.write_bytes(campaign_html(reported(state), state, "kopt-kb"))
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
               f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr", "--dump-dom", page.as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.count("<section") == page.read_text().count("<section") >= 8
    assert done.stdout.count("<polyline") > 5
    seen = Reader()
    seen.feed(done.stdout)
    assert not {"script", "img"} & set(seen.tags)
    assert not {"onload", "onerror"} & set(seen.values)
    assert "<title>run" not in done.stdout
    assert "CONSOLE" not in done.stderr

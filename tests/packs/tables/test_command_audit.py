"""`kb table audit`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from tests.packs.tables.test_command_read import table

ROW = {f"BLOCK_SIZE_{one}": 16 for one in "MNK"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table with a strange setting and a redundant row, and one without a device."""
    (tmp_path / "E=8,N=96,device_name=NVIDIA_H200.json").write_text(
        json.dumps({"1": {**ROW, "tile": 3}, "2": ROW, "4": ROW})
    )
    (tmp_path / "E=8,N=96,device_name=.json").write_text(json.dumps({"1": ROW}))
    return tmp_path


def test_findings_stand_at_their_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Notes when they are asked for; exit 1 where something is worse."""
    assert table("audit", str(folder)) == 1
    out = capsys.readouterr().out
    assert (
        "E=8,N=96,device_name=NVIDIA_H200.json:1: warning: 1: tile is no setting of fused_moe [unknown-setting]" in out
    )
    assert "E=8,N=96,device_name=.json: error: names no device [no-device]" in out
    assert "redundant-row]" not in out and "1 finding(s) below --level are not shown" in out
    assert table("audit", str(folder), "--level", "note") == 1
    assert "[redundant-row]" in capsys.readouterr().out
    assert table("audit", str(folder), "--level", "error") == 1
    assert "unknown-setting]" not in capsys.readouterr().out


def test_documents_and_pages(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON, SARIF, HTML and Markdown say the same; a page is never written over."""
    html, text = tmp_path / "a.html", tmp_path / "a.md"
    assert table("audit", str(folder), "--json", "--html", str(html), "--markdown", str(text)) == 1
    body = json.loads(capsys.readouterr().out)
    assert (body["clean"], body["rows"], body["counts"]["no-device"]) == (False, 4, 1)
    assert "tile is no setting" in html.read_text() and "tile is no setting" in text.read_text()
    with pytest.raises(BadInput):
        table("audit", str(folder), "--markdown", str(text))
    assert table("audit", str(folder), "--format", "sarif") == 1
    rules = {one["ruleId"] for one in json.loads(capsys.readouterr().out)["runs"][0]["results"]}
    assert rules == {"no-device", "unknown-setting", "redundant-row"}


def test_a_clean_table_exits_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And says so."""
    path = tmp_path / "E=8,N=96,device_name=NVIDIA_H200.json"
    path.write_text(json.dumps({"1": ROW}))
    assert table("audit", str(path)) == 0
    assert "1 table(s), 1 row(s): clean" in capsys.readouterr().out


def test_a_negative_number_of_compilers_is_refused(folder: Path) -> None:
    """Before anything is read."""
    with pytest.raises(BadInput, match="1 or more"):
        table("audit", str(folder), "--jobs", "-1")


def test_an_engine_is_said_with_its_compiler(
    folder: Path, engine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """How many code objects its kernel became."""
    monkeypatch.setenv("KOPT_CACHE", str(engine / "cache"))
    pytest.importorskip("triton")
    assert table("audit", str(folder / "E=8,N=96,device_name=.json"), "--engine", str(engine)) == 1
    assert "0 code object(s), 0 of them compiled now" in capsys.readouterr().out

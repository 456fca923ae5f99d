"""`kb table check`, and the whole way with real records of the stand-in engine's kernel."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.launch.judge.makers import Makers
from kopt_kb.launch.record.judge import load_record
from kopt_kb.packs.tables.check import check_rows, rows_at
from kopt_kb.wiki.registry import Registry
from tests.packs.tables.simulated import ENGINE, ROW, Device, table_file
from tests.packs.tables.test_command_read import table
from tests.packs.tables.test_session import settled

LAYER = ("--engine", str(ENGINE), "--hidden", "256", "--top-k", "2")
FAST = {**ROW, "num_warps": 8}


def check(path: Path, *words: str) -> int:
    """Run the command."""
    return table("check", str(path), *LAYER, *words)


def test_a_slow_row_fails(tmp_path: Path, simulated: Device, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1, in a terminal and on pages; each row is a line of a file as soon as it is known."""
    path = table_file(tmp_path, {"1": FAST, "16": {**ROW, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 32}})
    results, page, text = (tmp_path / name for name in ("rows.jsonl", "a.html", "a.md"))
    words = ("--results", str(results), "--html", str(page), "--markdown", str(text))
    assert check(path, *words) == 1
    shown = capsys.readouterr()
    assert "row  tokens" in shown.out and "\n16" in shown.out
    assert "2 row(s), 1 faster, 1 slower; 256 deep, 2 experts a token" in shown.out
    assert "2 row(s) of E=4,N=128,device_name=NVIDIA_H200.json on H200_SXM: at most 8 records" in shown.err
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    assert [(one["key"], one["verdict"]) for one in rows] == [("1", "faster"), ("16", "slower")]
    assert "slower" in page.read_text() and "| 16 |" in text.read_text()
    with pytest.raises(BadInput, match="exists already"):
        check(path, "--results", str(results))


def test_documents_and_exit_codes(
    tmp_path: Path, simulated: Device, capsys: pytest.CaptureFixture[str], fits: Callable[[str, object], bool]
) -> None:
    """JSON and SARIF; 0 where no row is slower, 4 where nothing could be said."""
    path = table_file(tmp_path, {"1": FAST})
    assert check(path, "--json", "--default-only") == 0
    body = json.loads(capsys.readouterr().out)
    assert fits("table_check", body)
    assert (body["verdict"], body["rows"][0]["bout"]["verdict"]) == ("sound", "faster")
    simulated.cost = lambda settings, _: 1e-4 if settings["num_warps"] == 8 else -1.0
    assert check(path, "--format", "sarif") == 4
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"][0]["ruleId"] == "row-undecided"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--rows", "1", "--tokens", "1"), "by key or by tokens"),
        (("--hidden", "0"), "0 is no extent"),
        (("--threshold", "100"), "no gain in percent"),
        (("--makers", "-1"), "1 or more"),
        (("--rows", "7"), "has no row 7"),
        (("--tokens", "none"), "no number of tokens"),
    ],
    ids=["two ways", "no depth", "a threshold", "recorders", "no such row", "no tokens"],
)
def test_what_is_asked_wrongly(tmp_path: Path, simulated: Device, words: tuple[str, ...], says: str) -> None:
    """One line, before a device is asked."""
    with pytest.raises(BadInput, match=says):
        check(table_file(tmp_path, {"1": ROW}), *words)
    assert simulated.asked == []


def test_without_a_device_the_plan_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing is recorded; exit 3."""
    with pytest.raises(MissingTool) as caught:
        check(table_file(tmp_path, {"1": ROW}))
    assert caught.value.error_code == "KB122"
    assert "at most 4 records and 3 comparisons" in capsys.readouterr().err


def test_rows_are_recorded_as_the_engine_launches_them(
    tmp_path: Path, registry: Registry, simulated: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stand-in's kernel, compiled for the table's product: two products with the gate and the sum around them."""
    pytest.importorskip("triton")
    monkeypatch.setattr("kopt_kb.packs.tables.bouts.Makers", Makers)
    simulated.check = lambda record, *_: simulated.costs.setdefault(record, 1e-4) and _right()  # type: ignore[method-assign, assignment]
    simulated._seconds = lambda record: simulated.costs.setdefault(record, 1e-4)  # type: ignore[method-assign]
    found = settled(tmp_path, registry, rows={"16": FAST}, makers=2)
    with found.bouts(registry, lambda _: None) as bouts:
        seen = check_rows(found, bouts, rows_at(found.table))
        folder = bouts.folder_of(16, FAST)
        assert isinstance(folder, Path)
        record = load_record(folder)
    assert [one.entry for one in record.launches] == ["fused_moe_kernel", "gate_up", "fused_moe_kernel", "expert_sum"]
    assert [one.block[0] for one in record.launches][:3:2] == [256, 256]
    assert (record.op, record.shape, record.not_replayable) == ("fused_moe", (16, 4, 2, 256, 128), "")
    assert seen.rows[0].bout.verdict == "equal" and "triton" in seen.versions


def _right() -> object:
    from kopt_kb.launch.judge.judging import Checked

    return Checked("", 1e-3, 2)

"""`kb table tune`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from tests.packs.tables.simulated import ROW, Device, table_file
from tests.packs.tables.test_command_check import LAYER
from tests.packs.tables.test_command_read import table
from tests.packs.tables.test_tune import BEST

QUICK = ("--stop-at", "100")


def tune(path: Path, *words: str) -> int:
    """Run the command."""
    return table("tune", str(path), *LAYER, *QUICK, *words)


def test_a_new_file_has_the_rows_that_are_faster(
    tmp_path: Path, simulated: Device, capsys: pytest.CaptureFixture[str]
) -> None:
    """The given one stays as it is; pages and lines say what was seen."""
    path = table_file(tmp_path, {"1": ROW, "64": ROW})
    before, new, text = path.read_bytes(), tmp_path / path.name, tmp_path / "a.md"
    results = tmp_path / "rows.jsonl"
    words = ("--out", str(new), "--markdown", str(text), "--results", str(results))
    assert tune(path, "--tokens", "1,16", *words) == 0
    assert path.read_bytes() == before
    assert json.loads(new.read_text()) == {"1": BEST, "16": BEST, "64": ROW}
    out = capsys.readouterr().out
    assert f"2 of 2 sizes are faster; written {new}" in out and "row 1" in out
    assert "| 16 |" in text.read_text() and len(results.read_text().splitlines()) == 2


def test_in_place_and_only_what_is_missing(
    tmp_path: Path, simulated: Device, capsys: pytest.CaptureFixture[str], fits: Callable[[str, object], bool]
) -> None:
    """A number of tokens that has a row is left out; without --out or --in-place nothing is written."""
    path = table_file(tmp_path, {"1": ROW})
    before = path.read_bytes()
    assert tune(path, "--tokens", "1,4", "--missing", "--json") == 0
    body = json.loads(capsys.readouterr().out)
    assert fits("table_tune", body)
    assert ([one["tokens"] for one in body["sizes"]], body["written"], body["accepted"]) == ([4], "", 1)
    assert path.read_bytes() == before
    assert tune(path, "--tokens", "1,4", "--missing", "--in-place") == 0
    assert json.loads(path.read_text()) == {"1": ROW, "4": BEST}
    assert "written nowhere" not in capsys.readouterr().out
    stamp = path.stat()
    assert tune(path, "--tokens", "4", "--in-place") == 0
    assert path.stat().st_ino == stamp.st_ino and "written nowhere" in capsys.readouterr().out


def test_a_file_that_changes_while_it_is_tuned(tmp_path: Path, simulated: Device) -> None:
    """Nothing is written."""
    path = table_file(tmp_path, {"1": ROW})
    cost = simulated.cost

    def edited(settings: object, tokens: int) -> float:
        path.write_text(json.dumps({"1": {**ROW, "num_stages": 2}}))
        return cost(settings, tokens)  # type: ignore[arg-type]

    simulated.cost = edited
    with pytest.raises(BadInput, match="changed since it was read"):
        tune(path, "--tokens", "1", "--in-place")
    assert json.loads(path.read_text())["1"]["num_stages"] == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--seconds", "0"), "no time for a search"),
        (("--stop-at", "101"), "no share in percent"),
        (("--out", "a", "--in-place"), "goes to one place"),
        (("--out", "table.json"), "no tuned table"),
    ],
    ids=["no time", "a share", "two places", "a name"],
)
def test_what_is_asked_wrongly(tmp_path: Path, simulated: Device, words: tuple[str, ...], says: str) -> None:
    """Before a device is asked."""
    with pytest.raises(BadInput, match=says):
        tune(table_file(tmp_path, {"1": ROW}), *words)
    assert simulated.asked == []

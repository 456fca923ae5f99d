"""`kb bench record` on a simulated device: what is printed, what is returned, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from kopt_kb.cli.main import main

Records = Callable[..., Path]
Fits = Callable[[str, object], bool]


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch, fake: ModuleType, tmp_path: Path) -> None:
    """Children are programs on simulated devices that share a clock."""
    children = fake.programs(tmp_path / "clock")
    monkeypatch.setattr("kopt_kb.launch.judge.judges.processes", lambda: children)


def test_a_faster_record(simulated: None, record: Records, capsys: pytest.CaptureFixture[str], fits: Fits) -> None:
    """Exit 0 with both times, or the result as a document."""
    old, new = str(record("plusone__us400")), str(record("plusone__us200"))
    assert main(["bench", "record", old, new]) == 0
    said = capsys.readouterr().out
    assert f"{new} against {old}: accepted" in said
    assert "Fake GPU" in said and "trust: replayed; contents by files" in said
    assert main(["bench", "record", new, old, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert fits("bench_record", found) and not fits("bench_record", {**found, "surplus": 1})
    assert (found["verdict"], found["trust"], found["shapes"][0]["shape"]) == ("not_faster", "replayed", "4")


def test_several_shapes_and_a_policy(simulated: None, record: Records, capsys: pytest.CaptureFixture[str]) -> None:
    """One decision; a gain of a hundred percent is none where more is asked for."""
    words = ["bench", "record", str(record("plusone__us400")), str(record("plusone__us200"))]
    words += ["--also", str(record("plusone__us300", 40, shape=(8,))), str(record("wrong__us1", 40, shape=(8,)))]
    assert main([*words[:4], "--least-gain", "200"]) == 1
    assert "not faster" in capsys.readouterr().out
    assert main(words) == 1
    said = capsys.readouterr().out
    assert ": wrong" in said and "candidate: differs from the reference" in said


def test_floor_and_confirmation(
    simulated: None, record: Records, capsys: pytest.CaptureFixture[str], fits: Fits
) -> None:
    """What OLD gains over itself; then three contests in fresh processes."""
    words = ["bench", "record", str(record("plusone__us400")), str(record("plusone__us200"))]
    code = main([*words, "--floor", "--confirm"])
    said = capsys.readouterr().out
    assert code == 0, said
    assert "confirmed, 2×" in said
    assert said.count("accepted: ") == 3
    assert main([*words[:3], str(record("wrong__us1")), "--confirm", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["confirmed"] is False and fits("bench_record_confirmation", found)


def test_what_is_refused(record: Records, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Before any child starts."""
    one = str(record("plusone__us10"))
    for words, part in (
        ([one, str(tmp_path / "none")], "no launch record"),
        ([one, one, "--also", one, one], "two records of 4"),
        ([one, one, "--least-gain", "nan"], "no gain in percent"),
        ([one, one, "--least-gain", "-1"], "no gain in percent"),
        ([one, one, "--reference", str(tmp_path / "none.py")], "none.py"),
        ([str(record("plusone__us10", op="")), one], "no reference of its own"),
    ):
        assert main(["bench", "record", *words]) == 2, words
        assert part in capsys.readouterr().err


def test_no_gpu_exits_3(record: Records, capsys: pytest.CaptureFixture[str]) -> None:
    """On a machine without one, one line."""
    one = str(record("plusone__us10"))
    code = main(["bench", "record", one, one])
    if code != 3:
        pytest.skip("a GPU is here")
    assert "kopt-kb[gpu]" in capsys.readouterr().err

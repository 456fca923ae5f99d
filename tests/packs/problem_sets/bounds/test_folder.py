"""A folder of problems to tables, from the command line."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.main import main
from kopt_kb.packs.problem_sets.bounds.folder import bounds_of
from kopt_kb.wiki.registry import Registry
from tests.packs.problem_sets.bounds.test_child import GOOD

pytestmark = pytest.mark.torch


def test_a_table_of_each_form_and_a_second_product_without_counting(tmp_path, monkeypatch, capsys, fits):
    monkeypatch.setenv("KOPT_CACHE", str(tmp_path / "cache"))
    problems = tmp_path / "problems"
    problems.mkdir()
    (problems / "good.py").write_text(GOOD)
    (problems / "other.py").write_text("x = 1\n")
    files = [tmp_path / f"table{suffix}" for suffix in (".json", ".csv", ".md")]
    words = ["suite", str(problems), *(word for one in files for word in ("--bounds", str(one)))]
    assert main([*words, "--platform", "H100_SXM"]) == 0
    said = capsys.readouterr()
    assert "1 problems; bound by bytes: 1" in said.out and "counting 1 problem\n" in said.err
    first = json.loads(files[0].read_text())
    assert first["rows"][0]["read_bytes"] == 128 and fits("suite_bounds", first)
    assert main([*words, "--platform", "MI300X", "--json"]) == 0
    said = capsys.readouterr()
    assert not said.err and json.loads(said.out)["platform"] == "MI300X" and fits("suite_bounds", json.loads(said.out))
    (problems / "bad.py").write_text(GOOD.replace("torch.exp", "torch.exq"))
    assert main([*words, "--platform", "H100_SXM"]) == 1
    assert "bad: it can't be traced" in capsys.readouterr().out
    assert main([*words, "--platform", "MI300X"]) == 1
    said = capsys.readouterr()
    assert "bad: it can't be traced" in said.out and not said.err  # a refusal is no more traced again than a bound


@pytest.mark.parametrize(
    ("table", "what"),
    [("table.txt", "no form"), ("gone/table.csv", "no such folder"), ("table.csv", "no problem with a Model")],
)
def test_what_can_not_be_written_or_read_is_said(tmp_path, table, what):
    platform = Registry.open().platform("H100_SXM")
    with pytest.raises(BadInput, match=what):
        bounds_of(tmp_path, platform, [tmp_path / table], (), print)


def test_a_suite_without_a_place_for_results_is_refused(tmp_path, capsys):
    assert main(["suite", str(tmp_path), "--platform", "H100_SXM"]) == 2
    assert "--out is missing" in capsys.readouterr().err

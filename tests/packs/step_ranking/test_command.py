from __future__ import annotations

import gzip
import json

import pytest

from kopt_kb.cli.main import main
from tests.packs.step_ranking.traces import ADD, kernel, launch, op, product, step_range, write


@pytest.fixture
def trace(tmp_path):
    return write(tmp_path / "t.json", step_range(1, 0, 5000), *product(0, 1))


def test_a_step_is_printed_as_text_json_and_tables(trace, capsys) -> None:
    assert main(["profile", "step", str(trace)]) == 0
    assert "aten::mm" in capsys.readouterr().out
    assert main(["profile", "step", str(trace), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["covered"] == 1
    assert main(["profile", "step", str(trace), "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("category,calls,time")


def test_packed_traces_and_named_ranges_are_read(trace, tmp_path, capsys) -> None:
    packed = tmp_path / "t.json.gz"
    packed.write_bytes(gzip.compress(trace.read_bytes()))
    assert main(["profile", "step", str(packed), "--range", "Step#1", "--platform", "H100_SXM"]) == 0
    packed.write_bytes(packed.read_bytes()[:-30])
    assert main(["profile", "step", str(packed)]) == 2
    assert "KB2" in capsys.readouterr().err


def test_nothing_with_a_roof_is_a_finding(tmp_path) -> None:
    path = write(tmp_path / "t.json", op("aten::add", 0, 9), launch(1, 1), kernel(ADD, 3, 2, 1))
    assert main(["profile", "step", str(path)]) == 1


@pytest.mark.parametrize(
    "words",
    [["--top", "0"], ["--range", "["], ["--range", "nothing"], ["--platform", "A100_SXM_80GB"]],
    ids=["no rows", "no pattern", "no such range", "another product"],
)
def test_words_that_fit_nothing_are_refused(trace, words) -> None:
    assert main(["profile", "step", str(trace), *words]) == 2

"""`kb lookup` on the shipped wiki, as a user types it."""

from __future__ import annotations

import json
import re

import pytest

from kopt_kb.cli.main import main


@pytest.mark.core
def test_lookup_prints_value_unit_grade_and_citation(capsys: pytest.CaptureFixture[str]) -> None:
    """The H20's bandwidth with its line, its source and its rejected rival."""
    assert main(["lookup", "H20", "memory_bandwidth"]) == 0
    out = capsys.readouterr().out
    assert "4.0  TB/s" in out
    assert "<gpu-wiki>/hardware/nvidia/h20.md:L" in out
    assert "Rejected" in out


@pytest.mark.core
def test_unknown_exits_4(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody publishes the sparse peak of the H20."""
    assert main(["lookup", "H20", "peak_compute", "dtype=bf16", "sparsity=2:4"]) == 4
    assert "UNKNOWN" in capsys.readouterr().out


@pytest.mark.core
def test_aliases_and_keys(capsys: pytest.CaptureFixture[str]) -> None:
    """lds_per_cu is shared_memory_per_sm; a full key is accepted."""
    assert main(["lookup", "MI300X", "lds_per_cu", "--json"]) == 0
    spec = json.loads(capsys.readouterr().out)["specs"][0]
    assert (spec["metric"], spec["si_value"], spec["si_unit"]) == ("shared_memory_per_sm", 65536, "B")
    assert main(["lookup", "A100_SXM_80GB", spec["key"], "--json"]) == 0


def test_siblings_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Looking up H20 says what it is not."""
    main(["lookup", "H20"])
    assert "Not to be confused with:" in capsys.readouterr().out


def test_a_document_names_its_data(capsys: pytest.CaptureFixture[str]) -> None:
    """Version and date of the values."""
    assert main(["lookup", "H20", "memory_bandwidth", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert re.fullmatch(r"[0-9a-f]{12}", data["version"]) and re.fullmatch(r"\d{4}-\d\d-\d\d", data["date"])


def test_a_star_is_explained_where_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    """And only there."""
    assert main(["lookup", "H20", "memory_bandwidth"]) == 0
    assert "* an exception to a physics rule, or the chosen side of a conflict" in capsys.readouterr().out
    assert main(["lookup", "H20", "sm_count"]) == 0
    assert "* an exception" not in capsys.readouterr().out


def test_the_first_line_is_of_one_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    """What a rack or a superchip of them has stands below, not beside it."""
    assert main(["lookup", "RUBIN"]) == 0
    assert " or " not in capsys.readouterr().out.split("\n")[1]


def test_a_capacity_in_bytes_is_readable_in_the_first_line_too(capsys: pytest.CaptureFixture[str]) -> None:
    """132644864 B = 132.6 MB, as in the row below it."""
    assert main(["lookup", "B200"]) == 0
    assert "; L2 132644864 B = 132.6 MB" in capsys.readouterr().out.split("\n")[1]

"""Tests of tables of exhaustive results: Kernel Tuner's cache files, T4 documents, and files that are neither."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from result_table import ResultTable, read_table, tables_in

from kopt_kb.base.errors import BadInput

CACHE = {
    "device_name": "A Device",
    "kernel_name": "k",
    "tune_params_keys": ["block", "padded"],
    "tune_params": {"block": [32, 64], "padded": [0, 1]},
    "objective": "time",
    "cache": {
        "32,0": {"block": 32, "padded": 0, "time": 2.0, "times": [2.0, 1.0, 3.0]},
        "64,0": {"block": 64, "padded": 0, "time": 1.0, "times": [[0, 1.5], [0, 0.5], [0, 1.0]]},
        "64,1": {"block": 64, "padded": 1, "time": "RuntimeFailedConfig"},
        "32,1": {"block": 32, "padded": 1, "time": 1e20},
    },
}


def cache_file(folder: Path, name: str = "A100.json", *, packed: bool = False, cut: int = 0) -> Path:
    """Write the cache file, less its last characters."""
    text = json.dumps(CACHE)
    data = text[: len(text) - cut].encode()
    path = folder / name
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_a_cache_file_gives_medians_failures_and_its_space(tmp_path: Path, packed: bool) -> None:
    table = read_table(cache_file(tmp_path, packed=packed))
    assert (table.name, table.device, table.is_whole) == (f"{tmp_path.name}/A100", "A Device", True)
    assert table.medians_s.tolist() == [2e-3, 1e-3, float("inf"), float("inf")]
    assert [one.failure for one in table.results] == ["", "", "RuntimeFailedConfig", "1e+20"]
    assert table.results[1].times_s == (1.5e-3, 0.5e-3, 1e-3)
    assert (table.valid, table.best_s, table.within(0.02), table.within(1.0)) == (2, 1e-3, 1, 2)
    assert table.space.knobs == {"block": (32, 64), "padded": (0, 1)}
    assert [table.space.config(at) for at in range(4)] == [one.config for one in table.results]


def test_a_cache_file_that_its_tuner_did_not_close_is_not_whole(tmp_path: Path) -> None:
    table = read_table(cache_file(tmp_path, cut=2))
    assert (len(table.results), table.is_whole) == (4, False)


def test_a_table_is_the_same_once_written_as_t4(tmp_path: Path, table: ResultTable) -> None:
    path = tmp_path / "hill_T4.json.gz"
    path.write_bytes(gzip.compress(json.dumps(table.to_t4()).encode()))
    again = read_table(path)
    assert (again.name, again.device, again.constraints, again.versions) == (
        table.name, table.device, table.constraints, table.versions,
    )  # fmt: skip
    assert again.medians_s == pytest.approx(table.medians_s)
    assert [(one.config, one.failure, one.facts) for one in again.results] == [
        (one.config, one.failure, one.facts) for one in table.results
    ]


def test_files_of_a_folder_are_found_once_each(tmp_path: Path) -> None:
    cache_file(tmp_path)
    cache_file(tmp_path, "A100_T4.json", packed=False)
    cache_file(tmp_path, "W7800.json.gz", packed=True)
    (tmp_path / "notes.json").write_text("{}")
    assert [path.name for path in tables_in(tmp_path)] == ["A100.json", "W7800.json.gz"]


@pytest.mark.parametrize(
    ("data", "says", "code"),
    [
        (b"[]", "is a list", "KB116"),
        (b'{"a": 1}', "has members a", "KB116"),
        (b"{", "is not JSON", "KB116"),
        (b"\xff\xfe", "is not UTF-8", "KB115"),
        (gzip.compress(b'{"cache": {}}' * 20, mtime=0)[:-12], "is no whole gzip file", "KB116"),
        (gzip.compress(b" " * 5000, mtime=0), "unpacks to more than 4000 bytes", "KB114"),
        (b'{"cache": {}}', "a result is not as its format says", "KB116"),
        (b'{"results": [{"times": 1}]}', "a result is not as its format says", "KB116"),
        (b'{"metadata": {"timeunit": "fortnights"}, "results": []}', "its time unit is 'fortnights'", "KB116"),
    ],
)
def test_what_is_no_table_is_refused_with_its_cause(tmp_path: Path, data: bytes, says: str, code: str) -> None:
    path = tmp_path / "odd.json"
    path.write_bytes(data)
    with pytest.raises(BadInput, match=says) as refused:
        read_table(path, 4000)
    assert refused.value.error_code == code


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no table"):
        tables_in(tmp_path)
    with pytest.raises(BadInput, match="no such folder"):
        tables_in(tmp_path / "none")


def test_tables_of_a_checkout_agree_with_their_t4_twins() -> None:
    folder = os.environ.get("KOPT_SEARCH_TABLES")
    if not folder:
        pytest.skip("KOPT_SEARCH_TABLES names no checkout of benchmark_hub")
    twins = [(path, path.with_name(path.name.replace(".json", "_T4.json"))) for path in tables_in(folder)]
    cache, t4 = next((cache, t4) for cache, t4 in twins if t4.exists())
    one, other = read_table(cache), read_table(t4)
    assert one.medians_s == pytest.approx(other.medians_s)
    assert one.space.knobs == other.space.knobs

"""Foreign tables are read strictly: CSV or JSON, every bad cell named with its line."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.packs.curate.foreign import read_foreign


def write(tmp_path: Path, text: str, name: str = "table.csv") -> Path:
    """A file."""
    path = tmp_path / name
    path.write_text(text)
    return path


CSV = "platform,metric,value,unit,conditions,dtype\nT10,memory_bandwidth,2000,GB/s,,\nT10,peak_compute,1e2,TFLOPS,engine=matrix; sparsity=dense,fp16\n"


def test_csv_and_json_give_the_same_rows(tmp_path: Path) -> None:
    """Axes may be columns or conditions; numbers are exact."""
    from_csv = read_foreign(write(tmp_path, CSV))
    rows = [
        {"platform": "T10", "metric": "memory_bandwidth", "value": 2000, "unit": "GB/s"},
        {
            "platform": "T10",
            "metric": "peak_compute",
            "value": 1e2,
            "unit": "TFLOPS",
            "conditions": {"dtype": "fp16", "engine": "matrix", "sparsity": "dense"},
        },
    ]
    from_json = read_foreign(write(tmp_path, json.dumps({"rows": rows}), "t.json"))
    assert [(r.metric, r.axes, r.si) for r in from_csv] == [(r.metric, r.axes, r.si) for r in from_json]
    assert from_csv[0].si == Fraction(2 * 10**12)
    assert from_csv[1].where.endswith("table.csv:3")


def test_printed_kilobytes_of_caches_are_binary(tmp_path: Path) -> None:
    """48 MB of L2 are 48 MiB; 48 GB of memory are decimal."""
    rows = read_foreign(write(tmp_path, "platform,metric,value,unit\nT,l2_capacity,48,MB\nT,memory_capacity,48,GB\n"))
    assert [row.si for row in rows] == [48 * 1024**2, 48 * 10**9]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "header"),
        ("platform,metric,value\nT,sm_count,1\n", "header"),
        ("platform,metric,value,unit,colour\n", "header"),
        ("platform,metric,value,unit\n", "no rows"),
        ("platform,metric,value,unit\nT,sm_count,1\n", ":2"),
        ("platform,metric,value,unit\nT,sm_count,about 5,count\n", "not a number"),
        ("platform,metric,value,unit\nT,sm_count,NaN,count\n", "finite"),
        ("platform,metric,value,unit\nT,sm_count,-1,count\n", "finite"),
        ("platform,metric,value,unit\nT,sm_count,1e999999,count\n", "finite"),
        ("platform,metric,value,unit\nT,sm_cont,1,count\n", "sm_count"),
        ("platform,metric,value,unit\nT,sm_count,1,GB\n", "does not measure"),
        ("platform,metric,value,unit\nT,l2_capacity,1,KB\n", "unknown unit"),
        ("platform,metric,value,unit,dtype\nT,sm_count,1,count,fp16\n", "no axis"),
        ("platform,metric,value,unit,conditions\nT,board_power,1,W,kind=most\n", "vocabulary"),
        ("platform,metric,value,unit,conditions\nT,board_power,1,W,most\n", "axis=value"),
        ('{"rows": 5}', "list of rows"),
        ("[1]", "list of rows"),
        ('[{"platform": "T"}]', "lacks"),
        ("[{]", "not JSON"),
        ('[{"platform": "T", "metric": "sm_count", "value": 1, "unit": "count", "conditions": [1]}]', "conditions"),
    ],
)
def test_bad_tables_are_named(tmp_path: Path, text: str, says: str) -> None:
    """One line, with the place."""
    with pytest.raises(BadInput) as caught:
        read_foreign(write(tmp_path, text))
    assert says in str(caught.value)
    assert "table.csv" in str(caught.value)


def test_files_that_are_no_text(tmp_path: Path) -> None:
    """Missing, a folder, bytes."""
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "missing.csv", tmp_path, tmp_path / "b.csv"):
        with pytest.raises(BadInput):
            read_foreign(path)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_rows_or_one_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Never a traceback."""
    path = tmp_path_factory.mktemp("f") / "t"
    path.write_text(text, encoding="utf-8", errors="replace")
    try:
        assert read_foreign(path)
    except KoptError as error:
        assert "\n" not in error.where

"""Fused-MoE tables are read whole, refused where they are not, and written as they were."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.fused_moe import is_fused_moe, read_fused_moe, serves_fused_moe, write_fused_moe
from kopt_kb.problem.tuned_table import TunedRow, TunedTable

NAME = Path("E=8,N=96,device_name=NVIDIA_H20-3e,dtype=fp8_w8a8,block_shape=[128, 128]_down.json")
BLOCKS = {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 64}
ROWS = {"1": {**BLOCKS, "num_warps": 4, "USE_TMA": False}, "16": {**BLOCKS, "num_warps": 8, "waves_per_eu": 0}}
TEXT = json.dumps({"triton_version": "3.4.0", **ROWS}, indent=4) + "\n"


def read(text: str = TEXT, name: Path = NAME) -> TunedTable:
    """The table of a text."""
    return read_fused_moe(text.encode(), name)


def test_what_a_name_and_a_file_say() -> None:
    """Device as its driver prints it, facts of the whole, rows with their lines."""
    table = read()
    assert (table.device, [row.key for row in table.rows]) == ("NVIDIA H20-3e", ["1", "16"])
    assert (table.kernel, table.shape, table.dtype) == ("fused_moe", {"E": 8, "N": 96}, "fp8_w8a8")
    assert (table.block_shape, table.product, table.triton) == ((128, 128), "down", "3.4.0")
    assert [row.sizes for row in table.rows] == [{"tokens": 1}, {"tokens": 16}]
    assert table.rows[0].settings["USE_TMA"] is False
    assert [row.line for row in table.rows] == [3, 10]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("E=128,N=1024,device_name=AMD_Instinct_MI300X.json", True),
        ("E=1,N=14336,device_name=NVIDIA_A100-SXM4-80GB,dtype=int8_w8a16.json", True),
        ("E=10,N=512,device_name=Intel(R)_Arc(TM)_Pro_B60_Graphics.json", True),
        ("E=64,N=512,device_name=NVIDIA_H200,dtype=fp8_w8a8,block_shape=[128, 128],per_channel_quant=True.json", True),
        ("E=160,N=384,device_name=NVIDIA_RTX_PRO_6000,dtype=fp8_w8a8_down.json", True),
        ("moe_sum_reduce_NVIDIA-H200_t8_h2048_bfloat16.json", False),
        ("E=1,N=2.json", False),
        ("E=384,N=128,device_name=,dtype=int4_w4a16.json", True),
        ("config.json", False),
    ],
)
def test_a_table_is_known_by_its_name(name: str, expected: bool) -> None:
    """As both projects call their files; a list is none."""
    assert is_fused_moe(name, b" {") is expected
    assert not is_fused_moe(name, b"[1")


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("end", ["", "\n", "\r\n\r\n"])
def test_an_unchanged_table_is_written_byte_for_byte(indent: int | None, end: str) -> None:
    """However it is laid out."""
    text = json.dumps(ROWS, indent=indent) + end
    assert write_fused_moe(read(text)) == text.encode()


SETTINGS = st.dictionaries(st.text(min_size=1, max_size=6), st.integers() | st.booleans() | st.text(max_size=4)).map(
    lambda more: {**BLOCKS, **{name: one for name, one in more.items() if name not in BLOCKS}}
)


@given(st.dictionaries(st.integers(1, 9999).map(str), SETTINGS, min_size=1, max_size=5), st.sampled_from([None, 2, 4]))
def test_whatever_is_written_is_read_back(rows: dict[str, dict[str, object]], indent: int | None) -> None:
    """Byte for byte, and as a table that no file has."""
    text = json.dumps(rows, indent=indent)
    table = read(text)
    assert write_fused_moe(table) == text.encode()
    again = read(write_fused_moe(replace(table, layout=None)).decode())
    assert [(row.key, row.settings) for row in again.rows] == [(row.key, row.settings) for row in table.rows]


def test_a_changed_row_leaves_the_others_as_they_were() -> None:
    """Only its own lines differ; a new table is laid out as the tuner does it."""
    table = read()
    changed = replace(table.rows[1], settings={**table.rows[1].settings, "num_warps": 4})
    assert write_fused_moe(replace(table, rows=(table.rows[0], changed))).decode() == TEXT.replace(
        '"num_warps": 8', '"num_warps": 4'
    )
    new = TunedRow("32", {**BLOCKS, "num_warps": 2})
    longer = write_fused_moe(replace(table, rows=(*table.rows, new))).decode()
    assert longer == json.dumps({"triton_version": "3.4.0", **ROWS, "32": dict(new.settings)}, indent=4) + "\n"
    shorter = write_fused_moe(replace(table, rows=table.rows[:1])).decode()
    assert shorter == json.dumps({"triton_version": "3.4.0", "1": ROWS["1"]}, indent=4) + "\n"


@pytest.mark.parametrize(("tokens", "key"), [(1, "1"), (8, "1"), (9, "16"), (10**6, "16")])
def test_the_nearest_row_serves(tokens: int, key: str) -> None:
    """As both engines choose: the first of two that are as near, and the last one whatever lies beyond."""
    row = serves_fused_moe(read(TEXT.replace('"16": {', '"15": {')), {"tokens": tokens})
    assert row is not None and row.key == key.replace("16", "15")


def test_engine_and_compiler_stand_in_the_path() -> None:
    """A folder of a Triton version is SGLang's; a file of nobody's folder is nobody's."""
    older = read(TEXT.replace('"triton_version": "3.4.0",', ""), Path("/x/configs/triton_3_5_1") / NAME)
    assert (older.engine, older.triton) == ("sglang", "3.5.1")
    assert read(name=Path("/x/vllm/configs") / NAME).engine == "vllm"
    assert read(name=Path("/x") / NAME).engine == ""


def test_true_is_not_one() -> None:
    """A setting that changes its type is a change."""
    table = read()
    changed = replace(table.rows[0], settings={**table.rows[0].settings, "USE_TMA": 0})
    assert b'"USE_TMA": 0' in write_fused_moe(replace(table, rows=(changed, table.rows[1])))


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('"16": {', '"1": {', 10, "the key 1 stands twice"),
        ('"num_warps": 8', '"num_warps": 8.0', 10, "8.0 is no whole number"),
        ('"num_warps": 8', '"num_warps": null', 10, "num_warps is null"),
        ('"num_warps": 8', '"num_warps": [8]', 10, "num_warps is [8]"),
        ('"BLOCK_SIZE_M": 16,\n        "BLOCK_SIZE_N": 32,\n        "BLOCK_SIZE_K": 64,\n        "num_warps": 8', '"num_warps": 8', 10, "BLOCK_SIZE_M"),
        ('"BLOCK_SIZE_K": 64', '"BLOCK_SIZE_K": 0', 3, "BLOCK_SIZE_K"),
        ('"BLOCK_SIZE_K": 64', '"BLOCK_SIZE_K": true', 3, "BLOCK_SIZE_K"),
        ('"16": {', '"sixteen": {', 10, "sixteen"),
        ('"triton_version": "3.4.0"', '"2": 3', 2, "2 has no settings"),
        ('"waves_per_eu": 0\n    }\n}\n', '"waves_per_eu": 0\n    },\n', 17, "the file ends"),
        ('"waves_per_eu": 0\n    }\n}\n', '"waves_per', 15, "(in 16)"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named_with_line_and_key(old: str, new: str, line: int, says: str) -> None:
    """Nothing of a table that is not whole is read."""
    assert old in TEXT
    with pytest.raises(BadInput) as caught:
        read(TEXT.replace(old, new))
    assert says in caught.value.what
    assert caught.value.where.endswith(f".json:{line}")
    assert caught.value.error_code == "KB116"


@pytest.mark.parametrize("data", [b"{}", b'{"triton_version": "3"}', b"\xff{}"])
def test_what_holds_no_row_is_none(data: bytes) -> None:
    """The file is named."""
    with pytest.raises(BadInput):
        read_fused_moe(data, NAME)
    with pytest.raises(BadInput):
        read_fused_moe(TEXT.encode(), Path("config.json"))

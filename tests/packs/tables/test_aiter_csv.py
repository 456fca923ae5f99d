"""AITER's tables: columns say what is asked and what was chosen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.aiter_csv import is_aiter_csv, read_aiter_csv, serves_aiter_csv, write_aiter_csv
from kopt_kb.problem.tuned_table import TunedRow, TunedTable

PATH = Path("a8w8_tuned_gemm.csv")
HEAD = "gfx,cu_num,M,N,K,q_dtype_w,libtype,kernelId,splitK,us,kernelName,tflops,bw,errRatio"
ROWS = (
    "gfx950,256,1,2048,3072,fp8,ck,8,2,4.8294,name_a,2.61,1304.22,0.0",
    "gfx950,256,2,2048,3072,fp8,ck,9,0.5,5.0,b,1,2,0",
)
TEXT = "\r\n".join([HEAD, *ROWS, ""])


def read(text: str = TEXT) -> TunedTable:
    """The table of a text."""
    return read_aiter_csv(text.encode(), PATH)


def test_what_a_line_says() -> None:
    """Extents, types, choice and what the tuner measured, each in its place."""
    table = read()
    row = table.rows[0]
    assert (table.kernel, row.device, row.sizes) == ("gemm", "gfx950:256", {"M": 1, "N": 2048, "K": 3072})
    assert dict(row.settings) == {"libtype": "ck", "kernelId": 8, "splitK": 2, "kernelName": "name_a"}
    assert (row.facts["q_dtype_w"], row.facts["us"], row.line) == ("fp8", "4.8294", 2)
    assert table.rows[1].settings["splitK"] == 0.5
    assert serves_aiter_csv(table, {"M": 2, "N": 2048, "K": 3072}) == table.rows[1]
    assert serves_aiter_csv(table, {"M": 3, "N": 2048, "K": 3072}) is None


def test_columns_tell_the_form() -> None:
    """A list of shapes that were never tuned is none, nor is a table of finished kernels."""
    assert is_aiter_csv(PATH.name, TEXT.encode())
    assert not is_aiter_csv(PATH.name, b"M,N,K\n")
    assert not is_aiter_csv(PATH.name, b"cu_num,M,N,K\n")
    assert not is_aiter_csv("notes.txt", TEXT.encode())
    moe = "cu_num,token,model_dim,us,kernelName1\n80,4,2304,1.0,a\n"
    assert (read(moe).kernel, read(moe).rows[0].device) == ("fused_moe", ":80")
    assert read("arch,dtype,b,duration\ngfx942,bf16,4,1.0\n").rows[0].device == "gfx942"


@pytest.mark.parametrize(
    "text", [TEXT, TEXT.replace("\r\n", "\n"), TEXT.rstrip(), TEXT + "\n", TEXT.replace(",8,", ",08,")]
)
def test_an_unchanged_table_is_written_byte_for_byte(text: str) -> None:
    """However its lines end, and however a number is written."""
    assert write_aiter_csv(read(text)) == text.encode()


def test_a_changed_row_leaves_the_others_as_they_were() -> None:
    """A new row ends as the head does."""
    table = read()
    changed = replace(table.rows[0], settings={**table.rows[0].settings, "splitK": 4})
    assert write_aiter_csv(replace(table, rows=(changed, table.rows[1]))).decode() == TEXT.replace(",8,2,", ",8,4,")
    fresh = TunedRow("gfx950,256,4,2048,3072,fp8", {"libtype": "ck"}, sizes={"M": 4})
    longer = write_aiter_csv(replace(table, rows=(*table.rows, fresh))).decode()
    assert longer == TEXT + "gfx950,256,4,2048,3072,fp8,ck,,,,,,,\r\n"
    cut = read(TEXT.rstrip())
    assert write_aiter_csv(replace(cut, rows=(*cut.rows, fresh))).decode().count("\n") == 4
    with pytest.raises(BadInput, match="no columns"):
        write_aiter_csv(replace(table, layout=None))


@pytest.mark.parametrize(
    ("old", "new", "where", "says"),
    [
        (ROWS[1], "gfx950,256,2", "a8w8_tuned_gemm.csv:3", "3 cells under 14 columns"),
        (",256,2,", ",256,2.0,", "a8w8_tuned_gemm.csv:3", "M is 2.0, no whole number"),
        (",256,2,", ",,2,", "a8w8_tuned_gemm.csv:3", "cu_num is empty"),
        ("kernelId,splitK", "kernelId,kernelId", "a8w8_tuned_gemm.csv:1", "a column stands twice"),
        ("\r\n".join(["", *ROWS, ""]), "\r\n", "a8w8_tuned_gemm.csv", "has no row"),
        (TEXT, "", "a8w8_tuned_gemm.csv:1", "a column stands twice"),
    ],
)
def test_a_bad_line_is_named(old: str, new: str, where: str, says: str) -> None:
    """Nothing of a table that is not whole is read."""
    with pytest.raises(BadInput) as caught:
        read(TEXT.replace(old, new))
    assert caught.value.where == where and says in caught.value.what

"""Triton's stored autotune results."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.triton_autotune import (
    is_triton_autotune,
    read_triton_autotune,
    serves_triton_autotune,
    write_triton_autotune,
)

PATH = Path("softmax_kernel.autotune.json")
RESULTS = [
    [{"kwargs": {"BLOCK": 64}, "num_warps": 4, "num_ctas": 1, "num_stages": 3, "maxnreg": None}, [0.02, 0.01, 0.03]],
    [{"kwargs": {"BLOCK": 128}, "num_warps": 8, "num_ctas": 1, "num_stages": 3, "maxnreg": None}, [0.01, 0.01, 0.01]],
]
DATA = json.dumps({"key": [4096, "torch.float16"], "configs_timings": RESULTS}).encode()


def test_every_configuration_is_a_row() -> None:
    """The least median is what Triton takes."""
    table = read_triton_autotune(DATA, PATH)
    assert (table.kernel, table.engine, table.facts["key"]) == ("softmax_kernel", "triton", '[4096, "torch.float16"]')
    assert dict(table.rows[0].settings) == {
        "BLOCK": 64, "num_warps": 4, "num_ctas": 1, "num_stages": 3, "maxnreg": None,
    }  # fmt: skip
    taken = serves_triton_autotune(table, {})
    assert taken is not None and taken.key == "1"
    assert is_triton_autotune(PATH.name, b"{") and not is_triton_autotune("a.json", b"{")


def test_results_are_written_as_triton_writes_them() -> None:
    """Those that were read unchanged byte for byte, whatever their blanks."""
    loose = DATA.replace(b", ", b",  ")
    assert write_triton_autotune(read_triton_autotune(loose, PATH)) == loose
    table = read_triton_autotune(DATA, PATH)
    assert write_triton_autotune(replace(table, layout=None)) == DATA
    shorter = write_triton_autotune(replace(table, rows=table.rows[:1]))
    assert json.loads(shorter)["configs_timings"] == RESULTS[:1]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (DATA[:-4], "no whole JSON"),
        (DATA.replace(b'"num_warps": 4', b'"num_warps": 4, "num_warps": 8'), "num_warps stands twice"),
        (b'{"key": []}', "no key with configs_timings"),
        (b"[1]", "no key with configs_timings"),
        (DATA.replace(b"[0.02, 0.01, 0.03]", b'"fast"'), "result 0"),
        (DATA.replace(b'{"BLOCK": 128}', b"3"), "result 1"),
    ],
)
def test_what_is_no_result_is_refused(data: bytes, says: str) -> None:
    """With the file."""
    with pytest.raises(BadInput, match=says) as caught:
        read_triton_autotune(data, PATH)
    assert caught.value.where == str(PATH)

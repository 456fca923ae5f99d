"""Shapes that no row serves."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.devices import DeviceNames
from kopt_kb.packs.tables.fused_moe import asks_fused_moe, read_fused_moe
from kopt_kb.packs.tables.misses import Misses, misses
from kopt_kb.problem.tuned_table import TunedTable
from kopt_kb.wiki.registry import Registry

DEVICES = DeviceNames(Registry.open())
ROW = {f"BLOCK_SIZE_{one}": 16 for one in "MNK"}
LOG = """INFO start
WARNING Using default MoE config. Performance might be sub-optimal! Config file not found at /x/E=8,N=96,device_name=NVIDIA_H200.json
WARNING Config file not found at /x/triton_3_6_0/E=8,N=96,device_name=A,dtype=fp8_w8a8.json. Fallback to triton version 3.5.1 and use MoE kernel config from /x/triton_3_5_1/E=8,N=96,device_name=A,dtype=fp8_w8a8.json. Performance might be sub-optimal!
[aiter] shape is M:16, N:7168, K:2048, not found tuned config in /tmp/a8w8_tuned_gemm.csv, will use default config!
[aiter] shape is M:16, N:7168, K:2048, not found tuned config in /tmp/a8w8_tuned_gemm.csv, will use default config!
[aiter] shape is M:8, N:64, K:64, found padded_M: 8, N:64, K:64 is tuned on cu_num = 80
Config file not found at nowhere
"""


def table(width: int = 96, device: str = "NVIDIA_H200", rows: tuple[int, ...] = (1, 64)) -> TunedTable:
    """A table of 8 experts."""
    name = Path(f"E=8,N={width},device_name={device}.json")
    return read_fused_moe(json.dumps({str(one): ROW for one in rows}).encode(), name)


def op(number: int, name: str, *dims: list[int]) -> dict[str, object]:
    """An operation with its shapes."""
    return {"ph": "X", "cat": "cpu_op", "name": name, "args": {"External id": number, "Input Dims": list(dims)}}


def moe(number: int, tokens: int, width: int = 96) -> dict[str, object]:
    """A layer of experts."""
    return op(number, "vllm::outplace_fused_experts", [tokens, 512], [8, 2 * width, 512], [8, 512, width])


def kernel(number: int, microseconds: float) -> dict[str, object]:
    """A kernel that an operation launched."""
    return {"ph": "X", "cat": "kernel", "name": "k", "dur": microseconds, "args": {"External id": number}}


EVENTS = [
    moe(1, 64), kernel(1, 10.0), moe(2, 4096), kernel(2, 50.0), kernel(2, 10.0), moe(3, 4096), kernel(3, 20.0),
    moe(4, 8, 128), kernel(4, 5.0), op(5, "aten::mm", [1, 2], [2, 3]), kernel(5, 5.0), {"ph": "X"}, 3,
    op(6, "vllm::inplace_fused_experts", [1, 2]),
    {"cat": "cpu_op", "args": {"External id": 7, "Input Dims": [[1.5], "a"]}},
]  # fmt: skip


def trace(tmp_path: Path, events: object = EVENTS, device: str = "NVIDIA H200") -> Path:
    """A trace."""
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"name": device}], "traceEvents": events}))
    return path


def said(found: Misses) -> list[tuple[Mapping[str, int], str, int]]:
    """Extents, reason and count of each."""
    return [(one.extents, one.reason, one.count) for one in found.shapes]


def test_a_trace_lists_shapes_by_time(tmp_path: Path) -> None:
    """A row twice as far as it may be, and a width without a table; what is served is counted."""
    found = misses(trace(tmp_path), [table()], DEVICES)
    far = "row 64 of E=8,N=96,device_name=NVIDIA_H200.json serves tokens 4096"
    assert said(found) == [
        ({"E": 8, "N": 96, "tokens": 4096}, far, 2),
        ({"E": 8, "N": 128, "tokens": 8}, "no table for E=8, N=128", 1),
    ]
    assert [one.seconds for one in found.shapes] == pytest.approx([80e-6, 5e-6])
    assert found.shapes[0].share == pytest.approx(0.8)
    assert (found.served, found.device, found.tables) == (1, "NVIDIA H200", 1)


def test_tables_of_another_product_serve_nothing(tmp_path: Path) -> None:
    """Those of no known product may."""
    assert misses(trace(tmp_path), [table(device="NVIDIA_H20")], DEVICES).tables == 0
    assert misses(trace(tmp_path), [table(device="NVIDIA_H800")], DEVICES).tables == 1
    assert misses(trace(tmp_path, device=""), [table(device="NVIDIA_H20")], DEVICES).tables == 1
    assert said(misses(trace(tmp_path), [], DEVICES))[0][1] == "no table was named"


def test_a_packed_trace_and_a_bare_list_are_read(tmp_path: Path) -> None:
    """As torch writes them."""
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(json.dumps(EVENTS).encode()))
    assert misses(path, [table()], DEVICES).served == 1
    with pytest.raises(BadInput, match="no operation with its shapes"):
        misses(trace(tmp_path, [kernel(1, 2.0)]), [table()], DEVICES)


def test_a_log_says_what_was_not_found(tmp_path: Path) -> None:
    """Files of vLLM and SGLang, shapes of AITER; the most frequent first."""
    path = tmp_path / "moe.log"
    path.write_text(LOG)
    found = misses(path, [], DEVICES)
    assert [(one.what, one.extents, one.reason, one.count, one.line) for one in found.shapes] == [
        ("a8w8_tuned_gemm.csv", {"M": 16, "N": 7168, "K": 2048}, "no row: the default serves it", 2, 4),
        ("E=8,N=96,device_name=NVIDIA_H200.json", {"E": 8, "N": 96}, "no such file: the default serves it", 1, 2),
        (
            "E=8,N=96,device_name=A,dtype=fp8_w8a8.json", {"E": 8, "N": 96}, "a table of another Triton serves it", 1, 3,
        ),
    ]  # fmt: skip
    path.write_text("all is well\n")
    with pytest.raises(BadInput, match="says of no shape"):
        misses(path, [], DEVICES)


def test_operations_ask_by_their_weights() -> None:
    """The second weight says experts and width."""
    dims = ((7, 512), (8, 192, 512), (8, 512, 96))
    assert asks_fused_moe("sglang::inplace_fused_experts", dims) == {"E": 8, "N": 96, "tokens": 7}
    assert asks_fused_moe("aten::mm", dims) is None
    assert asks_fused_moe("vllm::fused_experts", dims[:2]) is None

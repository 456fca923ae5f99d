"""`kb table misses`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.packs.tables.test_command_read import table
from tests.packs.tables.test_misses import LOG, kernel, moe, trace


def test_a_log_and_a_trace_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the time where there is one; exit 1 where a shape is missed."""
    log = tmp_path / "moe.log"
    log.write_text(LOG)
    assert table("misses", str(log)) == 1
    out = capsys.readouterr().out
    assert "3 shape(s) missed" in out and "M=16, N=7168, K=2048" in out
    assert table("misses", str(trace(tmp_path))) == 1
    out = capsys.readouterr().out
    assert "on NVIDIA H200" in out and "0.080 ms" in out and "80.0 %" in out


def test_a_served_trace_exits_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its tables are named one by one or by folder."""
    (tmp_path / "tables").mkdir()
    row = {f"BLOCK_SIZE_{one}": 16 for one in "MNK"}
    (tmp_path / "tables" / "E=8,N=96,device_name=NVIDIA_H200.json").write_text(json.dumps({"64": row}))
    path = trace(tmp_path, [moe(1, 64), kernel(1, 5.0)])
    assert table("misses", str(path), "--table", str(tmp_path / "tables"), "--json") == 0
    body = json.loads(capsys.readouterr().out)
    assert (body["served"], body["shapes"], body["tables"]) == (1, [], 1)
    assert table("misses", str(path), "--table", str(tmp_path / "tables")) == 0
    assert "0 shape(s) missed, 1 call(s) served" in capsys.readouterr().out

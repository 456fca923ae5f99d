"""`kb table read`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from kopt_kb.packs.tables.command import add_arguments, run
from tests.packs.tables.test_fused_moe import TEXT


def table(*words: str) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(list(words)))


@pytest.mark.parametrize(
    ("device", "platform", "says"),
    [
        ("NVIDIA_H20-3e", "H20_141GB", ""),
        ("AMD_Instinct_MI300X", "MI300X", ""),
        ("NVIDIA_H800", None, "H800"),
        ("AMD_Radeon_Graphics", None, "no page"),
    ],
)
def test_the_device_of_a_name_is_a_product_or_a_reason(
    device: str, platform: str | None, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name of several products is none of them."""
    path = tmp_path / f"E=8,N=96,device_name={device}.json"
    path.write_text(TEXT)
    assert table("read", str(path), "--json") == 0
    body = json.loads(capsys.readouterr().out)
    assert body.get("platform") == platform
    assert says in body.get("reason", "")
    assert [row["key"] for row in body["rows"]] == ["1", "16"]
    assert body["rows"][1]["settings"]["num_warps"] == 8
    assert (body["triton"], body["shape"], body["kernel"]) == ("3.4.0", {"E": 8, "N": 96}, "fused_moe")


def test_a_table_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A column a setting; a setting that a row has not is left blank."""
    path = tmp_path / "E=8,N=96,device_name=NVIDIA_H20-3e.json"
    path.write_text(TEXT)
    assert table("read", str(path)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "NVIDIA H20-3e (H20_141GB)" in lines[0]
    assert lines[2].split() == [
        "key",
        "BLOCK_SIZE_M",
        "BLOCK_SIZE_N",
        "BLOCK_SIZE_K",
        "num_warps",
        "USE_TMA",
        "waves_per_eu",
    ]
    assert [line.split() for line in lines[3:]] == [
        ["1", "16", "32", "64", "4", "false"], ["16", "16", "32", "64", "8", "0"],
    ]  # fmt: skip

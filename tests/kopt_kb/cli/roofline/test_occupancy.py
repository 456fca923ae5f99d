"""`kb occupancy` with limits of the wiki."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


def test_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    """H100: 8 warps of 124 registers are 8 x 4096; 65536 hold two; 96 KiB + 1 KiB twice in 228."""
    assert (
        main(
            [
                "occupancy",
                "--platform",
                "H100_SXM",
                "--threads",
                "256",
                "--registers",
                "124",
                "--shared",
                "98304",
                "--json",
            ]
        )
        == 0
    )
    body = json.loads(capsys.readouterr().out)
    assert (body["blocks_per_sm"], body["warps_per_sm"], body["occupancy_pct"]) == (2, 16, 25.0)
    assert set(body["limiters"]) == {"registers", "shared_memory"}
    assert all("<gpu-wiki>/" in line for line in body["citations"])


def test_what_can_not_be_launched_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    """300 registers a thread."""
    assert main(["occupancy", "--platform", "A100_SXM_80GB", "--threads", "256", "--registers", "300"]) == 1
    assert "does not fit" in capsys.readouterr().out


def test_a_cluster_that_is_too_large_says_the_documented_size(capsys: pytest.CaptureFixture[str]) -> None:
    """The size that has to be asked for is the limit; other vendors and files have no such number."""
    words = ["occupancy", "--platform", "H100_SXM", "--threads", "256", "--cluster"]
    assert main([*words, "16"]) == 0
    assert main([*words, "17"]) == 1
    assert "blocks_per_cluster=17 does not fit (cluster_size[mode=optin]: 16" in capsys.readouterr().out
    assert main(["occupancy", "--platform", "MI300X", "--threads", "256", "--cluster", "2"]) == 2


def test_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    """Negative and missing numbers."""
    assert main(["occupancy", "--platform", "H100_SXM", "--threads", "-1"]) == 2
    assert main(["occupancy", "--platform", "H100_SXM"]) == 2
    assert "--threads" in capsys.readouterr().err


def test_a_compiled_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `kb compile --json` printed gives the same as the numbers."""
    kernel = {
        "name": "k",
        "num_warps": 8,
        "registers": 124,
        "accumulation_registers": None,
        "scalar_registers": None,
        "shared_bytes": 98304,
        "tensor_memory_columns": 0,
    }
    record = tmp_path / "record.json"
    record.write_text(json.dumps({"kernels": [kernel]}))
    assert main(["occupancy", "--platform", "H100_SXM", "--record", str(record), "--json"]) == 0
    (body,) = json.loads(capsys.readouterr().out)["kernels"]
    assert (body["name"], body["blocks_per_sm"]) == ("k", 2)
    record.write_text("{}")
    assert main(["occupancy", "--platform", "H100_SXM", "--record", str(record)]) == 2


def test_a_file_of_machine_code(capsys: pytest.CaptureFixture[str], repo_root: Path) -> None:
    """Its kernels by name; what the file says itself is not asked for again."""
    file = str(repo_root / "tests" / "data" / "code_objects" / "tile_product.gfx942.hsaco")
    words = ["occupancy", file, "--platform", "MI300X"]
    assert main([*words, "--shared", "8192", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["kernels"]
    assert (one["name"], one["warps_per_block"], one["blocks_per_sm"]) == ("tile_product", 4, 4)
    assert main(words) == 0
    assert "MI300X tile_product" in capsys.readouterr().out
    for more, why in (
        (["--registers", "4"], "--registers with a file"), (["--kernel", "x"], "no kernel 'x'"),
        (["--threads", "-1"], "negative"),
    ):  # fmt: skip
        assert main([*words, *more]) == 2
        assert why in capsys.readouterr().err
    assert main(["occupancy", str(repo_root / "README.md"), "--platform", "MI300X"]) == 2
    assert main(["occupancy", file, "--platform", "H100_SXM"]) == 2
    assert main(["occupancy", "--platform", "H100_SXM", "--threads", "64", "--kernel", "k"]) == 2

"""`kb occupancy` with limits of the wiki."""

from __future__ import annotations

import json

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


def test_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    """Negative and missing numbers."""
    assert main(["occupancy", "--platform", "H100_SXM", "--threads", "-1"]) == 2
    assert main(["occupancy", "--platform", "H100_SXM"]) == 2
    assert "--threads" in capsys.readouterr().err

"""The table of a kernel's own configurations, and where `--autotune all` is refused."""

from __future__ import annotations

import pytest

from kopt_kb.cli.kit.own_configs import render_configs
from kopt_kb.cli.main import main
from kopt_kb.launch.counts.own_configs import OwnConfig, OwnConfigs


def test_a_line_a_configuration() -> None:
    """What it sets and uses, then where its record is, or the limit."""
    kept = OwnConfig(0, {"BLOCK": 64, "num_warps": 4}, None, "", 40, 0, 1024, 3, 18.75, "out/0")
    out = OwnConfig(1, {"BLOCK": 128}, "shared_memory", "2 B; shared_memory_per_block=1 <- x.md:L1")
    text = render_configs(OwnConfigs("sm_90", "H100_SXM", (kept, out)))
    lines = text.splitlines()
    assert lines[0] == "1 of 2 configurations kept for H100_SXM"
    assert lines[2].split() == ["0", "BLOCK=64", "num_warps=4", "40", "0", "1024", "18.75", "%", "out/0"]
    assert lines[3].endswith("shared_memory: 2 B; shared_memory_per_block=1 <- x.md:L1")
    assert "no limits applied" in render_configs(OwnConfigs("sm_90", "", (kept,)))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["count", "f.py", "--kernel", "k", "--arg", "1", "--autotune", "all"], "a launch grid follows from"),
        (["roofline", "--platform", "H20", "f.py", "--arg", "1", "--autotune", "all"], "--autotune all is not used"),
        (["compile", "f.py", "--target", "sm_90", "--arg", "1", "--autotune", "some"], "neither a number from 0 nor"),
        (
            ["compile", "f.py", "--target", "sm_90", "--shape", "4x4", "--dtype", "bf16", "--autotune", "all"],
            "one Triton",
        ),
        (["compile", "f.py", "--target", "sm_90", "--arg", "1", "--autotune", "-1"], "neither a number from 0 nor"),
    ],
)
def test_where_it_is_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With what to do instead."""
    assert main(words) == 2
    assert said in capsys.readouterr().err

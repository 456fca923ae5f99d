"""`kb upgrade` as a user writes it, and its refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.cli.launch import upgrade as command
from kopt_kb.cli.main import main
from kopt_kb.launch.counts.upgrade import Loss, Side, Upgrade, UpgradedKernel

GOOD = Side({"triton": "1"}, 128, 0, 1024, 50.0, 3, {"HGMMA": 4}, 1.0)
BAD = Side({"triton": "2"}, 255, 64, 1024, 50.0, 3, {"HGMMA": 4}, 1.0)


def test_losses_and_their_repair_are_printed(tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1, both sides, what was lost, and what gives it back."""
    (tmp_path / "k.py").write_text("")
    kernel = UpgradedKernel(
        "k.py 4x4 bf16", "k", {}, GOOD, BAD, (Loss("spills", "0 B", "64 B"),), {"num_warps": 8}, GOOD
    )
    monkeypatch.setattr(command, "upgrade", lambda *_, **__: Upgrade("sm_90", "1", "2", (kernel,)))
    words = ["upgrade", str(tmp_path / "k.py"), "--shape", "4x4", "--dtype", "bf16", "--to", "python3"]
    assert main([*words, "--target", "sm_90"]) == 1
    said = capsys.readouterr().out
    for text in ("Triton 1 -> 2, sm_90", "spills: 0 B -> 64 B", "repaired by num_warps=8", "4 HGMMA", "3 bulk copies"):
        assert text in said


def test_a_kernel_that_both_refuse_is_not_passed(
    tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is known of it: the gate does not say that nothing was lost."""
    (tmp_path / "k.py").write_text("")
    refused = Side({}, refused="k.py: does not compile")
    kernel = UpgradedKernel("k.py 4x4 bf16", "", {}, refused, refused, ())
    monkeypatch.setattr(command, "upgrade", lambda *_, **__: Upgrade("sm_90", "1", "2", (kernel,)))
    words = ["upgrade", str(tmp_path / "k.py"), "--shape", "4x4", "--dtype", "bf16", "--to", "python3"]
    assert main([*words, "--target", "sm_90"]) == 1
    said = capsys.readouterr().out
    assert "k.py 4x4 bf16: not compared, it compiles under neither" in said
    assert "nothing lost" not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["k.py"], "--platform and --target"),
        (["k.py", "--target", "sm_90"], "--shape or --dtype"),
        (["k.py", "--target", "sm_90", "--shape", "4", "--dtype", "bf16"], "--to"),
        (
            ["k.py", "--target", "sm_90", "--shape", "4", "--dtype", "bf16", "--to", "/nowhere/python"],
            "no such interpreter",
        ),
        (["k.py", "--target", "sm_90", "--shape", "4", "--dtype", "bf16", "--to", "python3"], "no such file"),
        (
            ["a", "b", "c", "--target", "sm_90", "--shape", "4", "--shape", "5", "--dtype", "bf16", "--to", "python3"],
            "2 shapes",
        ),
    ],
)
def test_bad_words(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line that names what is wrong."""
    assert main(["upgrade", *words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err

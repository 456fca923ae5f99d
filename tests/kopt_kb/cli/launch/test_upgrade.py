"""`kb upgrade` as a user writes it, and its refusals."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.cli.launch import upgrade as command
from kopt_kb.cli.main import main
from kopt_kb.launch.compile.request import OpCase
from kopt_kb.launch.counts.upgrade import Loss, Side, Upgrade, UpgradedKernel, case_label
from kopt_kb.launch.judge.blocks import ComparedKernel
from kopt_kb.launch.judge.revisions import ComparedCase, RunComparison

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


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """A compiler that changes each kernel but those of `same.py`; returns the cases that were compiled and timed."""
    seen: list[object] = []

    def upgraded(cases, target, old, new, **_: object) -> Upgrade:
        seen.extend(cases)
        after = replace(GOOD, versions={"triton": "2"}, fingerprint="new")
        kernels = tuple(
            UpgradedKernel(
                case_label(one), "k", {}, replace(GOOD, fingerprint="new" if "same" in one.file else "old"), after, ()
            )
            for one in cases
        )
        return Upgrade(target, "1", "2", kernels)

    def compared(cases, named, plan) -> RunComparison:
        seen.append([(one.name, one.base.python, one.head.python) for one in cases])
        listed = tuple(
            ComparedCase(
                one.name, one.file, "4x4", one.dtype, *named, True, ComparedKernel("no_regression", "why", 0.9)
            )
            for one in cases
        )
        return RunComparison("undecided", *named, plan.target.device, 2.0, 0.01, len(listed), listed)

    monkeypatch.setattr(command, "upgrade", upgraded)
    monkeypatch.setattr(command, "compare_revisions", compared)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "library").mkdir()
    for name in ("sum.py", "same.py", "library/sum.py", "library/same.py"):
        (tmp_path / name).write_text('OP = "elementwise"')
    return seen


def test_a_folder_s_changed_kernels_are_timed(
    changed: list[object], capsys: pytest.CaptureFixture[str], fits: Callable[[str, object], bool]
) -> None:
    """Each by the compiler that made it; the exit code is that of their times."""
    words = ["upgrade", "library", "--case", "sum.py 4x4 bf16", "--case", "same.py 4x4 bf16", "--to", sys.executable]
    words += ["--platform", "H100_SXM"]
    assert main(words) == 0
    assert "1 of 2 kernels changed" in capsys.readouterr().out
    assert main([*words, "--time"]) == 4
    said = capsys.readouterr().out
    assert "same.py 4x4 bf16 k: the same code" in said and "Triton 2 against Triton 1 on H100_SXM: undecided" in said
    assert changed[-1] == [("sum.py 4x4 bf16", "", sys.executable)]
    assert main([*words, "--time", "--json"]) == 4
    found = json.loads(capsys.readouterr().out)
    assert fits("upgrade", found) and found["timing"]["timed"] == 1
    same = [*words[:2], *words[4:], "--time"]
    assert main(same) == 0
    assert "against" not in capsys.readouterr().out


def test_rows_of_a_table(changed: list[object], tmp_path: Path) -> None:
    """Each is the file with the row's settings, on the row's number of tokens."""
    table = tmp_path / "E=8,N=64,device_name=NVIDIA_H20.json"
    table.write_text('{"16": {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 64}}')
    words = ["upgrade", str(table), "--case", "sum.py {key}x7 bf16 GROUP=1", "--to", sys.executable]
    assert main([*words, "--target", "sm_90"]) == 0
    config = {"GROUP": 1, "BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 64}
    assert changed == [OpCase("sum.py", (16, 7), "bf16", config)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["library"], "nothing says which kernels of the folder"),
        (["library", "--case", "sum.py 4x4 bf16", "--shape", "4x4"], "both cases and files with a shape"),
        (["library", "--case", "gone.py 4x4 bf16"], "gone.py"),
        (["sum.py", "--case", "sum.py 4x4 bf16"], "no tuned table"),
        (["library", "--case", "sum.py 4x4 bf16", "--time"], "--time needs --platform"),
    ],
)
def test_bad_words_of_a_library(
    changed: list[object], words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is compiled."""
    assert main(["upgrade", *words, "--to", sys.executable, "--target", "sm_90"]) == 2
    assert said in capsys.readouterr().err and not changed

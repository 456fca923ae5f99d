"""`kb bench kernel` and `kb bench utilization`: exit codes, JSON, and tables that people read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from kopt_kb.cli.bench.workspace import render_conditions
from kopt_kb.cli.main import main
from kopt_kb.tuning.bench import utilization
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.workspace import Workspace

CAMPAIGNS = Path(__file__).parents[4] / "benchmarks" / "campaigns" / "h200_sxm"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def softmax(tmp_path: Path) -> str:
    """A copy of the committed softmax campaign."""
    return str(shutil.copytree(CAMPAIGNS / "softmax", tmp_path / "softmax"))


@pytest.fixture
def fresh(tmp_path: Path, wiki_root: Path, repo_root: Path, capsys: Capture) -> list[str]:
    """A fresh workspace on the invented T10, with the option that names its wiki."""
    demo = str(repo_root / "kernels" / "naive" / "rms_norm.py")
    words = ["init", "norm", "--platform", "T10", "--framework", "Triton", "--kernel-demo", demo, "--shape", "1024x512"]
    assert main([*words, "--dtype", "bf16", "--parent", str(tmp_path), "--wiki", str(wiki_root)]) == 0
    capsys.readouterr()
    return [str(tmp_path / "kernel_opt_norm"), "--wiki", str(wiki_root)]


@pytest.mark.parametrize(("more", "code", "word"), [((), 0, "met"), (("--every-shape",), 1, "unmet")])
def test_utilization_as_text(softmax: str, capsys: Capture, more: tuple[str, ...], code: int, word: str) -> None:
    """Every roof of every shape with its record; 0.9997 is never shown as 1.000."""
    assert main(["bench", "utilization", softmax, *more]) == code
    text = capsys.readouterr().out
    assert "NVIDIA H200" in text and "v6.timing.1:v6:8192x4096:2" in text
    assert text.count("dram *") == 3
    assert "0.999" in text
    assert text.rstrip().endswith(f": {word}")


def test_utilization_as_json(softmax: str, capsys: Capture) -> None:
    """One document with SI units; nothing on stderr."""
    assert main(["bench", "utilization", softmax, "--version", "0", "--json"]) == 1
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert (found["verdict"], found["source"]["name"], shown.err) == ("unmet", "v0", "")
    assert {one["unit"] for one in found["shapes"][0]["roofs"]} == {"FLOP/s", "B/s"}


def test_conditions_as_text(softmax: str) -> None:
    """Target, median, achieved, ratio, share of the documented roof, met and record on one line."""
    text = render_conditions(utilization(Workspace.open(softmax), Registry.open()))
    (line,) = [one for one in text.splitlines() if one.startswith("4096x16384")]
    assert line.split() == [
        "4096x16384", ">=", "3.6153", "TB/s", "74.27", "us", "3.614", "TB/s", "0.999", "75.3", "%", "no",
        "v6.timing.1:v6:4096x16384:3",
    ]  # fmt: skip


def test_no_records_exit_1(fresh: list[str], capsys: Capture) -> None:
    """The line says what to run."""
    assert main(["bench", "utilization", *fresh]) == 1
    assert "kb bench kernel" in capsys.readouterr().err


def test_a_simulation_exits_1(fresh: list[str], capsys: Capture) -> None:
    """Times without shares, never met."""
    assert main(["tune", "run", fresh[0], "--simulate", "--max-rounds", "1", "--evaluations", "3", "--yes"]) == 0
    capsys.readouterr()
    assert main(["bench", "utilization", *fresh]) == 1
    text = capsys.readouterr().out
    assert "not evaluable: the times are simulated" in text
    assert "TB/s" not in text


@pytest.mark.torch
def test_no_gpu_exits_3_and_writes_nothing(fresh: list[str], capsys: Capture) -> None:
    """One line."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if torch.cuda.is_available():
        pytest.skip("a GPU is here")
    before = Path(fresh[0], "journal.jsonl").read_bytes()
    assert main(["bench", "kernel", *fresh]) == 3
    assert "GPU" in capsys.readouterr().err
    assert Path(fresh[0], "journal.jsonl").read_bytes() == before


def test_a_dry_run_says_what_it_would_do(fresh: list[str], capsys: Capture) -> None:
    """As text and as JSON; nothing is run."""
    assert main(["bench", "kernel", *fresh, "--dry-run", "--json", "--repeats", "5"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kernel"], found["repeats"], found["scope"], found["record"]) == ("kernel.py", 5, "aggregate", True)
    assert main(["bench", "kernel", *fresh, "--dry-run", "--no-record"]) == 0
    assert "1024x512" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["--version", "3"], "no snapshot"),
        (["--samples", "1"], "--samples is 1"),
        (["--executor-command", "no-such-launcher"], "can't be started"),
        (["--executor-command", "a 'b"], "--executor-command"),
    ],
)
def test_bad_input_exits_2(fresh: list[str], capsys: Capture, more: list[str], word: str) -> None:
    """One line that names it."""
    assert main(["bench", "kernel", *fresh, *more]) == 2
    assert word in capsys.readouterr().err


@pytest.mark.torch
@pytest.mark.triton
@pytest.mark.usefixtures("invented")
def test_a_replay_measures_where_there_can_be_one(tmp_path: Path, repo_root: Path, capsys: Capture) -> None:
    """Its records are of that level, which is said; what only a child can do is refused by name."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    demo = str(repo_root / "kernels" / "naive" / "rms_norm.py")
    words = ["--platform", "H100_SXM", "--framework", "Triton", "--kernel-demo", demo, "--shape", "1024x512"]
    assert main(["init", "norm", *words, "--dtype", "bf16", "--parent", str(tmp_path)]) == 0
    fresh = [str(tmp_path / "kernel_opt_norm")]
    assert main(["bench", "kernel", *fresh, "--samples", "3"]) in {
        0,
        1,
        4,
    }  # a shape as short as a launch has no condition
    assert "trust: replayed" in capsys.readouterr().out
    records = [json.loads(line) for line in Path(fresh[0], "journal.jsonl").read_text().splitlines()]
    assert {one["data"]["trust"] for one in records if one["kind"] == "measured"} == {"replayed"}
    assert main(["bench", "kernel", *fresh, "--flush-bytes", "8"]) == 2
    assert "--flush-bytes is for --judge child" in capsys.readouterr().err

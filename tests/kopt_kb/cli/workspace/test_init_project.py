"""`kb init --project`: one file gives everything; bad input makes nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.workspace.workspace import Workspace


@pytest.fixture
def init(project_root: Path, wiki_root: Path, tmp_path: Path):
    """Runs the command on the project with more words; returns exit code and workspace folder."""

    def run(*words: str, change: tuple[str, str] = ("", "")) -> tuple[int, Path]:
        file = project_root / "project.toml"
        text = file.read_text()
        assert change[0] in text
        file.write_text(text.replace(*change, 1) if change[0] else text)
        given = ["--platform", "T10", "--framework", "Python"] if "--platform" not in words else []
        line = ["init", "demo", "--project", str(file), "--parent", str(tmp_path), "--wiki", str(wiki_root)]
        return main([*line, *given, *words]), tmp_path / "kernel_opt_demo"

    return run


def test_everything_comes_from_the_file(init, project_root: Path, wiki_root: Path, capsys) -> None:
    """Shapes as the benchmark prints them, the target, the kernel source; the audit is clean."""
    code, root = init()
    assert code == 0
    state = Workspace.open(root).state()
    assert [len(one) for one in state.problem.shapes] == [3] * 5 and state.problem.dtype == "fp16"
    assert {one.value for one in state.targets.targets if one.shape} == {"30"}
    assert (root / "kernel.py").read_bytes() == (project_root / "ops" / "gemm.py").read_bytes()
    assert state.task.project.root == str(project_root)
    readme = (root / "README.md").read_text()
    assert "the performance target > 30 TFLOPS, a share of the documented roof" in readme
    assert "what the project's own benchmark prints" in readme and "do_bench" not in readme
    capsys.readouterr()
    assert main(["audit", str(root), "--wiki", str(wiki_root)]) == 0, capsys.readouterr().out


def test_flags_override(init, capsys) -> None:
    """Shapes, type and target; without the benchmark being run."""
    words = ("--shape", "1024x1024x1024", "--dtype", "fp32", "--performance-target", "null")
    code, root = init(*words, change=("{python} benchmark", "no-such-program benchmark"))
    assert code == 0
    state = Workspace.open(root).state()
    assert (state.problem.shapes, state.problem.dtype) == (((1024, 1024, 1024),), "fp32")
    assert state.targets.targets[0].factor == "0.9"


def test_the_combined_metric_counts_a_whole_step(init) -> None:
    """Six operations an element instead of two."""
    change = ('metric = "forward"', 'metric = "combined"')
    back = 'backward = { column = "Backward TFLOPS", unit = "TFLOPS" }'
    code, root = init("--shape", "512x512x512", change=("[scoring]", f"{back}\n[scoring]"))
    assert code == 0
    shutil.rmtree(root)
    code, root = init("--shape", "512x512x512", change=change)
    assert code == 0
    state = Workspace.open(root).state()
    assert dict(state.problem.options)["step"] == "forward_backward"
    assert state.rooflines[0].work.flops[0].useful.value == 6 * 512**3


@pytest.mark.parametrize(
    ("words", "change", "said"),
    [
        ((), ('op = "gemm"', 'op = "gem"'), "gem"),
        ((), ('op = "gemm"', 'op = "softmax"'), "MxN"),
        ((), ("[csv]", "[cvs]"), "'cvs' is no table"),
        ((), ('"ops/*.py"', '"nothing/*.py"'), "nothing/*.py fits no file"),
        ((), ("> 30 TFLOPS", "> 30 TFLOP"), "project.toml:23: '> 30 TFLOP' is no rate of operations"),
        ((), ("> 30 TFLOPS", "> 300 TFLOPS"), "300 TFLOPS is above the 102.4 TFLOPS"),
        (
            (),
            ('bench_gemm.py --csv {csv}"', 'bench_gemm.py --cvs {csv}"'),
            "the following arguments are required: --csv",
        ),
        ((), ('metric = "forward"', 'core_shapes = ["8x8x8"]'), "core_shapes names 8x8x8"),
        (("--kernel-demo", "x.py"), ("", ""), "--kernel-demo and --project"),
        (("--threshold", "0.1"), ("", ""), "--threshold or --placeholder"),
        (("--platform", "T10"), ("", ""), "missing --framework"),
        (("--shape", "64x64"), ("", ""), "64x64"),
    ],
)
def test_bad_input_makes_nothing(init, capsys, tmp_path: Path, words, change, said: str) -> None:
    """Exit 2, one line, no workspace."""
    code, root = init(*words, change=change)
    error = capsys.readouterr().err
    lines = [one for one in error.splitlines() if not one.startswith("kb: running the benchmark once")]
    assert code == 2 and len(lines) == 1 and said in lines[0]
    assert not root.exists()


def test_an_absent_file(tmp_path: Path, capsys) -> None:
    """Named, with what to do."""
    assert main(["init", "x", "--project", str(tmp_path / "p.toml"), "--platform", "T10", "--framework", "F"]) == 2
    assert "p.toml: no such file" in capsys.readouterr().err


def test_a_backward_pass_without_a_closed_form(init, project_root: Path, capsys) -> None:
    """Only matrix products have one here."""
    file = project_root / "project.toml"
    text = (
        file.read_text().replace('metric = "forward"', 'metric = "combined"').replace('op = "gemm"', 'op = "softmax"')
    )
    file.write_text(text.replace("[scoring]", 'backward = { column = "Backward TFLOPS", unit = "TFLOPS" }\n[scoring]'))
    code, _ = init("--shape", "64x64")
    assert code == 2 and "the backward pass of softmax has no closed form here" in capsys.readouterr().err


def test_json(init, capsys) -> None:
    """One document."""
    code, _ = init("--json", "--shape", "64x64x64", "--performance-target", "60%")
    assert code == 0
    assert json.loads(capsys.readouterr().out)["rooflines"][0]["target"]["factor"] == 0.6

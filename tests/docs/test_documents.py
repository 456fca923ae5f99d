"""Blocks of code in documents: every `kb` line is one that today's commands take, and what can run here is run."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.cli.completion import whole_parser
from kopt_kb.cli.main import main
from kopt_kb.errors import BadInput

_BLOCK = re.compile(r"^ *```(?P<kind>\w+)[^\n]*\n(?P<body>.*?)^ *```$", re.DOTALL | re.MULTILINE)
ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if "reference" not in path.parts
)

WALKED = {
    "README.md": "tests/docs/test_readme.py, and from a wheel tests/packaging/test_wheel.py",
    "docs/how-to/add_a_command.md": "tests/docs/test_how_to.py",
    "docs/how-to/add_a_gpu.md": "tests/docs/test_how_to.py",
    "docs/how-to/add_a_rule.md": "tests/docs/test_how_to.py",
    "docs/how-to/add_an_op.md": "tests/docs/test_how_to.py",
    "docs/projects.md": "tests/docs/test_projects.py",
}
"""Page → the test that runs its blocks."""

HERE = {
    "docs/tutorial.md", "docs/memory.md", "docs/how-to/export_values.md", "docs/how-to/aka_plugin.md",
    "docs/how-to/set_a_target.md", "docs/how-to/lint_texts.md", "docs/how-to/share_a_report.md",
}  # fmt: skip
"""Pages whose blocks are run below, line by line."""

PARTLY: dict[str, tuple[str, tuple[str, ...]]] = {
    "docs/launch_records.md": (
        "records are replayed on a GPU, other languages need their compilers; test_record.py has each form",
        ("kb record kernels/rms_norm.py",),
    ),
    "docs/problems.md": (
        "records are verified on a GPU; test_init_problem.py and test_suite.py run each form",
        ("kb roofline",),
    ),
    "docs/cutile.md": (
        "tuning/test_recipes.py runs a whole loop",
        ("kb cutile check", "kb cutile recipes", "kb init tiles"),
    ),
    "docs/tileir.md": ("the last command starts kernels on a GPU", ("kb tileir check", "kb tileir classify")),
    "docs/how-to/read_a_profile.md": (
        "binary reports are not part of the repository; test_profile_read.py and test_profile_gap.py have recordings",
        ("kb profile read counters.csv",),
    ),
}
"""Page → why some of its lines are not run, and how those begin that are; all are held against the commands."""

NOT_HERE = {"docs/tuning.md": "unpacks the bundle of a campaign on a GPU"}
"""Page → why its blocks are not run; their lines are still held against the commands."""

NORM = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x / torch.sqrt(torch.mean(x * x, dim=1, keepdim=True) + 1e-5)
def get_inputs():
    return [torch.rand(64, 512)]
def get_init_inputs():
    return []
"""


def _blocks(page: str) -> list[tuple[str, str]]:
    return [(found["kind"], found["body"]) for found in _BLOCK.finditer((ROOT / page).read_text())]


def _lines(page: str) -> list[str]:
    """Return the command lines of a page, as they are typed."""
    joined = [body.replace("\\\n", " ") for kind, body in _blocks(page) if kind in {"sh", "bash", "console"}]
    lines = [line.strip() for body in joined for line in body.split("\n")]
    return [line.removeprefix("$ ") for line in lines if line and not line.startswith("#")]


def _kb_words(line: str) -> list[str] | None:
    """Return the words of a kb command in a line without the shell's own, None where there is none."""
    plain = re.sub(r"^echo .*?\| *", "", line)
    plain = re.split(r" \|\|? | && (?!kb)| > | # ", plain)[0]
    words = shlex.split(plain, comments=True)
    return words[1:] if words and words[0] == "kb" else None


def test_every_page_with_commands_is_run_or_says_why_not() -> None:
    """And no page is named that has none."""
    with_commands = {page for page in PAGES if _lines(page)}
    assert with_commands == {*WALKED, *HERE, *PARTLY, *NOT_HERE}


@pytest.mark.parametrize("page", [page for page in PAGES if _lines(page)])
def test_commands_are_those_of_today(page: str) -> None:
    """Each `kb` line parses: command, options and choices exist."""
    parser = whole_parser()
    for line in _lines(page):
        words = _kb_words(line)
        if words and words[0] != "units":  # the command that add_a_command.md adds
            try:
                parser.parse_args(words)
            except BadInput as error:
                pytest.fail(f"{page}: {line}: {error}")


def _run(lines: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run lines in a folder: `kb` in this process, anything else by a shell that finds it."""
    monkeypatch.chdir(folder)
    shim = folder.parent / "bin"
    shim.mkdir()
    for name, module in (("kb", " -m kopt_kb"), ("python", "")):
        (shim / name).write_text(f'#!/bin/sh\nexec {sys.executable}{module} "$@"\n')
        (shim / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim}:/usr/bin:/bin")
    for line in lines:
        words = _kb_words(line)
        if words is not None and line == shlex.join(["kb", *words]):
            assert main(words) in {0, 4}, line
            continue
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stdout[-500:], done.stderr[-500:])


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """From an empty folder to the bundle; the changed digit is found."""
    (tmp_path / "empty").mkdir()
    lines = [line for line in _lines("docs/tutorial.md") if line != "kb doctor"]  # a machine's own faults are its own
    _run(lines, tmp_path / "empty", monkeypatch)
    out = capsys.readouterr().out
    for part in ("52 us, 2.581 TB/s: 64.53 % of the documented roof", "SIMULATED", "KB052: error", "UNKNOWN"):
        assert part in out, part
    ((_, code),) = [block for block in _blocks("docs/tutorial.md") if block[0] == "python"]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "memory-bound target >= 3.6 TB/s" in done.stdout


def test_the_tutorial_finds_the_changed_digit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The edit of the page changes a digit, and the audit says so."""
    lines = _lines("docs/tutorial.md")
    edit = next(line for line in lines if line.startswith("sed"))
    init = next(line for line in lines if line.startswith("kb init"))
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(init)[1:]) == 0
    subprocess.run(["bash", "-c", edit], check=True)
    capsys.readouterr()
    assert main(["audit", "kernel_opt_norm"]) == 1
    assert "4.8 TB/s" in capsys.readouterr().out


@pytest.mark.parametrize("page", sorted(HERE - {"docs/tutorial.md"}))
def test_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder with what the page takes for granted."""
    folder = tmp_path / "folder"
    shutil.copytree(ROOT / "kernels", folder / "kernels")
    shutil.copytree(ROOT / "plugins", folder / "plugins")
    for name in ("docs", "src"):
        (folder / name).mkdir()
    (folder / "README.md").write_text("The H20 reaches 4.0 TB/s.\n")
    if page == "docs/memory.md":
        demo = ["--platform", "H20", "--framework", "Triton", "--kernel-demo", "op:rms_norm", "--dtype", "bf16"]
        assert main(["init", "norm", *demo, "--shape", "8192x4096", "--parent", str(folder)]) == 0
    lines = [line for line in _lines(page) if "H100_PCIe.yaml" not in line]  # a file of another project
    _run(lines, folder, monkeypatch)


@pytest.mark.parametrize("page", sorted(PARTLY))
def test_what_can_run_of_a_page_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the files that the page takes for granted: a problem of others, a recorded page of counters."""
    if page in {"docs/launch_records.md", "docs/problems.md"}:
        pytest.importorskip("torch")
    chosen = [line for line in _lines(page) if line.startswith(PARTLY[page][1])]
    assert len(chosen) == len(PARTLY[page][1]), chosen
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "kernels", tmp_path / "kernels")
    shutil.copy(ROOT / "tests/data/zoo/library.csv", tmp_path / "counters.csv")
    (tmp_path / "KernelBench/level1").mkdir(parents=True)
    (tmp_path / "KernelBench/level1/36_RMSNorm_.py").write_text(NORM)
    for line in chosen:
        words = [word.replace("/tmp/", f"{tmp_path}/") for word in shlex.split(line)[1:]]
        code = main(words)
        said = capsys.readouterr()
        assert code in ({0, 3} if words[:2] == ["tileir", "check"] else {0}), (line, said.err)
        assert said.out, line

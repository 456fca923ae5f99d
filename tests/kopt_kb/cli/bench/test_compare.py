"""`kb bench compare`: what is printed in each form, which exit code it has, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.cli.bench import compare
from kopt_kb.cli.main import main
from kopt_kb.launch.judge.blocks import ComparedKernel, KernelVerdict
from kopt_kb.launch.judge.regression import BlockInterval, SelfRatio
from kopt_kb.launch.judge.revisions import ComparedCase, RunComparison, RunVerdict

Fits = Callable[[str, object], bool]


def _comparison(run: RunVerdict, *kernels: KernelVerdict) -> RunComparison:
    look = BlockInterval(6, 0.02, 0.001, 0.015, 0.025)
    cases = []
    for number, verdict in enumerate(kernels):
        timed = ComparedKernel(verdict, "+2 %|_`", 1.02, (look,), SelfRatio(0.0, 0.001), 1e-4, 1.02e-4, 0, seconds=20.0)
        name = f"k{number}.py"
        cases.append(ComparedCase(name, f"kernels/{name}", "4x4", "bf16", "main", "HEAD", True, timed))
    cases.append(
        ComparedCase("new.py", "new.py", "4x4", "bf16", "main", "HEAD", False, ComparedKernel("undecided", ""))
    )
    return RunComparison(run, "main", "HEAD", "T10", 2.0, 0.01, len(kernels), tuple(cases))


@pytest.fixture
def files(wiki_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two files of an invented product's kernel, and the wiki that has it."""
    monkeypatch.chdir(tmp_path)
    for name in ("old.py", "new.py"):
        Path(name).write_text('OP = "elementwise"\n')
    words = ["bench", "compare", "old.py", "new.py", "--shape", "4x4", "--dtype", "bf16", "--platform", "T10"]
    return [*words, "--wiki", str(wiki_root)]


@pytest.mark.parametrize(
    ("run", "kernels", "code"),
    [
        ("no_regression", ("no_regression", "equal"), 0),
        ("regression", ("regression", "no_regression"), 1),
        ("undecided", ("undecided", "equal"), 4),
    ],
)
def test_each_verdict_has_a_code(
    files: list[str], run: RunVerdict, kernels: tuple[KernelVerdict, ...], code: int, fits: Fits,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """In every form: text, a document, Markdown, SARIF."""
    asked = []

    def compared(cases: object, named: object, plan: object) -> RunComparison:
        asked.append((cases, named, plan))
        return _comparison(run, *kernels)

    monkeypatch.setattr(compare, "compare_revisions", compared)
    assert main(files) == code
    said = capsys.readouterr().out
    assert said.startswith(f"HEAD against main on T10: {run.replace('_', ' ')}")
    assert "k0.py" in said and "+2.00 %" in said and "new" in said
    assert main([*files, "--format", "markdown"]) == code
    said = capsys.readouterr().out
    assert "| k0.py | 4x4 bf16 |" in said and "+2 %\\|\\_\\`" in said
    for words in (["--json"], ["--format", "json"]):
        assert main([*files, *words]) == code
        found = json.loads(capsys.readouterr().out)
        assert fits("bench_compare", found) and not fits("bench_compare", {**found, "surplus": 1})
    assert main([*files, "--format", "sarif"]) == code
    (listed,) = json.loads(capsys.readouterr().out)["runs"]
    levels = {"regression": ["error"], "undecided": ["warning"], "no_regression": []}[run]
    assert [one["level"] for one in listed["results"]] == levels
    out = [f"out{suffix}" for suffix in (".json", ".md", ".sarif", ".txt")]
    assert main([*files, *(word for one in out for word in ("--out", one))]) == code
    assert [Path(one).read_text()[:2] for one in out] == ["{\n", "**", "{\n", "HE"]
    assert len(asked) == 6
    assert main([*files, "--out", "out.md"]) == 2, "nothing is overwritten"


def test_what_is_refused(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is recorded."""
    for words, part in (
        ([*files, "--regression", "0.5"], "0.5 is no regression in percent"),
        ([*files, "--regression", "nan"], "nan is no regression"),
        ([*files, "--out", "result"], "its name says no form"),
        ([*files, "--seconds", "1"], "1 s is no time"),
        ([*files, "--case", "old.py 4x4 bf16"], "--case is of folders"),
        ([*files[:4], *files[8:]], "missing --shape or --dtype"),
        ([*files[:2], ".", ".", *files[4:]], "are of two files, not of a folder"),
        ([*files[:2], ".", ".", *files[8:]], "nothing says what is compared"),
        ([*files[:3], "none.py", *files[4:]], "is no file, folder"),
        ([*files[:8], "--platform", "none"], "none"),
    ):
        assert main(words) == 2, words
        assert part in capsys.readouterr().err

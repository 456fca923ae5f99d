"""--problem PATH of record, verify and roofline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.problem_arguments import given_problem
from kopt_kb.cli.main import main
from tests.kopt_kb.launch.problems.test_problem_toml import TOML, write

pytestmark = pytest.mark.torch


def test_roofline_of_a_problem(tmp_path: Path, wiki_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """28 operations and 72 bytes, as the file says; not together with other work."""
    path = str(write(tmp_path))
    words = ["roofline", "--platform", "T10", "--problem", path, "--wiki", str(wiki_root)]
    assert main([*words, "--json"]) == 0
    work = json.loads(capsys.readouterr().out)["work"]
    assert work["flops"][0]["useful"]["value"] == 28
    assert "declared in problem.toml" in work["definitions"]["flops"]
    assert main([*words, "--op", "gemm"]) == 2
    assert "--problem and other work" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["verify", "kernel", "k.py", "--problem", "PROBLEM", "--op", "gemm"], "--op or --reference with --problem"),
        (["verify", "kernel", "k.py", "--problem", "PROBLEM", "--shape", "3"], "has 1 dimensions"),
        (
            ["record", "k.py", "--problem", "PROBLEM", "--call", "a:b", "--target", "sm_90", "--out", "o"],
            "judges a FILE",
        ),
        (["record", "k.py", "--problem", "TWO", "--target", "sm_90", "--out", "o"], "2 shapes"),
    ],
)
def test_words_that_contradict(
    tmp_path: Path, words: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, exit 2."""
    (tmp_path / "two").mkdir()
    places = {"PROBLEM": write(tmp_path), "TWO": write(tmp_path / "two", TOML.replace('"4x8"', '"4x8", "2x8"'))}
    (tmp_path / "k.py").write_text("def launch(x): ...\n")
    monkeypatch.chdir(tmp_path)
    assert main([str(places.get(one, one)) for one in words]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("options", [{"causal": "true"}, {"compute": "fp8"}, {"compute": "tf32", "engine": "matrix"}])
def test_a_problem_has_one_option(tmp_path: Path, options: dict[str, str]) -> None:
    """How its products are computed; every other word is refused with what there is."""
    with pytest.raises(BadInput) as caught:
        given_problem(str(tmp_path / "model.py"), options=options)
    assert caught.value.error_code == "KB065" and "compute=tf32" in caught.value.fix

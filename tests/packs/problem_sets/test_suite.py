"""A folder of problems: each to a baseline, whatever the others do."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.problems.find import read_problem
from kopt_kb.packs.problem_sets import suite
from kopt_kb.packs.problem_sets.suite import SuiteOptions, run_suite
from kopt_kb.wiki.registry import Registry
from tests.kopt_kb.cli.workspace.test_init_problem import KERNEL
from tests.kopt_kb.launch.problems.test_problem_toml import TOML, write
from tests.packs.problem_sets.test_kernelbench import FILE

pytestmark = pytest.mark.torch


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    """One with a kernel, one without, one that can't be used."""
    folder = tmp_path / "problems"
    for name in ("with", "without"):
        (folder / name).mkdir(parents=True)
        write(folder / name, TOML.replace("Row sum", f"sums {name}"))
    (folder / "with" / "kernel.py").write_text(KERNEL)
    (folder / "3_Broken.py").write_text(FILE)
    return folder


def test_each_is_a_row(problems: Path, tmp_path: Path, wiki_root: Path) -> None:
    """The second time nothing is measured again."""
    said: list[str] = []
    options = SuiteOptions("T10", tmp_path / "out", words=("--simulate",), wikis=(wiki_root,))
    found = run_suite(problems, options, Registry.open(wiki_root), said.append)
    verdicts = {one.problem: one.verdict for one in found.rows}
    assert verdicts == {"kernelbench_3_broken": "refused", "sums_with": "correct", "sums_without": "no kernel"}
    assert (found.problems, found.correct, len(said)) == (3, 1, 3)
    row = next(one for one in found.rows if one.problem == "sums_with")
    assert (row.shape, row.work, row.simulated, row.share) == ("4x8", "declared, exact", True, None)
    assert row.median_s is not None
    assert json.loads((tmp_path / "out" / "suite.json").read_text()) == json.loads(json.dumps(found.to_json()))
    journal = tmp_path / "out" / "kernel_opt_sums_with" / "journal.jsonl"
    before = journal.read_bytes()
    assert run_suite(problems, options, Registry.open(wiki_root), said.append) == found
    assert journal.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "text", "framework"),
    [
        ("kernel.py", KERNEL, "Triton"),
        ("kernel.cu", "/* kb\nop = 'sums_with'\n*/", "CUDA"),
        ("kernel.py", "import cuda.tile as ct\n\n\n@ct.kernel\ndef k(x):\n    pass\n", "cuTile"),
        ("kernel.py", "def launch(x):\n    return x\n", "Triton"),
    ],
)
def test_candidates_are_of_any_language(name: str, text: str, framework: str, problems: Path, tmp_path: Path) -> None:
    """As suffix and decorators say."""
    (problems / "with" / "kernel.py").unlink()
    (problems / "with" / name).write_text(text)
    options, path = SuiteOptions("T10", tmp_path / "out"), problems / "with" / "problem.toml"
    capsule = read_problem(path)
    found = suite._kernel_of(path, capsule, options)
    assert found == problems / "with" / name
    assert suite._task(capsule, found, options).framework == framework


def test_nothing_is_begun_after_the_budget(problems: Path, tmp_path: Path, wiki_root: Path) -> None:
    """What is left out is named."""
    options = SuiteOptions("T10", tmp_path / "out", seconds=1e-9, names=("without",))
    found = run_suite(problems, options, Registry.open(wiki_root), lambda _: None)
    assert found.rows == ()
    assert found.left_out == (str(problems / "without" / "problem.toml"),)


def test_a_folder_without_problems(tmp_path: Path, wiki_root: Path) -> None:
    """It says what would be one."""
    with pytest.raises(BadInput, match="no problem in a known form"):
        run_suite(tmp_path, SuiteOptions("T10", tmp_path / "out"), Registry.open(wiki_root), lambda _: None)


def test_a_baseline_begun_elsewhere_begins_anew(
    problems: Path, tmp_path: Path, wiki_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round is finished on the machine it was begun on, and a suite may get another GPU each time."""
    options = SuiteOptions("T10", tmp_path / "out", words=("--simulate",), wikis=(wiki_root,), names=("with/",))
    journal = tmp_path / "out" / "kernel_opt_sums_with" / "journal.jsonl"
    seen = list[bytes]()
    real = suite.run

    def first_elsewhere(*words: object, **more: object) -> object:
        seen.append(journal.read_bytes())
        if len(seen) > 1:
            return real(*words, **more)  # type: ignore[arg-type]
        return SimpleNamespace(stderr=b"kb: round 0 was begun on another machine [KB429]", stdout=b"")

    monkeypatch.setattr(suite, "run", first_elsewhere)
    found = run_suite(problems, options, Registry.open(wiki_root), lambda _: None)
    assert [one.verdict for one in found.rows] == ["correct"]
    assert len(seen) == 2
    assert seen[0] != seen[1]

"""A folder of problems: each to a baseline, whatever the others do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.problems import described
from kopt_kb.launch.problems.find import read_problem
from kopt_kb.packs.problem_sets import suite
from kopt_kb.packs.problem_sets.suite import SuiteOptions, run_suite
from kopt_kb.packs.problem_sets.suite_store import SuiteStore
from kopt_kb.wiki.registry import Registry
from tests.kopt_kb.cli.workspace.test_init_problem import KERNEL
from tests.kopt_kb.launch.problems.test_problem_toml import TOML, write
from tests.packs.problem_sets.test_kernelbench import FILE

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module", autouse=True)
def _each_counted_once() -> Iterator[None]:
    """The same bytes count the same: a child with torch for each of these problems, not for each test of them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(described, "_count", cache(described._count))
        yield


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
    (journal,) = _journals(tmp_path)
    before = journal.read_bytes()
    assert run_suite(problems, options, Registry.open(wiki_root), said.append) == found
    assert journal.read_bytes() == before


def _journals(folder: Path) -> list[Path]:
    """The journals of the problem that has a kernel."""
    return sorted((folder / "out").glob("kernel_opt_sums_with_*/journal.jsonl"))


def test_another_product_or_an_edited_file_is_another_result(
    problems: Path, tmp_path: Path, wiki_root: Path, product: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of one product is shown as another's, and nothing of a kernel as its edited one's."""
    product.with_name("t20.md").write_text(product.read_text().replace("T10", "T20").replace("t10", "t20"))
    taken = list[str]()
    monkeypatch.setattr(suite, "_baseline", lambda layout, _: bool(taken.append(layout.root.name)))
    registry, kernel = Registry.open(wiki_root), problems / "with" / "kernel.py"

    def run(platform: str) -> None:
        run_suite(problems, SuiteOptions(platform, tmp_path / "out", names=("with/",)), registry, lambda _: None)

    for platform in ("T10", "T20", "T10"):
        run(platform)
        written = json.loads((tmp_path / "out" / "suite.json").read_text())
        assert (written["platform"], len(written["rows"])) == (platform, 1)
    assert taken == [taken[0], taken[1], taken[0]], "it is judged again only because it never came to an end"
    assert taken[0] != taken[1]
    kernel.write_text(kernel.read_text() + "# edited\n")
    run("T10")
    assert len(set(taken)) == len(_journals(tmp_path)) == 3
    assert len(json.loads((tmp_path / "out" / "suite.json").read_text())["rows"]) == 1


def test_suites_share_a_folder(problems: Path, tmp_path: Path, wiki_root: Path) -> None:
    """What another one works on is waited for, and the table holds the rows of both."""
    registry, out = Registry.open(wiki_root), tmp_path / "out"
    run_suite(problems, SuiteOptions("T10", out, names=("without",)), registry, lambda _: None)
    said, options = list[str](), SuiteOptions("T10", out, names=("Broken",), run_s=0.3)
    run_suite(problems, options, registry, lambda _: None)
    (key,) = [one.stem for one in (out / "results").glob("*.json") if "3_Broken" in one.read_text()]
    with SuiteStore(out / "results").claim(key) as held:
        assert held
        found = run_suite(problems, options, registry, said.append)
    assert said[-1].endswith("another suite is at it")
    assert [one.reason for one in found.rows] == ["another suite has not ended it"]
    rows = json.loads((out / "suite.json").read_text())["rows"]
    assert {one["problem"]: one["verdict"] for one in rows} == {
        "kernelbench_3_broken": "refused", "sums_without": "no kernel"
    }  # fmt: skip
    assert all("another suite" not in one["reason"] for one in rows)


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
    assert json.loads((tmp_path / "out" / "suite.json").read_text())["left_out"] == list(found.left_out)


def test_a_folder_without_problems(tmp_path: Path, wiki_root: Path) -> None:
    """It says what would be one."""
    with pytest.raises(BadInput, match="no problem in a known form"):
        run_suite(tmp_path, SuiteOptions("T10", tmp_path / "out"), Registry.open(wiki_root), lambda _: None)


def test_a_baseline_begun_elsewhere_begins_anew(
    problems: Path, tmp_path: Path, wiki_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round is finished on the machine it was begun on, and a suite may get another GPU each time."""
    options = SuiteOptions("T10", tmp_path / "out", words=("--simulate",), wikis=(wiki_root,), names=("with/",))
    seen = list[bytes]()
    real = suite.run

    def first_elsewhere(*words: object, **more: object) -> object:
        seen.append(_journals(tmp_path)[0].read_bytes())
        if len(seen) > 1:
            return real(*words, **more)  # type: ignore[arg-type]
        return SimpleNamespace(stderr=b"kb: round 0 was begun on another machine [KB429]", stdout=b"")

    monkeypatch.setattr(suite, "run", first_elsewhere)
    found = run_suite(problems, options, Registry.open(wiki_root), lambda _: None)
    assert [one.verdict for one in found.rows] == ["correct"]
    assert len(seen) == 2
    assert seen[0] != seen[1]

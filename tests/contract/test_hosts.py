"""The action and the pre-commit hook do what their hosts would run: the same script, the same entry."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.cli.main import main

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

WRONG = "The MI300X has 2614.9 TFLOPS dense BF16.\n"
RIGHT = "The MI300X has 1307.4 TFLOPS dense BF16.\n"


def _run(words: list[str], here: Path, **more: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    env = {**os.environ, "PATH": path, **more}
    return subprocess.run(words, cwd=here, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def action(repo_root: Path) -> dict[str, Any]:
    """The action as its host reads it."""
    return yaml.safe_load((repo_root / "action.yml").read_text())


def _step(action: dict[str, Any], here: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the last step as the host's shell does, with the defaults of what is not given."""
    given = {name: str(one.get("default", "")) for name, one in action["inputs"].items()} | inputs
    step = action["runs"]["steps"][-1]
    env = {
        name: given[text.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, text in step["env"].items()
    }  # fmt: skip
    return _run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], here, **env)


def test_the_action_fails_on_a_contradiction_and_leaves_its_sarif(action: dict[str, Any], tmp_path: Path) -> None:
    """Files of names with blanks between them; the finding is printed and in the file for the upload."""
    (tmp_path / "wrong.md").write_text(WRONG)
    (tmp_path / "right.md").write_text(RIGHT)
    done = _step(action, tmp_path, files="wrong.md right.md", sarif="out.sarif")
    assert done.returncode == 1, done.stderr
    assert "wrong.md:1:16: error: 2614.9 TFLOPS is not the peak_compute of MI300X" in done.stdout
    results = json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["results"]
    assert len(results) == 1


def test_the_action_passes_a_clean_folder_by_default(action: dict[str, Any], tmp_path: Path) -> None:
    """No inputs at all."""
    (tmp_path / "right.md").write_text(RIGHT)
    done = _step(action, tmp_path)
    assert (done.returncode, "1 number(s)" in done.stdout) == (0, True), done.stdout + done.stderr


def test_bad_input_fails_the_action(action: dict[str, Any], tmp_path: Path) -> None:
    """Exit 2 is no finding that an upload may swallow."""
    assert _step(action, tmp_path, files="missing.md", sarif="out.sarif").returncode == 2
    assert not (tmp_path / "out.sarif").exists()
    for given in ({"files": "--help"}, {"command": "profile-diff", "files": "a.csv"}):
        assert _step(action, tmp_path, **given).returncode == 2


def test_files_on_several_lines_and_a_folder_for_the_result(action: dict[str, Any], tmp_path: Path) -> None:
    """A block of YAML has a line a file: all are read; the folder of the SARIF file is made."""
    (tmp_path / "wrong.md").write_text(WRONG)
    (tmp_path / "right.md").write_text(RIGHT)
    done = _step(action, tmp_path, files="right.md\nwrong.md\n", sarif="made/out.sarif")
    assert (done.returncode, (tmp_path / "made/out.sarif").is_file()) == (1, True), done.stderr


def test_the_action_installs_what_it_runs(action: dict[str, Any], repo_root: Path) -> None:
    """From its own folder, on a Python that the package takes; the command is a script of the package."""
    steps = action["runs"]["steps"]
    assert "pip install" in steps[1]["run"]
    assert '"$GITHUB_ACTION_PATH"' in steps[1]["run"]
    project = (repo_root / "pyproject.toml").read_text()
    assert "kb = " in project
    assert f'requires-python = ">={steps[0]["with"]["python-version"]}' in project


def test_the_hook_runs_over_the_files_of_a_commit(repo_root: Path, tmp_path: Path) -> None:
    """pre-commit appends the changed text files to the entry."""
    hook = yaml.safe_load((repo_root / ".pre-commit-hooks.yaml").read_text())[0]
    assert (hook["id"], hook["language"], hook["types"]) == ("kb-lint-text", "python", ["text"])
    (tmp_path / "wrong.md").write_text(WRONG)
    (tmp_path / "right.md").write_text(RIGHT)
    entry = [*shlex.split(hook["entry"]), *hook.get("args", [])]
    assert _run([*entry, "right.md"], tmp_path).returncode == 0
    (tmp_path / "--help").write_text(WRONG)
    done = _run([*entry, "--help", "right.md", "wrong.md"], tmp_path)
    assert (done.returncode, "wrong.md:1:16" in done.stdout) == (1, True)


@pytest.fixture
def measured(tmp_path: Path, repo_root: Path) -> Path:
    """A folder with a workspace, a report, and one with a slower kernel."""
    words = ["init", "norm", "--platform", "H20", "--op", "rms_norm", "--shape", "64x64", "--dtype", "bf16"]
    assert main([*words, "--parent", str(tmp_path)]) == 0
    rows = list(csv.reader((repo_root / "tests/data/zoo/latency.csv").read_text().splitlines()))[:4]
    at = rows[0].index("gpu__time_duration.sum")
    for name, factor in (("before.csv", 1.0), ("after.csv", 1.2)):
        rows[2][at] = f"{float(rows[2][at].replace(',', '')) * factor:.1f}"
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    return tmp_path


def test_the_action_audits(action: dict[str, Any], measured: Path) -> None:
    """Each workspace, a SARIF file each; one finding fails all of it, after the rest was looked at."""
    given = {"command": "audit", "files": "kernel_opt_norm kernel_opt_norm", "sarif": "out.sarif"}
    readme = measured / "kernel_opt_norm" / "README.md"
    readme.write_text(readme.read_text().replace("target >= 3", "target >= 2", 1))
    done = _step(action, measured, **given)
    assert done.returncode == 1 and done.stdout.count("finding(s)") == 2, done.stderr
    for name in ("out.sarif", "out.2.sarif"):
        assert json.loads((measured / name).read_text())["runs"][0]["results"]


def test_the_action_compares_profiles(action: dict[str, Any], measured: Path) -> None:
    """With its threshold; an unknown command is bad input."""
    given = {"command": "profile-diff", "baseline": "before.csv", "files": "after.csv", "sarif": "out.sarif"}
    done = _step(action, measured, **given)
    assert done.returncode == 1 and "slower: " in done.stdout, done.stderr
    assert json.loads((measured / "out.sarif").read_text())["runs"][0]["results"][0]["ruleId"] == "slower"
    assert _step(action, measured, **given, threshold="25").returncode == 0
    assert _step(action, measured, command="profile").returncode == 2


def test_the_action_compares_kernels(action: dict[str, Any], tmp_path: Path) -> None:
    """Baseline and platform have to be named; the lists of kernels, the revision and the working tree reach `kb`."""
    (tmp_path / "kernels.txt").write_text("gone.py 4x4 bf16\n")
    given = {"command": "bench-compare", "files": "kernels.txt", "baseline": ".", "platform": "H100_SXM"}
    for name in ("baseline", "platform"):
        done = _step(action, tmp_path, **{**given, name: ""})
        assert done.returncode == 2 and done.stderr.startswith(f"{name}: ")
    done = _step(action, tmp_path, **given, sarif="out.sarif")
    assert done.returncode == 2 and "kernels.txt:1: gone.py: neither has such a file" in done.stderr
    assert not (tmp_path / "compared.md").exists()


def test_the_hooks_of_workspaces_and_profiles(repo_root: Path, measured: Path) -> None:
    """Their arguments stand in the configuration; changed files only say whether they run."""
    hooks = {one["id"]: one for one in yaml.safe_load((repo_root / ".pre-commit-hooks.yaml").read_text())}
    for name, words, changed in (
        ("kb-audit", ["kernel_opt_norm"], "a/kernel_opt_norm/README.md"),
        ("kb-profile-diff", ["before.csv", "before.csv", "--threshold", "5"], "before.csv"),
    ):
        hook = hooks[name]
        assert hook["pass_filenames"] is False and re.search(hook["files"], changed)
        assert not re.search(hook["files"], "README.md")
        assert _run([*shlex.split(hook["entry"]), *words], measured).returncode == 0

"""The action and the pre-commit hook do what their hosts would run: the same script, the same entry."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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
    (hook,) = yaml.safe_load((repo_root / ".pre-commit-hooks.yaml").read_text())
    assert (hook["id"], hook["language"], hook["types"]) == ("kb-lint-text", "python", ["text"])
    (tmp_path / "wrong.md").write_text(WRONG)
    (tmp_path / "right.md").write_text(RIGHT)
    entry = shlex.split(hook["entry"])
    assert _run([*entry, "right.md"], tmp_path).returncode == 0
    done = _run([*entry, "right.md", "wrong.md"], tmp_path)
    assert (done.returncode, "wrong.md:1:16" in done.stdout) == (1, True)

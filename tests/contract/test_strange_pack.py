"""A distribution of strangers enters through the doors, and leaves again: what it wrote is read without it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.base.errors import MissingTool
from kopt_kb.launch.cuda.nvrtc import nvrtc_version

Run = Callable[..., subprocess.CompletedProcess[str]]

STRANGE = Path(__file__).parents[1] / "data" / "strange_pack"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the distribution installed, as an installer leaves it, without a build and an index."""
    folder = tmp_path_factory.mktemp("site")
    project = tomllib.loads((STRANGE / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    shutil.copytree(STRANGE / "kopt_strange", folder / "kopt_strange", ignore=shutil.ignore_patterns("__pycache__"))
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        f"[{group}]\n" + "".join(f"{entry} = {value}\n" for entry, value in entries.items())
        for group, entries in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return folder


@pytest.fixture(scope="module")
def python(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Python in a child, with the distribution or without it; a traceback or another exit code fails."""
    home = tmp_path_factory.mktemp("home")

    def run(*words: str, code: int = 0, there: bool = True) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "KOPT_CACHE": str(home / "cache"), "KOPT_TRUST": str(home / "trust")}
        env["PYTHONPATH"] = str(site) if there else ""
        done = subprocess.run(
            [sys.executable, "-P", *words], capture_output=True, text=True, env=env, cwd=home, check=False
        )
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout[-800:]}\n{done.stderr[-2000:]}"
        return done

    return run


@pytest.fixture(scope="module")
def kb(python: Run) -> Run:
    """`kb` in such a child."""

    def run(words: str, code: int = 0, there: bool = True) -> subprocess.CompletedProcess[str]:
        return python("-m", "kopt_kb", *words.split(), code=code, there=there)

    return run


@pytest.fixture(scope="module")
def slept(kb: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that dreamt, with a campaign that the pack's policy ended."""
    parent = tmp_path_factory.mktemp("slept")
    case = "--op rms_norm --shape 512x512 --dtype bf16 --framework Triton --kernel-demo op:naive/rms_norm"
    kb(f"init w --platform H20 {case} --parent {parent}")
    root = parent / "kernel_opt_w"
    assert json.loads(kb(f"dream {root} --of wool --json").stdout)["dreams"] == ["wool"]
    kb(f"tune run {root} --policy dreams --simulate --yes")
    return root


def test_it_is_listed_and_its_code_and_command_are_known(kb: Run) -> None:
    """By doctor, explain and help; without it, none of them."""
    listed = json.loads(kb("doctor --json").stdout)["packs"]
    assert "strange" in json.dumps(listed)
    assert "nobody sleeps after such a dream" in kb("explain STRANGE1").stdout
    assert "let a workspace dream" in kb("--help").stdout
    assert "whom it dreams of" in kb("dream --help").stdout
    assert "[STRANGE1]" in kb("dream nowhere --of compilers", code=2).stderr
    assert "strange" not in json.dumps(json.loads(kb("doctor --json", there=False).stdout)["packs"])
    kb("explain STRANGE1", code=2, there=False)
    kb("dream nowhere", code=2, there=False)


def test_a_campaign_ends_for_its_reason_on_its_event(kb: Run, slept: Path) -> None:
    """The journal has both; with the pack the audit has nothing to remark."""
    events = [json.loads(line) for line in (slept / "journal.jsonl").read_text().splitlines()]
    (dreamt,) = [one for one in events if one["kind"] == "strange.dreamt"]
    (stopped,) = [one for one in events if one["kind"] == "stopped"]
    assert dreamt["data"]["of"] == "wool"
    assert stopped["data"]["reason"] == "strange.tired"
    assert dreamt["seq"] in stopped["data"]["evidence"]
    assert "strange.rested" in {one["data"].get("gate") for one in events}
    assert "slept through" in (slept / "logs" / "optimize.md").read_text()
    report = json.loads(kb(f"audit {slept} --json").stdout)
    assert report["clean"]
    assert "absent-pack" not in {one["code"] for one in report["notes"]}


def test_without_it_everything_is_read_and_the_audit_names_it(kb: Run, slept: Path, tmp_path: Path) -> None:
    """Audit, status, report, render, bundle and its audit; never a traceback."""
    root = shutil.copytree(slept, tmp_path / slept.name, symlinks=True)
    _clean_but_noted(kb, root)
    kb(f"tune status {root}", there=False)
    assert "stopped: strange.tired" in kb(f"tune report {root}", there=False).stdout
    kb(f"render {root}", there=False)
    _clean_but_noted(kb, root)
    kb(f"tune bundle {root} --output {tmp_path / 'slept.kbb'}", there=False)
    _clean_but_noted(kb, tmp_path / "slept.kbb")
    refused = kb(f"tune run {root} --policy dreams --simulate --yes", code=2, there=False)
    assert "dreams" in refused.stderr


def _clean_but_noted(kb: Run, path: Path) -> None:
    report = json.loads(kb(f"audit {path} --json", there=False).stdout)
    assert report["clean"], report["findings"]
    notes = [one["message"] for one in report["notes"] if one["code"] == "absent-pack"]
    assert any("1 event of the pack strange, which is not installed" in note for note in notes), notes
    assert any("policy dreams needs the pack strange" in note for note in notes), notes


def test_its_export_is_written_and_read_back(kb: Run, tmp_path: Path) -> None:
    """And refused by name without it."""
    kb(f"export peaks H20 H200_SXM --for sheep --output {tmp_path / 'peaks.sheep'}")
    assert (tmp_path / "peaks.sheep").read_text().startswith("# sheep\nH20: ")
    found = json.loads(kb(f"wiki diff {tmp_path / 'peaks.sheep'} --json").stdout)
    assert (found["counts"], found["differences"]) == ({"agrees": 2}, [])
    assert "sheep" in kb("export peaks H20 --for sheep", code=2, there=False).stderr


def test_a_file_of_its_language_is_recognised_and_counted(kb: Run, python: Run, tmp_path: Path) -> None:
    """By its mark, and through the code object that the pack makes."""
    file = shutil.copy(STRANGE / "add.py", tmp_path / "add.py")
    code = "import pathlib, sys; from kopt_kb.analysis.frameworks import framework_of; "
    code += "print(framework_of('add.py', pathlib.Path(sys.argv[1]).read_bytes()))"
    assert python("-c", code, str(file)).stdout.strip() == "Sums"
    assert python("-c", code, str(file), there=False).stdout.strip() != "Sums"
    case = f"count {file} --target sm_90 --shape 64x1024 --dtype fp32"
    assert kb(case, code=2, there=False).stderr
    try:
        nvrtc_version()
    except MissingTool as error:
        pytest.skip(f"{error.what}: {error.fix}")
    (kernel,) = json.loads(kb(f"{case} --json").stdout)["kernels"]
    assert "65536" in json.dumps(kernel)

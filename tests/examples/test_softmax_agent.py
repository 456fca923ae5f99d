"""The scripted agent tunes softmax on the simulator, from the command line alone."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

Capture = pytest.CaptureFixture[str]
INIT = ["--platform", "H200_SXM", "--framework", "Triton", "--op", "softmax", "--shape", "4096x1024", "--dtype", "bf16"]


@pytest.fixture
def workspace(tmp_path: Path, repo_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> str:
    """A workspace of the naive softmax."""
    monkeypatch.chdir(tmp_path)
    demo = str(repo_root / "kernels" / "naive" / "softmax.py")
    assert main(["init", "soft", *INIT, "--kernel-demo", demo]) == 0
    capsys.readouterr()
    return "kernel_opt_soft"


def test_the_agent_tunes_softmax_on_the_simulator(workspace: str, repo_root: Path, capsys: Capture) -> None:
    """Its hypotheses come in the order of the table, its file is accepted, every answer says what is next."""
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(repo_root / 'examples' / 'softmax_agent.py'))}"
    start = ["tune", "run", workspace, "--simulate", "--yes", "--proposer", command, "--budget-rounds", "2", "--json"]
    assert main(start) in {0, 1}
    body = json.loads(capsys.readouterr().out)
    own = [one for one in body["rounds"] if one["number"]]
    assert own[0]["category"] == "memory_traffic"
    assert own[0]["decision"].startswith("accept")
    assert own[1]["category"] == "caching"
    assert body["next"]
    events = [json.loads(line) for line in Path(workspace, "journal.jsonl").read_text().splitlines()]
    chosen = [one["data"] for one in events if one["kind"] == "category_chosen"]
    assert all(one["reason"].startswith("dram limits (no profile of the best version") for one in chosen)


def test_the_state_it_reads_is_that_of_the_schema(workspace: str, repo_root: Path, tmp_path: Path) -> None:
    """A proposer that keeps what it gets: the members of the published schema, no more and no less."""
    keeper = tmp_path / "keep.py"
    keeper.write_text("import pathlib, sys\npathlib.Path('state.json').write_text(sys.stdin.read())\n")
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(keeper))}"
    main(["tune", "run", workspace, "--simulate", "--yes", "--proposer", command, "--budget-rounds", "1"])
    state = json.loads(Path("state.json").read_text())
    schema = json.loads((repo_root / "docs" / "schema" / "proposer_state.schema.json").read_text())
    assert set(schema["required"]) <= set(state) <= set(schema["properties"])
    assert state["under_roofs"][0]["roofline"]["work"]
    assert state["pages"] and state["limits"]
    done = subprocess.run(
        [sys.executable, str(repo_root / "examples" / "softmax_agent.py")],
        input=json.dumps({**state, "tried": [], "avoid_categories": ["memory_traffic"]}),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["category"] != "memory_traffic"


def test_a_campaign_remembers_that_it_is_simulated(workspace: str, capsys: Capture) -> None:
    """No later call has to say it again; a plan that is not there or is none is refused before anything is written."""
    assert main(["tune", "run", workspace, "--simulate", "--yes", "--budget-rounds", "0"]) == 0
    assert main(["tune", "run", workspace, "--budget-rounds", "1"]) in {0, 1}
    before = Path(workspace, "journal.jsonl").read_bytes()
    capsys.readouterr()
    Path("none.json").write_text('{"category": "caching"}')
    Path("patch.json").write_text(json.dumps({"category": "a", "claim": "b", "expected": "c", "patch": "--- a/x\n"}))
    for plan, why in (
        ("nothing.json", "can't be read"),
        ("none.json", "needs category"),
        ("patch.json", "only kernel.py"),
    ):
        for action in ("run", "step"):
            assert main(["tune", action, workspace, "--yes", "--plan", plan]) == 2
            assert why in capsys.readouterr().err
    assert Path(workspace, "journal.jsonl").read_bytes() == before


def test_a_missing_plan_starts_no_campaign(workspace: str, capsys: Capture) -> None:
    """Not even the events of a start, also with --dry-run."""
    before = Path(workspace, "journal.jsonl").read_bytes()
    for more in ([], ["--dry-run"]):
        assert main(["tune", "run", workspace, "--simulate", "--yes", "--plan", "nothing.json", *more]) == 2
        assert "can't be read" in capsys.readouterr().err
    assert Path(workspace, "journal.jsonl").read_bytes() == before

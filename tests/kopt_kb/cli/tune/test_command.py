"""`kb tune`: confirmation, JSON, dry run, simulation, steps and plans."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from tests.demo_kernel import DEMO


@pytest.fixture
def workspace(tmp_path: Path, wiki_root: Path, repo_root: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A workspace of the naive RMS norm on the invented T10."""
    words = [
        "init", "norm", "--platform", "T10", "--framework", "Triton", "--kernel-demo",
        str(repo_root / "kernels" / "naive" / "rms_norm.py"), "--shape", "1024x512", "--dtype", "bf16",
        "--parent", str(tmp_path), "--wiki", str(wiki_root),
    ]  # fmt: skip
    assert main(words) == 0
    capsys.readouterr()
    return str(tmp_path / "kernel_opt_norm")


SMALL = ["--simulate", "--max-rounds", "2", "--evaluations", "4"]


def test_without_yes_and_terminal_it_refuses(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is written; the line says what to add."""
    before = Path(workspace, "journal.jsonl").read_bytes()
    assert main(["tune", "run", workspace, *SMALL]) == 2
    assert "--yes" in capsys.readouterr().err
    assert Path(workspace, "journal.jsonl").read_bytes() == before


def test_a_dry_run_writes_nothing(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The inferred parameters as JSON."""
    before = Path(workspace, "journal.jsonl").read_bytes()
    assert main(["tune", "run", workspace, *SMALL, "--dry-run", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["platform"], found["op"], found["policy"], found["simulated"]) == (
        "T10",
        "rms_norm",
        "gpu-wiki",
        True,
    )
    assert Path(workspace, "journal.jsonl").read_bytes() == before


def test_a_simulated_campaign(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One JSON document on stdout, progress on stderr; status and report say SIMULATED; a second run goes on."""
    assert main(["tune", "run", workspace, *SMALL, "--yes", "--json"]) == 0
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert (report["state"], report["stop"]["reason"], report["simulated"]) == ("REPORT", "iterations", True)
    assert report["stop_conditions"] == "not evaluable"
    assert "round 1" in shown.err
    for action in ("status", "report"):
        assert main(["tune", action, workspace]) == 0
        out = capsys.readouterr().out
        assert "SIMULATED" in out
        assert ("Stop Conditions: not evaluable: the times are simulated" in out) == (action == "report")
    assert main(["tune", "run", workspace, *SMALL, "--yes", "--json", "--no-stop", "target"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rounds"]) == 5


def test_measured_rounds_never_follow_simulated_ones(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Refused before anything runs."""
    assert main(["tune", "run", workspace, *SMALL, "--yes"]) == 0
    assert main(["tune", "resume", workspace]) == 0  # stopped: nothing left to do
    main(["tune", "run", workspace, "--yes", "--wiki", str(Path(workspace).parent / "wiki")])
    shown = capsys.readouterr().err
    assert "never share" in shown and "or go on with --simulate" in shown


@pytest.mark.parametrize("action", ["run", "resume", "step"])
def test_a_measured_campaign_that_ended_is_not_gone_on_with_simulated(
    action: str, tmp_path: Path, repo_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The flag is refused, not left unheard."""
    copy = tmp_path / "softmax_2"
    shutil.copytree(repo_root / "benchmarks" / "campaigns" / "h200_sxm" / "softmax_2", copy)
    before = (copy / "journal.jsonl").read_bytes()
    assert main(["tune", action, str(copy), "--simulate", "--yes"]) == 2
    shown = capsys.readouterr()
    assert "KB421" in shown.err and "never share" in shown.err and not shown.out
    assert (copy / "journal.jsonl").read_bytes() == before


def test_steps_until_a_round_is_decided(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """First the baseline, then a hypothesis; a campaign that has stopped stays so."""
    for decided in (1, 2):
        assert main(["tune", "step", workspace, "--simulate", "--yes", "--json", "--until-decided"]) in {0, 1}
        found = json.loads(capsys.readouterr().out)
        assert len(found["rounds"]) == decided
        assert not [one for one in found["rounds"] if one["decision"] == "open"]
    assert main(["tune", "stop", workspace]) in {0, 1}
    capsys.readouterr()
    assert main(["tune", "step", workspace, "--simulate", "--yes", "--json", "--until-decided"]) in {0, 1}
    assert json.loads(capsys.readouterr().out)["stop"]["reason"] == "user"


def test_step_with_a_plan(workspace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One state further each; the plan's hypothesis becomes round 1."""
    plan = tmp_path / "plan.json"
    source = Path(workspace, "kernel.py").read_text().replace('"BLOCK": 32', '"BLOCK": 64')
    plan.write_text(json.dumps({"category": "memory_access", "claim": "wider", "expected": "less", "source": source}))
    states = []
    for _ in range(20):
        assert main(["tune", "step", workspace, "--simulate", "--yes", "--plan", str(plan), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        states.append(found["state"])
        if len(found["rounds"]) == 2:
            break
    assert states[0] == "PREPARE_ENVIRONMENT"
    assert found["rounds"][1]["claim"] == "wider"


@pytest.mark.parametrize("decision", ["accept", "rollback"])
def test_a_plan_that_was_tried_exhausts_the_campaign(
    workspace: str, tmp_path: Path, repo_root: Path, capsys: pytest.CaptureFixture[str], decision: str
) -> None:
    """One proposal, one round, one report; the same plan once more is refused with the number of its round."""
    plan = tmp_path / "plan.json"
    source = Path(workspace, "kernel.py").read_text().replace('"BLOCK": 32', '"BLOCK": 64')
    if decision == "accept":
        source = (repo_root / "kernels" / "rms_norm.py").read_text()
    plan.write_text(json.dumps({"category": "memory_access", "claim": "wider", "expected": "less", "source": source}))
    words = ["tune", "run", workspace, "--simulate", "--yes", "--plan", str(plan), "--json"]
    assert main(words) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["stop"]["reason"] == "exhausted"
    assert [one["decision"] for one in report["rounds"]] == ["accept", decision]
    assert main(words) == 1
    assert "round 1 tried this already" in capsys.readouterr().err


def test_an_absent_workspace_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit 2."""
    assert main(["tune", "status", str(tmp_path / "none")]) == 2
    assert "no such folder" in capsys.readouterr().err


def made(tmp_path: Path, wiki_root: Path, *more: str) -> str:
    """A workspace of the RMS norm on the invented T10 with these words."""
    words = ["init", "other", "--platform", "T10", "--shape", "1024x512", "--dtype", "bf16"]
    assert main([*words, "--parent", str(tmp_path), "--wiki", str(wiki_root), *more]) in {0, 4}
    return str(tmp_path / "kernel_opt_other")


def test_the_pytorch_route_from_the_command_line(
    tmp_path: Path, wiki_root: Path, repo_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The parameters name the route, the report its baseline, and the status both."""
    demo = str(repo_root / "tests" / "data" / "logic" / "rms_norm.py")
    where = made(tmp_path, wiki_root, "--framework", "Triton", "--kernel-demo", demo)
    capsys.readouterr()
    assert main(["tune", "run", where, *SMALL, "--dry-run", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["route"], found["proposers"]) == ("pytorch", ["package", "variants", "knobs", "own_space"])
    assert main(["tune", "run", where, *SMALL, "--yes", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["route"], report["baseline"]) == ("pytorch", "v0")
    assert [one["decision"] for one in report["rounds"]][:2] == ["accept", "accept"]
    assert main(["tune", "status", where]) == 0
    shown = capsys.readouterr().out
    assert "route pytorch" in shown and "against the baseline v0" in shown


def test_the_roofline_route_measures_nothing(
    tmp_path: Path, wiki_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No question, no device: rooflines and conditions are printed; a second run writes nothing more."""
    where = made(tmp_path, wiki_root, "--op", "rms_norm")
    capsys.readouterr()
    assert main(["tune", "run", where]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("REPORT, stopped: user (route roofline)\n")
    assert "- bound: memory" in shown and "| 1024x512 | bandwidth (dram) | >= 1.8 TB/s |" in shown
    before = Path(where, "journal.jsonl").read_bytes()
    for action in ("run", "step", "resume", "report"):
        assert main(["tune", action, where, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["state"], found["stop"]["reason"], found["rounds"]) == ("REPORT", "user", [])
        assert found["targets"][-1]["shape"] == "all"
        assert [one["bound"] for one in found["rooflines"]] == ["memory"]
    assert main(["tune", "status", where]) == 0
    assert capsys.readouterr().out == "REPORT, stopped: user (route roofline)\n"
    assert Path(where, "journal.jsonl").read_bytes() == before


def test_a_budget_of_no_rounds_measures_the_baseline_only(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The campaign stays open, and resume goes on with it."""
    assert main(["tune", "run", workspace, *SMALL, "--yes", "--budget-rounds", "0", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["state"], found["stop"], len(found["rounds"])) == ("ACCEPT", None, 1)
    assert main(["tune", "resume", workspace, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stop"]["reason"] == "iterations"


@pytest.mark.parametrize("words", [["--budget-rounds", "-1"], ["--budget-s", "-0.5"], ["--budget-s", "nan"]])
def test_an_impossible_budget_is_refused(workspace: str, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit 2, nothing written."""
    before = Path(workspace, "journal.jsonl").read_bytes()
    assert main(["tune", "run", workspace, *SMALL, "--yes", *words]) == 2
    assert words[0] in capsys.readouterr().err
    assert Path(workspace, "journal.jsonl").read_bytes() == before


def test_a_missing_kernel_is_one_line(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The file was removed before the baseline."""
    Path(workspace, "kernel.py").unlink()
    assert main(["tune", "run", workspace, *SMALL, "--yes"]) == 2
    assert "there is no kernel.py" in capsys.readouterr().err


def test_a_roofline_with_an_unknown_input_is_unknown(
    tmp_path: Path, wiki_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 4, and what is known is printed: nothing blocks a route that measures nothing."""
    words = ["init", "gap", "--platform", "T10", "--op", "gemm", "--shape", "64x64x64", "--dtype", "bf16"]
    assert main([*words, "--parent", str(tmp_path), "--wiki", str(wiki_root), "--allow-unknown"]) == 4
    capsys.readouterr()
    assert main(["tune", "run", str(tmp_path / "kernel_opt_gap")]) == 4
    assert "UNKNOWN" in capsys.readouterr().out


def test_a_new_start_without_a_round_leaves_no_view_behind(
    workspace: str, wiki_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--budget-rounds 0` after a stop appends what was confirmed; the views know it."""
    assert main(["tune", "run", workspace, *SMALL, "--yes"]) == 0
    assert main(["tune", "run", workspace, *SMALL, "--yes", "--budget-rounds", "0"]) == 0
    capsys.readouterr()
    assert main(["audit", workspace, "--wiki", str(wiki_root), "--json"]) == 0, capsys.readouterr().out


def test_stop_ends_the_open_campaign(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By the user's reason, also inside a round; a second stop changes nothing, and run starts another."""
    assert main(["tune", "stop", workspace]) == 2
    assert "no campaign to stop" in capsys.readouterr().err
    assert main(["tune", "run", workspace, *SMALL, "--yes", "--budget-rounds", "0"]) == 0
    for _ in range(2):
        assert main(["tune", "step", workspace, *SMALL]) == 0
    for _ in range(2):
        capsys.readouterr()
        assert main(["tune", "stop", workspace, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["stop"]["reason"] == "user"
        events = Path(workspace, "journal.jsonl").read_text().count('"kind":"stopped"')
        assert events == 1
    assert main(["tune", "run", workspace, *SMALL, "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stop"]["reason"] == "iterations"


def test_a_journal_that_lost_its_end_is_not_continued(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whole lines are gone that the rendered files show: what, where and the remedy; not a byte is written."""
    assert main(["tune", "run", workspace, *SMALL, "--yes", "--budget-rounds", "1"]) == 0
    path = Path(workspace, "journal.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-6]) + b'{"torn')
    before = path.read_bytes()
    capsys.readouterr()
    for words in (
        ["tune", "run", workspace, "--simulate", "--yes"],
        ["tune", "resume", workspace],
        ["tune", "stop", workspace],
        ["memory", "update", workspace, "--version", "v0", "--set", "open_directions=wider"],
        ["memory", "mask", workspace, "--version", "v0", "--reason", "busy"],
        ["workspace", "set", workspace, "--target-factor", "0.5", "--reason", "r", "--by", "ann"],
    ):
        assert main(words) == 2, words
        said = capsys.readouterr().err
        assert f"ends with event {len(lines) - 6}, yet" in said and f"{path}:" in said and "restore the journal" in said
        assert path.read_bytes() == before


@pytest.mark.parametrize("folder", ["logs", "objects", "rounds"])
def test_a_linked_folder_is_not_followed(
    workspace: str, folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Views and blobs would land wherever it leads."""
    elsewhere = tmp_path / "elsewhere"
    Path(workspace, folder).rename(elsewhere)
    Path(workspace, folder).symlink_to(elsewhere)
    held = sorted(elsewhere.rglob("*"))
    for words in (["tune", "run", workspace, *SMALL, "--yes"], ["render", workspace], ["audit", workspace]):
        assert main(words) == 2, words
        said = capsys.readouterr().err
        assert f"{workspace}/{folder}" in said and "is a link" in said
    assert sorted(elsewhere.rglob("*")) == held


def test_a_linked_folder_of_a_round_is_not_followed(
    workspace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The loop goes on, its views say what stands in the way."""
    (tmp_path / "elsewhere").mkdir()
    Path(workspace, "rounds", "round-1").symlink_to(tmp_path / "elsewhere")
    assert main(["tune", "run", workspace, *SMALL, "--yes", "--budget-rounds", "1"]) == 0
    assert "views are not rendered" in capsys.readouterr().err
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_broken_repository_is_named(workspace: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The version is kept, no commit shows it, and the loop and the audit say why."""
    Path(workspace, ".git", "HEAD").write_text("nonsense\n")
    assert main(["tune", "run", workspace, *SMALL, "--yes", "--budget-rounds", "1"]) == 0
    assert "no commit shows v0: " in capsys.readouterr().err
    assert '"kind":"snapshot_taken"' in Path(workspace, "journal.jsonl").read_text()


def test_an_aborted_campaign_says_why_and_is_a_finding(
    tmp_path: Path, wiki_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The gate's words stand on the screen, of the run and of its report; nothing is left that looks like success."""
    demo = tmp_path / "demo.py"
    demo.write_text(DEMO)
    where = made(tmp_path, wiki_root, "--framework", "Triton", "--kernel-demo", str(demo))
    kernel = Path(where) / "kernel.py"
    kernel.write_text(DEMO.replace("_kernel[(1,)](x)", "return x @ x"))
    for words in (["run", where, "--simulate", "--yes"], ["report", where], ["status", where]):
        assert main(["tune", *words]) == 1
        assert "refused: line " in capsys.readouterr().out

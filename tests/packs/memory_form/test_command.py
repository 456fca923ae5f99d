"""`kb memory`: readers, words, masks; one line and an exit code for everything that is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from tests.demo_kernel import DEMO


@pytest.fixture
def folder(wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A fresh workspace with two versions begun by hand."""
    demo = tmp_path / "demo.py"
    demo.write_text(DEMO)
    words = ["--platform", "T10", "--framework", "Triton", "--kernel-demo", str(demo), "--shape", "64x64"]
    assert main(["init", "n", *words, "--dtype", "bf16", "--parent", str(tmp_path), "--wiki", str(wiki_root)]) == 0
    path = str(tmp_path / "kernel_opt_n")
    stated = ["--category", "memory", "--claim", "wider loads", "--expected", "less time", "--by", "ann"]
    assert main(["memory", "create", path, *stated]) == 0
    capsys.readouterr()
    return path


def run(capsys, *words, code=0):
    """Run the command, check its exit code, and return what it printed."""
    assert main(["memory", *words]) == code
    return capsys.readouterr()


def test_init_makes_folder_and_files(folder, capsys):
    """Also after somebody removed the folder."""
    memory = Path(folder) / "memory"
    for path in memory.iterdir():
        path.unlink()
    memory.rmdir()
    run(capsys, "init", folder)
    assert sorted(path.name for path in memory.iterdir()) == ["v0.json", "v1.json"]
    body = json.loads(run(capsys, "init", folder, "--json").out)
    assert body["render"]["written"] == []


def test_init_where_nothing_can_be_made(folder, capsys):
    """A file in the folder's place."""
    memory = Path(folder) / "memory"
    for path in memory.iterdir():
        path.unlink()
    memory.rmdir()
    memory.write_text("")
    assert "can't be made" in run(capsys, "init", folder, code=2).err


def test_read_one_all_and_a_field(folder, capsys):
    """JSON; a text field alone is printed as it is."""
    assert json.loads(run(capsys, "read", folder, "--version", "v1").out)["version"] == "v1"
    assert [one["version"] for one in json.loads(run(capsys, "read", folder, "--unmasked-only").out)] == ["v0", "v1"]
    field = ["--field", "optimization.action_description"]
    assert run(capsys, "read", folder, "--version", "1", *field).out == "wider loads\n"
    assert json.loads(run(capsys, "read", folder, "--field", "status").out) == ["open", "open"]
    assert json.loads(run(capsys, "latest", folder, "--field", "version", "--json").out) == "v1"
    assert "no such field" in run(capsys, "read", folder, "--version", "v1", "--field", "x", code=2).err
    assert "is no version" in run(capsys, "read", folder, "--version", "v1junk", code=2).err


def test_update_takes_words_and_refuses_numbers(folder, capsys):
    """Exit 1 with the reason; exit 2 for a word that is no pair."""
    words = ["--set", "open_directions=persist", "--set", "risks_and_rollback=may spill"]
    assert "added 2 to v1" in run(capsys, "update", folder, "--version", "v1", *words).out
    assert json.loads(run(capsys, "latest", folder).out)["optimization"]["risks_and_rollback"] == ["may spill"]
    refused = run(capsys, "update", folder, "--version", "v1", "--set", "performance.latency_us=3", code=1)
    assert "copied from `measured` events" in refused.err
    assert "FIELD=TEXT" in run(capsys, "update", folder, "--version", "v1", "--set", "nothing", code=2).err
    body = json.loads(run(capsys, "update", folder, "--version", "v1", "--set", "references=x", "--json").out)
    assert len(body["events"]) == 1


def test_create_is_the_next_number_with_a_whole_hypothesis(folder, capsys):
    """v1 exists; half a hypothesis is none; v2 begins and v1, which nothing judged, is unverified."""
    assert "exists already" in run(capsys, "create", folder, "--version", "v1", code=2).err
    assert "half a hypothesis" in run(capsys, "create", folder, "--claim", "x", code=2).err
    assert "v2 began" in run(capsys, "create", folder, "--version", "v2").out
    assert run(capsys, "read", folder, "--version", "v1", "--field", "status").out == "unverified\n"


def decide(folder):
    """End the open round by hand."""
    from kopt_kb.workspace.journal.journal import Journal

    with Journal.open(Path(folder) / "journal.jsonl") as journal:
        number = max(event.data.round for event in journal.events if event.kind == "round_started")
        members = {"round": number, "decision": "rollback", "policy": "p", "rule": "r", "measured": []}
        journal.append("decided", members)


def test_masks(folder, capsys):
    """By name, by seed, and back; a masked version is exit 1; the baseline stays."""
    decide(folder)
    assert "masked: v1" in run(capsys, "mask", folder, "--version", "v1", "--reason", "noise").out
    assert "v1 is masked: noise" in run(capsys, "read", folder, "--version", "v1", code=1).err
    assert json.loads(run(capsys, "list", folder, "--json").out)["masked"] == ["v1"]
    assert "v1 (masked)" in run(capsys, "list", folder).out
    assert "unmasked: v1" in run(capsys, "unmask", folder, "--version", "v1", "--reason", "sorry").out
    assert "can't be masked" in run(capsys, "mask", folder, "--version", "v0", "--reason", "x", code=2).err
    assert "one of the two" in run(capsys, "mask", folder, "--reason", "x", code=2).err
    assert "no version" in run(capsys, "unmask", folder, "--reason", "x", code=2).err
    assert main(["memory", "create", folder]) == 0
    decide(folder)
    capsys.readouterr()
    body = json.loads(run(capsys, "mask", folder, "--seed", "7", "--reason", "restart", "--json").out)
    assert body["masked"] in (["v1"], ["v2"])


def test_summary_and_stray_files(folder, capsys):
    """A row a version; strange names go to stderr and stay."""
    (Path(folder) / "memory" / "v2junk.json").write_text("{")
    shown = run(capsys, "summary", folder)
    assert shown.out.split("\n")[0].split()[:2] == ["Version", "Masked"]
    assert "wider loads" in shown.out
    assert "memory/v2junk.json: is no version of this journal" in shown.err
    body = json.loads(run(capsys, "summary", folder, "--json").out)
    assert ([one["version"] for one in body["versions"]], body["stray"]) == (["v0", "v1"], ["v2junk.json"])


def test_an_edit_is_kept_and_named(folder, capsys):
    """The event stands, the file is rendered again, and the edit is a blob."""
    log = Path(folder) / "logs" / "optimize.md"
    log.write_text(log.read_text() + "mine\n")
    shown = run(capsys, "update", folder, "--version", "v1", "--set", "open_directions=persist")
    assert "logs/optimize.md was edited: its bytes are objects/" in shown.out and "mine" not in log.read_text()

"""`kb workspace set|note`: new targets with reason and author, notes as blobs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from tests.demo_kernel import DEMO


@pytest.fixture
def folder(wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A fresh workspace."""
    demo = tmp_path / "demo.py"
    demo.write_text(DEMO)
    words = ["--platform", "T10", "--framework", "Triton", "--kernel-demo", str(demo), "--shape", "1024x512"]
    assert main(["init", "n", *words, "--dtype", "bf16", "--parent", str(tmp_path), "--wiki", str(wiki_root)]) == 0
    capsys.readouterr()
    return tmp_path / "kernel_opt_n"


def test_set_then_audit(folder, capsys):
    """The README shows the new target; the audit is clean and names the author."""
    words = ["--target-factor", "0.75", "--reason", "agreed", "--by", "ann"]
    assert main(["workspace", "set", str(folder), *words]) == 0
    assert "1024x512: bandwidth >= 1.5 TB/s" in capsys.readouterr().out
    assert main(["audit", str(folder)]) == 0
    assert "set by ann" in capsys.readouterr().out
    words = ["--shape", "2048x512", "--reason", "new batch", "--by", "bob", "--json"]
    assert main(["workspace", "set", str(folder), *words]) == 0
    body = json.loads(capsys.readouterr().out)
    assert [one["shape"] for one in body["targets"]] == ["2048x512", None]
    assert main(["audit", str(folder)]) == 0


def test_a_plan_may_speak_of_the_target_of_its_time(folder, capsys):
    """Plans of earlier rounds stay as they are when the targets change; a number that was never a target is found."""
    for number, rate in (("0", "1.8"), ("1", "1.9")):
        (folder / f"plans/v{number}_plan.md").write_text(f"- target: 1024x512: >= {rate} TB/s\n")
    assert main(["workspace", "set", str(folder), "--target-factor", "0.75", "--reason", "x", "--by", "ann"]) == 0
    capsys.readouterr()
    assert main(["audit", str(folder), "--json"]) == 1
    (finding,) = [one for one in json.loads(capsys.readouterr().out)["findings"] if one["code"] == "unsourced"]
    assert (finding["file"], finding["line"]) == ("plans/v1_plan.md", 1)


@pytest.mark.parametrize(
    "words",
    [
        ["--reason", "x", "--by", "ann"],
        ["--target-factor", "2", "--reason", "x", "--by", "ann"],
        ["--target-factor", "0.5", "--by", "ann"],
        ["--target-factor", "0.5", "--reason", "x"],
        ["--target-factor", "0.5", "--reason", " ", "--by", "ann"],
        ["--shape", "0x1", "--reason", "x", "--by", "ann"],
    ],
)
def test_bad_input_changes_nothing(folder, capsys, words):
    """Exit 2, one line, the journal as before."""
    before = (folder / "journal.jsonl").read_bytes()
    assert main(["workspace", "set", str(folder), *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert (folder / "journal.jsonl").read_bytes() == before


def test_an_edited_target_is_named_and_replaced(folder, capsys):
    """Nothing is lost: the output names the blob."""
    readme = folder / "README.md"
    readme.write_text(readme.read_text().replace(">= 1.8 TB/s", ">= 1.2 TB/s"))
    assert main(["workspace", "set", str(folder), "--target-factor", "0.5", "--reason", "x", "--by", "ann"]) == 0
    assert "README.md was edited: its bytes are objects/" in capsys.readouterr().out


def test_notes(folder, tmp_path, capsys):
    """Words or a file; they reach the memory."""
    assert main(["workspace", "note", str(folder), "--topic", "tip", "--text", "wide loads", "--by", "ann"]) == 0
    assert ": note_added\nwrote " in capsys.readouterr().out
    file = tmp_path / "found.md"
    file.write_text("nothing on swizzles\n")
    assert main(["workspace", "note", str(folder), "--topic", "search", "--file", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "note_added"
    assert main(["memory", "read", str(folder), "--version", "v0", "--field", "search_log.0.finding"]) == 0
    assert capsys.readouterr().out == "nothing on swizzles\n"
    assert main(["workspace", "note", str(folder), "--topic", "tip", "--file", str(tmp_path / "none")]) == 2
    assert main(["workspace", "note", str(folder), "--topic", "tip", "--text", " "]) == 2

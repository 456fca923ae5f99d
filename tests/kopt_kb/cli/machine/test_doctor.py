"""`kb doctor` prints each line with its fix, and exits 1 when something is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.cli.machine import doctor
from kopt_kb.cli.main import main
from kopt_kb.doors import table
from kopt_kb.doors.command import Command
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.table import PackFault
from kopt_kb.launch.machine.health import Host
from kopt_kb.sandbox.isolation import Isolation


def _bare(root: Path, git: str | None) -> Host:
    which = {"git": git}.get
    answer = (0, "git version 2.39.5")
    return Host(root, which, lambda _: answer, lambda _: None, {}, lambda: Isolation(("cage",)), 0, {}, root)


def test_this_machine_is_asked_for_real(
    wiki_root: Path, fits: Callable[[str, object], bool], capsys: pytest.CaptureFixture[str]
) -> None:
    """Programs, packages and the cage of the machine that runs the tests, in the document of its schema."""
    code = main(["doctor", "--wiki", str(wiki_root), "--json"])
    body = json.loads(capsys.readouterr().out)
    assert fits("doctor", body) and not fits("doctor", {**body, "surplus": 1})
    states = {f"{one['group']} {one['name']}": one for one in body["findings"]}
    assert code == (1 if any(one["state"] == "wrong" for one in body["findings"]) else 0)
    assert states["programs git"]["state"] == "ok" and body["data"]["version"] in states["kb wiki"]["found"]
    assert any(name.startswith("isolation ") for name in states)
    assert states["packages triton"]["state"] in {"ok", "absent"}
    assert not any(
        "[" in each["found"].split("install kopt-kb")[0] for each in body["findings"] if each["group"] == "languages"
    )


def test_text_and_exit_codes(
    tmp_path: Path, wiki_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A machine without git has one thing wrong, said with its fix below the line."""
    monkeypatch.setattr(doctor, "this_machine", lambda: _bare(tmp_path, "git"))
    assert main(["doctor", "--wiki", str(wiki_root)]) == 0
    assert "0 wrong" in capsys.readouterr().out
    monkeypatch.setattr(doctor, "this_machine", lambda: _bare(tmp_path, None))
    assert main(["doctor", "--wiki", str(wiki_root)]) == 1
    lines = capsys.readouterr().out.split("\n")
    at = next(number for number, line in enumerate(lines) if "git" in line and "WRONG" in line)
    assert lines[at + 1].strip() == "fix: install git"


def test_packs_are_listed_as_they_are(
    tmp_path: Path, wiki_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Installed, left out, or at fault, which alone is wrong; a command that takes a word of the core is a fault."""
    takes = Pack("mine", "a test's", commands=(Command("lookup", "replaces the core's", "kopt_kb.cli.values.list_"),))
    gone, broken = PackFault("gone", "not installed", absent=True), PackFault("broken", "ValueError: no")
    monkeypatch.setattr(doctor, "this_machine", lambda: _bare(tmp_path, "git"))
    for faults, code in (((gone,), 1), ((gone, broken), 1)):
        held = table.Packs({"mine": takes}, faults)
        monkeypatch.setattr(table, "packs", lambda held=held: held)
        assert main(["doctor", "--wiki", str(wiki_root), "--json"]) == code
        found = [(one["name"], one["state"]) for one in json.loads(capsys.readouterr().out)["packs"]]
        listed = [(one.name, "absent" if one.absent else "fault") for one in faults]
        assert found == [("mine", "installed"), *listed, ("mine", "fault")]
    held = table.Packs({"fine": Pack("fine", "a test's")}, (gone,))
    monkeypatch.setattr(table, "packs", lambda: held)
    assert main(["doctor", "--wiki", str(wiki_root)]) == 0
    assert "0 wrong" in capsys.readouterr().out


def test_a_wiki_that_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is one line among the others."""
    monkeypatch.setattr(doctor, "this_machine", lambda: _bare(tmp_path, "git"))
    assert main(["doctor", "--wiki", str(tmp_path / "nowhere")]) == 1
    assert "WRONG" in capsys.readouterr().out

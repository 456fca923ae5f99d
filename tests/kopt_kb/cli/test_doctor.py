"""`kb doctor` prints each line with its fix, and exits 1 when something is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.cli import doctor
from kopt_kb.cli.main import main
from kopt_kb.isolation import Isolation
from kopt_kb.runners.health import Host


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


def test_a_wiki_that_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is one line among the others."""
    monkeypatch.setattr(doctor, "this_machine", lambda: _bare(tmp_path, "git"))
    assert main(["doctor", "--wiki", str(tmp_path / "nowhere")]) == 1
    assert "WRONG" in capsys.readouterr().out


def test_ranges_are_those_of_the_package() -> None:
    """What extras ask for, not what the tests pin."""
    found = doctor.supported()
    assert found["triton"].startswith(">=") and "==" not in found["triton"] + found["torch"]

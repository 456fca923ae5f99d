"""`kb explain` knows every code that can be printed."""

from __future__ import annotations

import json

import pytest

from kopt_kb.analysis.rules.table import RULES as VERDICTS
from kopt_kb.base.error_codes import PackCode, causes
from kopt_kb.cli import commands
from kopt_kb.cli.main import main
from kopt_kb.doors import table
from kopt_kb.doors.causes import pack_causes
from kopt_kb.doors.entries import EntryPoint
from kopt_kb.doors.pack import Pack, PackCause
from kopt_kb.wiki.faults import FAULT_CODES
from kopt_kb.wiki.physics import RULES
from kopt_kb.workspace.audit.audit import AUDIT_CODES


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("kb063", ["KB063: error bad-shape", "8192x4096"]),
        ("WK208", ["WK208: wiki fault", "quote"]),
        ("PHY-BW", ["PHY-BW: physics rule", "bus width"]),
        ("unregistered", ["unregistered: audit finding"]),
        ("bn-tail", ["BN-TAIL: verdict", "last wave", "`kb profile explain BN-TAIL`"]),
    ],
)
def test_a_code_of_each_kind(word: str, parts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Kind and name in the first line, then the cause and, for an error, what to do."""
    assert main(["explain", word]) == 0
    text = capsys.readouterr().out
    assert all(part in text for part in parts)


def test_without_a_code_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Errors, faults, rules and findings."""
    assert main(["explain", "--json"]) == 0
    codes = [one["code"] for one in json.loads(capsys.readouterr().out)["codes"]]
    assert codes == [*causes(), *pack_causes(), *FAULT_CODES, *RULES, *AUDIT_CODES, *(one.code for one in VERDICTS)]
    assert main(["explain"]) == 0
    assert "\nKB000  " in capsys.readouterr().out


def test_an_unknown_code(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, with the way to the list."""
    assert main(["explain", "KB999"]) == 2
    assert "`kb explain` lists them" in capsys.readouterr().err
    assert main(["explain", "BN-TALL"]) == 2
    assert "did you mean BN-TAIL" in capsys.readouterr().err


def test_codes_of_packs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Those of one that is there are explained; of one that is absent the pack is named."""
    cause = PackCause(PackCode("MY001"), "mine", "why it is raised", "What to do.")
    held = table.Packs({"mine": Pack("mine", "a test's", causes=(cause,))}, ())
    monkeypatch.setattr(table, "packs", lambda: held)
    monkeypatch.setattr(commands, "packs", lambda: held)
    monkeypatch.setattr(commands, "entry_points", lambda **_: [EntryPoint("MY002", "gone", commands.OFFERS)])
    assert main(["explain", "my001"]) == 0
    assert capsys.readouterr().out.split("\n")[:3] == ["MY001: error mine", "  why it is raised", "  What to do."]
    assert main(["explain", "my002"]) == 2
    assert "needs the pack gone" in capsys.readouterr().err

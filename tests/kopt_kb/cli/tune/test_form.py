"""Forms of report that packs bring."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.main import main
from kopt_kb.cli.tune.form import add_form, print_form
from kopt_kb.doors.loop_part import LoopPart
from kopt_kb.doors.pack import Pack
from kopt_kb.workspace.state import WorkspaceState
from tests.installed_packs import installed


def nothing(_: WorkspaceState) -> str:
    """Have nothing to report."""
    raise LookupError("there is nothing to say")


FORMS = {"rhymes": lambda state: f"{state.problem.op} in rhymes", "nothing": nothing}
STRANGE = Pack(name="strange", what="a test's pack", loop_parts=(LoopPart("told", "in rhymes", reports=FORMS),))


def asked(*words: str) -> argparse.Namespace:
    """What these words ask for."""
    parser = argparse.ArgumentParser()
    add_form(parser)
    return parser.parse_args(words)


def test_one_form_of_report() -> None:
    """Markdown and JSON at once is refused."""
    args: Any = SimpleNamespace(json=True, html=None, markdown=None, form="summary", workspace="w")
    with pytest.raises(BadInput, match="--form"):
        print_form(args, SimpleNamespace())  # type: ignore[arg-type]


def test_forms_come_from_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's stands among them; without any there is no such argument."""
    installed(monkeypatch, STRANGE, without=("coordination",))
    assert asked("--form", "rhymes").form == "rhymes"
    with pytest.raises(SystemExit):
        asked("--form", "prose")
    installed(monkeypatch, without=("coordination",))
    assert asked().form is None
    with pytest.raises(SystemExit):
        asked("--form", "rhymes")


def test_a_report_in_a_form(
    tmp_path: Any, wiki_root: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is printed as the pack returns it; one that has nothing to report says so."""
    installed(monkeypatch, STRANGE)
    words = ["init", "n", "--platform", "T10", "--op", "rms_norm", "--shape", "8192x4096", "--dtype", "bf16"]
    assert main([*words, "--parent", str(tmp_path), "--wiki", str(wiki_root)]) == 0
    capsys.readouterr()
    report = ["tune", "report", str(tmp_path / "kernel_opt_n"), "--form"]
    assert main([*report, "rhymes"]) == 0
    assert capsys.readouterr().out == "rms_norm in rhymes\n"
    assert main([*report, "nothing"]) == 2
    assert "KB431" in (error := capsys.readouterr().err)
    assert "nothing to say" in error

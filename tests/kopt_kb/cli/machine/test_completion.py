"""`kb completion SHELL` prints a script that completes commands, options and choices."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kopt_kb.cli.commands import all_commands
from kopt_kb.cli.machine.completion import SHELLS, whole_parser
from kopt_kb.cli.main import main


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_names_commands_and_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """All commands, an option of one below."""
    pytest.importorskip("shtab", reason="extra completion")
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in all_commands())
    assert "shape" in text and "resume" in text


def test_bash_completes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A real bash, asked as TAB asks it: commands, commands below, options, choices."""
    pytest.importorskip("shtab", reason="extra completion")
    assert main(["completion", "bash"]) == 0
    (tmp_path / "kb.bash").write_text(capsys.readouterr().out)
    asked = """
    source kb.bash; name=$(complete -p kb | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
    ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMPREPLY=(); $name kb "${@: -1}" ""; echo "${COMPREPLY[@]}"; }
    ask kb roof; ask kb tune sta; ask kb lookup --form; ask kb lookup --format mark
    """
    done = subprocess.run(["bash", "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["roofline", "status", "--format", "markdown"], done


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without shtab: exit 3 and the extra; another shell is a usage error."""
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 3
    assert "[completion]" in capsys.readouterr().err
    assert main(["completion", "csh9"]) == 2


def test_the_whole_parser_has_every_command() -> None:
    """In the order of the help."""
    (below,) = [one for one in whole_parser()._actions if one.dest == "command"]
    assert list(below.choices or ()) == list(all_commands())

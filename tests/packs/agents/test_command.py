"""`kb mcp` without its extra."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kopt_kb.cli.main import main


def test_without_the_extra_the_command_names_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3, one line."""
    for name in [one for one in sys.modules if one.partition(".")[0] == "mcp"]:  # a part is found without the whole
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    for name in [one for one in sys.modules if one.startswith("kopt_kb.packs.agents.server")]:
        monkeypatch.delitem(sys.modules, name)
    assert main(["mcp", "--root", str(tmp_path)]) == 3
    assert "its extra [mcp]" in capsys.readouterr().err

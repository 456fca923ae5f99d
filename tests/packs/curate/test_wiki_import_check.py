"""`kb wiki import-check` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from tests.packs.curate.lint.test_importing import PAGE


def test_a_table_for_people_and_a_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same counts; each reason has its meaning."""
    (tmp_path / "hopper.md").write_text(PAGE)
    code = main(["wiki", "import-check", str(tmp_path)])
    text = capsys.readouterr().out
    assert main(["wiki", "import-check", str(tmp_path), "--json"]) == code
    body = json.loads(capsys.readouterr().out)
    assert f"{len(body['rows'])} values of {len(body['files'])} files" in text
    assert "hopper.md: " in text

"""`kb verify transfer` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from tests.packs.training_step.test_caches import W1, W2


def test_what_is_refused_and_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cache of activations, a weight's without steps to count; a file without a cache passes."""
    file = tmp_path / "op.py"
    file.write_text(W2)
    assert main(["verify", "transfer", str(file)]) == 1
    out = capsys.readouterr().out
    assert "id(x) (id(activation))" in out
    assert "on paper: 0 of 4 lookups in 4 steps" in out
    file.write_text(W1)
    assert main(["verify", "transfer", str(file), "--claim", "W1 bound: 2 %", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert "training_step" in found["refusal"]
    assert found["bucket"]["bound_pct"] == 2.0
    assert main(["verify", "transfer", str(file), "--old", str(file)]) == 0
    assert "nothing of it is refused" in capsys.readouterr().out
    file.write_bytes(b"\xff\xfe")
    assert main(["verify", "transfer", str(file)]) == 2

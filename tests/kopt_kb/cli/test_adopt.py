"""`kb adopt` turns an edit into events, or exits 1 with what stands against it."""

from __future__ import annotations

import argparse
import getpass
import json
from pathlib import Path

import pytest

from kopt_kb.cli.adopt import add_author
from kopt_kb.cli.main import main


@pytest.fixture
def folder(wiki_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A rendered workspace."""
    demo = tmp_path / "demo.py"
    demo.write_text('OP = "rms_norm"\n')
    words = ["--platform", "T10", "--framework", "Triton", "--kernel-demo", str(demo), "--shape", "64x64"]
    assert main(["init", "n", *words, "--dtype", "bf16", "--parent", str(tmp_path), "--wiki", str(wiki_root)]) == 0
    assert main(["render", str(tmp_path / "kernel_opt_n")]) == 0
    capsys.readouterr()
    return tmp_path / "kernel_opt_n"


def test_adopt_and_refuse(folder, capsys):
    """A line of a report, a plan as JSON, a target."""
    log, plan, readme = folder / "logs/optimize.md", folder / "plans/v1_plan.md", folder / "README.md"
    log.write_text(log.read_text() + "Ask first.\n")
    assert main(["adopt", str(log), "--by", "ann"]) == 0
    assert ": file_adopted\nwrote logs/optimize.md" in capsys.readouterr().out
    plan.write_text("# Plan\n")
    assert main(["adopt", str(plan), "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert (body["path"], body["events"][0]["kind"]) == ("plans/v1_plan.md", "file_adopted")
    readme.write_text(readme.read_text().replace("| >= 1.8 TB/s |", "| >= 1.2 TB/s |"))
    assert main(["adopt", str(readme)]) == 1
    assert "targets change only through `kb workspace set`" in capsys.readouterr().err
    assert main(["audit", str(folder)]) == 1


def test_the_author_is_the_login_name_by_default(monkeypatch):
    """A process without one is named by its number."""

    def nobody():
        raise OSError("no login")

    monkeypatch.setattr(getpass, "getuser", nobody)
    parser = argparse.ArgumentParser()
    add_author(parser)
    assert parser.parse_args([]).by.startswith("uid ")

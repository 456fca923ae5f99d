"""The gate passes at its limits and fails below either, or without any file."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def gate(repo_root: Path) -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("core_coverage", repo_root / "tools" / "core_coverage.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def report(path: Path, lines: int, branches: int) -> Path:
    """Two files of 50 statements and 50 branches each; all of the first ran, of the second what is missing."""
    whole = {"covered_lines": 50, "num_statements": 50, "covered_branches": 50, "num_branches": 50}
    part = {**whole, "covered_lines": lines - 50, "covered_branches": branches - 50}
    missing = {"missing_lines": [7], "missing_branches": [[7, 8]]}
    files = {
        "kopt_kb/wiki/a.py": {"summary": whole, "missing_lines": [], "missing_branches": []},
        "kopt_kb/quantity/b.py": {"summary": part, **missing},
    }
    path.write_text(json.dumps({"files": files}))
    return path


@pytest.mark.parametrize(("lines", "branches", "code"), [(97, 95, 0), (96, 100, 1), (100, 94, 1)])
def test_both_limits(gate: ModuleType, tmp_path: Path, capsys, lines: int, branches: int, code: int) -> None:
    """97 of 100 lines and 95 of 100 branches pass; one less of either does not, and says where."""
    assert gate.main(report(tmp_path / "c.json", lines, branches)) == code
    shown = capsys.readouterr().out
    assert f"{lines:.2f} % {float(branches):6.2f} % of branches" in shown
    assert ("kopt_kb/quantity/b.py: lines [7]" in shown) is (code == 1)


def test_a_run_that_measured_nothing_fails(gate: ModuleType, tmp_path: Path) -> None:
    """No file is no coverage."""
    (tmp_path / "c.json").write_text('{"files": {}}')
    assert gate.main(tmp_path / "c.json") == 1

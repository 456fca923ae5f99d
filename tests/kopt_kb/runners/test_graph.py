"""What a run on a CPU can't say is a problem in words; whole runs are in tests/kopt_kb/cli/test_graph.py."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.runners.graph import note_operators, script_for


def test_without_inputs_only_the_text_counts(tmp_path: Path) -> None:
    """Nothing is run."""
    file = tmp_path / "m.py"
    file.write_text("def forward(x):\n    return x\n")
    assert "no make_inputs" in note_operators(file, "forward").problem


def test_the_script_is_python_and_names_the_callable(tmp_path: Path) -> None:
    """Also for names that need quoting."""
    file = tmp_path / "it's.py"
    file.write_text("")
    text = script_for(file, "Model")
    compile(text, "graph.py", "exec")
    assert "FILE, NAME = " + repr(str(file.resolve())) + ", 'Model'" in text

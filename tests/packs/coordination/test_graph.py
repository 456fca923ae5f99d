"""What a run on a CPU can't say is a problem in words; whole runs are in tests/packs/coordination/test_command_graph.py."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

import pytest

from kopt_kb.packs.coordination.graph import note_operators, script_for


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


@pytest.mark.parametrize(
    ("turns", "word", "said"),
    [
        # The product of 4096 squares on an H100: a replay spares one launch, and eager runs differ by as much.
        (
            [(2.6586, 2.6428, 2.6594, 2.6697), (2.6697, 2.6594, 2.6598, 2.6768)],
            "reverted",
            "+0.50 % wall latency, 1.00 %",
        ),
        ([(0.1789, 0.0350, 0.0351, 0.1644)], "kept", "noise 8.82 %"),
        ([(1.00, 0.97, 0.97, 1.04)], "kept", "+4.90 % wall latency, 4.00 % needed"),
        ([(1.00, 0.97, 0.97, 1.12)], "reverted", "noise 12.00 %"),
        ([(1.00, 1.20, 1.20, 1.00)], "reverted", "more than 5 % slower"),
    ],
)
def test_a_gain_within_the_noise_is_reverted(turns: list[tuple[float, ...]], word: str, said: str) -> None:
    """Faster by the least gain and by more than eager runs differ from each other."""
    tree = ast.parse(script_for(Path("m.py"), "f"))
    names = {"statistics": statistics}
    for node in tree.body:
        if getattr(node, "name", "") == "judged" or "LEAST_GAIN_PCT, " in ast.unparse(node)[:20]:
            exec(compile(ast.Module([node], []), "graph.py", "exec"), names)
    decision, reason, gain_pct, noise_pct = names["judged"](turns)
    assert decision == word, reason
    assert said in reason
    assert (gain_pct > max(1.0, noise_pct)) == (word == "kept")

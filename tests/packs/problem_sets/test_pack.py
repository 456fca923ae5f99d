"""What the pack problem_sets brings."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.problem_sets.pack import PACK
from kopt_kb.tuning.admission import admit
from kopt_kb.wiki.registry import Registry
from tests.kopt_kb.tuning.test_admission import task
from tests.packs.problem_sets.test_kernelbench import FILE


def test_four_forms_and_one_counter() -> None:
    """By the names that workspaces keep."""
    names = ["KernelBench", "SOL-ExecBench", "FlashInfer-Bench", "GPU MODE"]
    assert [one.name for one in PACK.problem_sources] == names
    assert sum(one.count is not None for one in PACK.problem_sources) == 1


def test_a_problem_given_as_a_kernel_is_told_apart(tmp_path: Path) -> None:
    """By its form, with the option that takes it."""
    (tmp_path / "k.py").write_text(FILE)
    with pytest.raises(BadInput) as caught:
        admit(task(tmp_path / "k.py"), Registry.open())
    assert caught.value.fix.startswith("it is a KernelBench problem: give it as --problem")

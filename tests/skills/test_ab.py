"""The A/B harness of the skills: tasks, grading, the two arms, and that its page says what the result says."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture(scope="module")
def ab(repo_root: Path) -> ModuleType:
    """benchmarks/agents/ab.py as a module."""
    sys.path.insert(0, str(repo_root / "benchmarks" / "agents"))
    try:
        return importlib.import_module("ab")
    finally:
        sys.path.pop(0)


def _task(ab: ModuleType, name: str) -> Any:
    return next(task for task in ab.TASKS if task.name == name)


def test_tasks_are_twelve_or_more(ab: ModuleType) -> None:
    """Each with its own name, a question and a form of the answer."""
    assert len({task.name for task in ab.TASKS}) == len(ab.TASKS) >= 12
    assert all(task.prompt.endswith(("?", ".")) and task.form for task in ab.TASKS)


@pytest.mark.parametrize(
    ("task", "answer", "right", "false_claim"),
    [
        ("bandwidth-h20", {"value": "4.0", "unit": "TB/s"}, True, False),
        ("bandwidth-h20", {"value": 4000, "unit": "GB/s"}, True, False),
        ("bandwidth-h20", {"value": 4022, "unit": "GB/s"}, False, True),
        ("bandwidth-h20", {"value": "UNKNOWN", "unit": ""}, False, False),
        ("bandwidth-h20", {"value": "many", "unit": "furlong"}, False, True),
        ("bandwidth-mi308x", {"value": "UNKNOWN"}, True, False),
        ("which-h100", {"ask": ["H100_SXM", "H100_PCIE", "H100_NVL"]}, True, False),
        ("slower", {"kernels": ["l2_read16", "dram_copy4"]}, False, True),
        ("slower", None, False, False),
    ],
)
def test_grading(ab: ModuleType, task: str, answer: dict[str, Any] | None, right: bool, false_claim: bool) -> None:
    """By value in any unit; a false claim is a wrong answer given as a fact."""
    found = ab.graded(_task(ab, task), answer)
    assert (found["right"], found["false_claim"]) == (right, false_claim)


@pytest.mark.parametrize(
    ("citation", "sourced"),
    [
        ("memory_bandwidth: 4.0 TB/s <- <gpu-wiki>/hardware/nvidia/h20.md:L64", True),
        ("<gpu-wiki>/hardware/nvidia/h20.md:L1", False),
        ("<gpu-wiki>/../pyproject.toml:L1", False),
        ("the data sheet", False),
    ],
)
def test_sources(ab: ModuleType, citation: str, sourced: bool) -> None:
    """A citation counts when its line is one of a table of the wiki."""
    assert ab.is_sourced({"value": 1, "citation": citation}) is sourced


def test_an_agent_in_both_arms(ab: ModuleType, tmp_path: Path) -> None:
    """It finds kb in one of them only; calls are counted; an answer is the last line."""
    script = tmp_path / "agent.py"
    script.write_text(
        "import json, subprocess, sys\n"
        "task = json.load(sys.stdin)\n"
        "done = subprocess.run(['kb', 'lookup', 'H20', 'memory_bandwidth', '--json'], capture_output=True, text=True)\n"
        "print('thinking')\n"
        "if done.returncode:\n"
        "    print(json.dumps({'value': 'UNKNOWN', 'skills': len(task['skills'])}))\n"
        "else:\n"
        "    spec = json.loads(done.stdout)['specs'][0]\n"
        "    print(json.dumps({'value': spec['text'], 'unit': spec['unit'], 'citation': spec['citation']}))\n"
    )
    agent = f"{sys.executable} {script}"
    with_, without = (ab.asked(_task(ab, "bandwidth-h20"), arm, agent, 60) for arm in ab.ARMS)
    assert (with_["right"], with_["sourced"], with_["calls"]) == (True, True, 1)
    assert (without["right"], without["false_claim"], without["answer"]) == (
        False,
        False,
        {"value": "UNKNOWN", "skills": 0},
    )


def test_an_agent_that_hangs_or_says_nothing(ab: ModuleType) -> None:
    """No answer, no claim."""
    task = _task(ab, "bandwidth-h20")
    assert ab.asked(task, "with", "sleep 600", 0.2)["answer"] is None
    assert ab.last_object("") is None and ab.last_object("[1]") is None and ab.last_object("x") is None


@pytest.mark.parametrize("name", ["slower", "tampered", "wrong-text", "library-call"])
def test_what_is_prepared_differs_from_what_is_right(ab: ModuleType, name: str, tmp_path: Path) -> None:
    """The files are made, and the answer that sees nothing is wrong."""
    task = _task(ab, name)
    task.prepare(tmp_path)
    assert any(tmp_path.rglob("*"))
    nothing = {"slower": {"kernels": []}, "tampered": {"trusted": True, "file": ""}, "wrong-text": {"lines": []}}
    assert not task.right(nothing.get(name, {"own": True}))


def test_the_page_says_what_the_result_says(ab: ModuleType, repo_root: Path) -> None:
    """Its table is the one that the harness prints of the stored result."""
    rows = json.loads((repo_root / "benchmarks/results/agents_ab.json").read_text())["rows"]
    assert {row["task"] for row in rows} == {task.name for task in ab.TASKS}
    assert "\n".join(ab.table(rows)) in (repo_root / "skills/BENCHMARK.md").read_text()

"""What the pack problem_sets brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.command import Command, CommandExample, JsonDocument
from kopt_kb.doors.later import later
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.problem_source import ProblemSource

__all__ = ["PACK"]

_HERE = "kopt_kb.packs.problem_sets"

PACK = Pack(
    name="problem_sets",
    what="problems as public benchmarks write them",
    words=("gpu_mode", "gpu mode", "kernelbench", "kernel_bench", "exec_bench", "problem_sets"),
    problem_sources=(
        ProblemSource(
            name="KernelBench",
            what="a KernelBench problem",
            suffix=".py",
            recognises=later(f"{_HERE}.sources:is_class_file"),
            read=later(f"{_HERE}.sources:read_class_file"),
            count=later(f"{_HERE}.counting:counted"),
        ),
        ProblemSource(
            name="SOL-ExecBench",
            what="a folder with definition.json and workload.jsonl (SOL-ExecBench)",
            suffix=".json",
            recognises=later(f"{_HERE}.sources:is_definition"),
            read=later(f"{_HERE}.sources:read_definition_file"),
            files=("definition.json",),
        ),
        ProblemSource(
            name="FlashInfer-Bench",
            what="definitions/NAME.json with workloads/NAME.jsonl (FlashInfer-Bench)",
            suffix=".json",
            recognises=later(f"{_HERE}.sources:is_trace_definition"),
            read=later(f"{_HERE}.sources:read_definition_file"),
        ),
        ProblemSource(
            name="GPU MODE",
            what="a folder with task.yml, reference.py and task.py (GPU MODE)",
            suffix=".yml",
            recognises=later(f"{_HERE}.gpu_mode:is_task"),
            read=later(f"{_HERE}.gpu_mode:read_task"),
            files=("task.yml",),
        ),
    ),
    commands=(
        Command(
            "suite",
            "run a folder of problems: each to a checked, timed baseline, one table",
            "kopt_kb.packs.problem_sets.command",
            documents=(
                JsonDocument("suite", "kopt_kb.packs.problem_sets.suite:Suite", is_stored=True),
                JsonDocument("suite_bounds", "kopt_kb.packs.problem_sets.bounds.bound:BoundTable", is_stored=True),
            ),
            examples=(
                CommandExample("suite folder --platform T10 --out suite --simulate", "suite", code=2),
                CommandExample("suite folder --platform T10 --bounds bounds.json", "suite_bounds", code=2),
            ),
        ),
    ),
)

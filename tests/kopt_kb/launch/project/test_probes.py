"""Before a project is tuned: its commands have to read the copy, and its shapes are those it prints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.candidate.job import Job, Request
from kopt_kb.launch.project.bundle import bundle_of
from kopt_kb.launch.project.copies import Copies
from kopt_kb.launch.project.file import ProjectFile
from kopt_kb.launch.project.paths import hash_files, select
from kopt_kb.launch.project.probes import printed_shapes, unused_copy
from kopt_kb.launch.project.running import Commands, RunningJob
from kopt_kb.problem.problem import Problem

SHAPES = ["512x512x512", "2048x2048x2048"]


@pytest.fixture
def probed(read: Callable[..., ProjectFile], project_root: Path, tmp_path: Path):
    """Calls a probe on the small project after replacing words in its file."""
    made: list[Copies] = []

    def run(probe, *changes: tuple[str, str]):
        project = read(*changes)
        chosen = select(project, project_root)
        body = {
            "protected": hash_files(project_root, chosen.protected), "shapes": SHAPES,
            "amounts": Problem.of("gemm", SHAPES, "fp16").passes(), "probe": True,
        }  # fmt: skip
        made.append(Copies(project, project_root))
        job = Job("check", bundle_of(project_root, chosen.editable), body=Request(**body))
        return probe(Commands(made[-1]), RunningJob(job, tmp_path, lambda *_: None))

    yield run
    for one in made:
        one.close()


def test_commands_that_read_the_copy_fail_with_a_broken_kernel(probed) -> None:
    """That is what is wanted."""
    assert probed(unused_copy) == ""


def test_a_test_that_passes_all_the_same_is_found(probed, project_root: Path) -> None:
    """It uses an installed package, or is skipped."""
    (project_root / "tests" / "check_gemm.py").write_text("")
    assert probed(unused_copy).startswith("the test passes although ops/gemm.py is broken")


def test_shapes_are_those_the_benchmark_prints(probed, project_root: Path) -> None:
    """Every row's; one that fails is named."""
    assert len(probed(printed_shapes)) == 5
    (project_root / "benchmark" / "bench_gemm.py").write_text("raise SystemExit('no device')\n")
    with pytest.raises(BadInput, match=r"the benchmark ended with 1: no device; list the shapes"):
        probed(printed_shapes)

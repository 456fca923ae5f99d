"""An executor on the small project, and jobs for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from kopt_kb.launch.candidate.job import Job, Outcome, Request, RunLimits
from kopt_kb.launch.project.bundle import bundle, bundle_of, files_of
from kopt_kb.launch.project.executor import ProjectExecutor
from kopt_kb.launch.project.file import read_project
from kopt_kb.launch.project.paths import hash_files, select
from kopt_kb.problem.problem import Problem

SHAPES = ["512x512x512", "2048x2048x2048"]
SHAPES_LIST = 'shapes = ["512x512x512", "2048x2048x2048"]'
BENCH = 'benchmark = { run = "{python} benchmark/bench_gemm.py --csv {csv}", limit_s = 600 }'
TAKES = 'benchmark = { run = "{python} benchmark/bench_gemm.py --csv {csv} --shapes {shapes}", limit_s = 600 }'


class Bench:
    """An executor on the project, and jobs for it."""

    def __init__(self, root: Path, *changes: tuple[str, str]) -> None:
        text = (root / "project.toml").read_text()
        for old, new in (('shapes = "all"', SHAPES_LIST), (BENCH, TAKES), *changes):
            assert old in text
            text = text.replace(old, new)
        self.project = read_project(text.encode(), "project.toml")
        self.root = root
        chosen = select(self.project, root)
        self.baseline = bundle_of(root, chosen.editable)
        self.protected = hash_files(root, chosen.protected)
        self.executor = ProjectExecutor(self.project, root)
        self.told: list[tuple[tuple[str, ...], int]] = []

    def with_kernel(self, old: str, new: str) -> bytes:
        """The baseline with other words in its kernel."""
        files = files_of(self.baseline)
        assert old in files["ops/gemm.py"]
        return bundle({**files, "ops/gemm.py": files["ops/gemm.py"].replace(old, new)})

    def run(
        self, kind: str, candidate: bytes, incumbent: bytes = b"", memory: int = 0, best: bytes = b"", **more: Any
    ) -> Outcome:
        """The end of a job."""
        amounts = Problem.of("gemm", SHAPES, "fp16").passes()
        body = {
            "shapes": SHAPES, "amounts": amounts, "protected": self.protected, "repeats": 2, "level": "full",
            "header": (), **more,
        }  # fmt: skip
        job = Job(kind, candidate, incumbent or self.baseline, Request(**body), RunLimits(600.0, memory))  # type: ignore[arg-type]
        job = replace(job, best=best)
        return self.executor.run(job, lambda argv, pid, _: self.told.append((argv, pid)))

"""What is compared is what is timed: outputs calls the functions that the benchmark calls, of the same copy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from kopt_kb.launch.candidate.job import Job, Request
from kopt_kb.launch.project.bundle import bundle_of
from kopt_kb.launch.project.command import ProjectCommand
from kopt_kb.launch.project.copies import Copies
from kopt_kb.launch.project.entries import unlike_benchmark
from kopt_kb.launch.project.file import ProjectFile
from kopt_kb.launch.project.paths import hash_files, select
from kopt_kb.launch.project.running import Commands, RunningJob
from kopt_kb.problem.problem import Problem

SHAPES = ["512x512x512"]
SAME = "from ops import gemm\ngemm.matmul([[1.0]], [[1.0]])\ngemm.rate_tflops(1, 1, 1)\n"
LEAVES = "import sys\nopen(sys.argv[2] + '/0/out.json', 'w').write('{}')\n"


@pytest.fixture
def asked(read: Callable[..., ProjectFile], project_root: Path, tmp_path: Path) -> Callable[..., str]:
    """Asks of the small project, with a program that computes outputs, whether both commands call the same."""
    made: list[Copies] = []

    def ask(compute: str, *changes: tuple[str, str], outputs: str = "{python} tools/compute.py") -> str:
        (project_root / "tools").mkdir(exist_ok=True)
        (project_root / "tools" / "compute.py").write_text(compute)
        command = f'outputs = "{outputs} {{inputs}} {{outputs}}"\ntest = {{'
        project = read(
            ('"benchmark/**"]', '"benchmark/**", "tools/**"]'), ('shapes = "all"', f'shapes = ["{SHAPES[0]}"]'),
            ("test = {", command), *changes,
        )  # fmt: skip
        chosen = select(project, project_root)
        body = Request(
            protected=hash_files(project_root, chosen.protected), shapes=tuple(SHAPES), probe=True,
            amounts=Problem.of("gemm", SHAPES, "fp16").passes(),
        )  # fmt: skip
        made.append(Copies(project, project_root))
        job = Job("check", bundle_of(project_root, chosen.editable), body=body)
        here = tmp_path / str(len(made))
        inputs, found = here / "inputs", here / "found"
        for one in (inputs / "0", found / "0"):
            one.mkdir(parents=True)
        return unlike_benchmark(Commands(made[-1]), RunningJob(job, here, lambda *_: None), inputs, found)

    yield ask
    for one in made:
        one.close()


def test_the_same_functions_are_let_pass(asked: Callable[..., str]) -> None:
    """More than the benchmark calls does no harm."""
    assert asked(SAME + LEAVES) == ""


def test_a_function_that_is_only_timed_is_named(asked: Callable[..., str]) -> None:
    """A kernel that is fast there and right elsewhere would be both."""
    said = asked("from ops import gemm\ngemm.matmul([[1.0]], [[1.0]])\n" + LEAVES)
    assert said.startswith("the benchmark calls ops/gemm.py:rate_tflops, which outputs does not")


def test_results_of_something_else_than_the_copy_are_found(asked: Callable[..., str]) -> None:
    """An installed package, or no kernel at all."""
    assert asked(LEAVES) == "outputs leaves results although ops/gemm.py is broken: it does not use the copy"


def test_where_no_call_is_seen_both_are_one_program(asked: Callable[..., str], project_root: Path) -> None:
    """As of a kernel that is no Python file."""
    (project_root / "ops" / "kernel.cu").write_text("int one;\n")
    other = (('"ops/gemm.py" ', '"ops/kernel.cu" '), ('["ops/*.py"]', '["ops/*.cu"]'))
    uses = "import sys\nassert 'broken' not in open('ops/kernel.cu').read()\n"
    said = asked(uses + LEAVES, *other)
    assert said.startswith("outputs runs tools/compute.py, the benchmark benchmark/bench_gemm.py")
    bench = project_root / "benchmark" / "bench_gemm.py"
    bench.write_text(uses + LEAVES)
    assert asked("", *other, outputs="{python} benchmark/bench_gemm.py") == ""


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("{python} -u a/b.py --csv {csv}", "a/b.py"),
        ("{python} -m pack.tool {inputs}", "-m pack.tool"),
        ("./run --csv {csv}", "./run"),
        ("{python}", "{python}"),
    ],
    ids=["script", "module", "program", "bare"],
)
def test_programs_are_told_apart_by_their_words(line: str, program: str) -> None:
    """Options and placeholders are no part of it."""
    assert ProjectCommand("benchmark", tuple(line.split()), (), 1.0).program == program


def test_lines_of_a_followed_file_stay_where_they_are(tmp_path: Path) -> None:
    """What follows calls stands behind the last line, sees calls from outside alone, and threads too."""
    from kopt_kb.launch.project import entries

    files: Mapping[str, str] = {"k.py": "def inner():\n    return 1\n\n\ndef outer():\n    return inner()\n"}
    text = files["k.py"] + entries._FOLLOW.format(own="k.py", editable=["k.py"], seen=entries._SEEN)
    assert text.startswith(files["k.py"])
    (tmp_path / "k.py").write_text(text)
    run = "import threading, k\nt = threading.Thread(target=k.outer)\nt.start()\nt.join()\n"
    (tmp_path / "run.py").write_text(run)
    subprocess.run([sys.executable, "run.py"], cwd=tmp_path, check=True, timeout=60)
    assert entries._read(tmp_path / entries._SEEN) == {"k.py:outer"}
    assert not (tmp_path / entries._SEEN).exists()

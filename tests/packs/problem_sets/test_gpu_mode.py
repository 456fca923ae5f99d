"""GPU MODE's problems: a task's benchmarks are the shapes, the files that its reference imports are joined."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.problems.find import read_problem
from kopt_kb.packs.problem_sets.gpu_mode import is_task, read_task

TASK = """
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "task.py", "source": "task.py"}
  - {"name": "utils.py", "source": "../utils.py"}
  - {"name": "reference.py", "source": "reference.py"}
tests:
  - {"rows": 3, "columns": 8, "cond": 0, "seed": 1}
benchmarks:
  - {"rows": 4, "columns": 8, "cond": 0, "kind": "dense", "seed": 7}
  - {"rows": 6, "columns": 16, "cond": 2, "kind": "dense", "seed": 8}
  - {"rows": 6, "columns": 16, "cond": 1, "kind": "rank", "seed": 9}
"""
BOMB = (
    "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"a{one}: &a{one} [{', '.join([f'*a{one - 1}'] * 10)}]\n" for one in range(1, 9))
    + "files:"
)
"""10 to the 9th values in 600 bytes."""
UTILS = "def make_match(reference, **limits):\n    return lambda data, output: True\n"
TYPES = "from typing import TypeVar\nimport torch\n\ninput_t = TypeVar('input_t')\n"
REFERENCE = """from __future__ import annotations
from utils import make_match as match
import torch
from task import (
    input_t,
)


def ref_kernel(data: input_t):
    x, scale, counts, out = data
    counts += 1
    out[...] = x.float() * scale["by"] + counts[0]
    return out


def generate_input(rows, columns, cond, seed, kind="dense"):
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    x = torch.randn(rows, columns, device="cuda", dtype=torch.float16, generator=gen)
    scale = {"by": torch.full((columns,), 2.0, dtype=torch.float16).cuda(), "kind": kind}
    counts = torch.arange(3).to("cuda")
    return x, scale, counts, torch.empty(rows, columns, device="cuda", dtype=torch.float16)


check_implementation = match(ref_kernel, rtol=2e-2, atol=1e-3)
"""


def write_task(folder: Path, task: str = TASK, reference: str = REFERENCE) -> Path:
    """Return the folder of a problem."""
    (folder / "utils.py").write_text(UTILS)
    (folder / "scale").mkdir(exist_ok=True)
    (folder / "scale" / "task.py").write_text(TYPES)
    (folder / "scale" / "task.yml").write_text(task)
    (folder / "scale" / "reference.py").write_text(reference)
    return folder / "scale"


def test_benchmarks_are_the_shapes(tmp_path: Path) -> None:
    """Positive integers of all of them are dimensions; one whose dimensions another has is left out, and said."""
    found = read_problem(write_task(tmp_path))
    assert (found.source, found.name, found.form) == ("GPU MODE", "gpu_mode_scale", ("rows", "columns"))
    assert found.shapes == ((4, 8), (6, 16))
    assert found.notes == ("1 benchmark(s) left out: their integers are another's",)
    assert found.tolerance.rel_l2_err == Fraction("2e-2")
    assert read_problem(tmp_path / "scale", shapes=("6x16",)).shapes == ((6, 16),)
    assert found.retyped is not None
    assert found.retyped("fp16").dtype == "fp16"


def test_imports_of_the_tasks_files_are_joined(tmp_path: Path) -> None:
    """Each once, above what needs it; other imports stay, and a later line has the number that it had."""
    text = read_problem(write_task(tmp_path)).text.decode()
    assert text.count("from __future__") == 1
    assert "from utils" not in text and "from task" not in text
    assert "match = make_match" in text and "def make_match" in text and "input_t = TypeVar" in text


def test_what_stands_beside_an_import_stays(tmp_path: Path) -> None:
    """Only the import itself is replaced."""
    beside = REFERENCE.replace("as match\n", "as match; import math; from task import input_t\n")
    text = read_problem(write_task(tmp_path, reference=beside)).text.decode()
    assert "match = make_match; import math; pass\n" in text


def test_without_benchmarks_tests_are_the_shapes(tmp_path: Path) -> None:
    """And without a positive integer there is one shape."""
    task = TASK.partition("benchmarks")[0]
    assert read_task(write_task(tmp_path, task) / "task.yml").shapes == ((3, 8),)
    alone = task.replace('"rows": 3, "columns": 8', '"rows": 0, "columns": -8')
    found = read_task(write_task(tmp_path, alone) / "task.yml")
    assert (found.form, found.shapes) == (("one",), ((1,),))
    assert "'form': []" in found.text.decode(), "generate_input has no parameter `one`"


def test_a_strict_check_is_no_stricter_than_rounding(tmp_path: Path) -> None:
    """rtol 1e-5 is below that of fp16."""
    plain = REFERENCE.replace(", rtol=2e-2, atol=1e-3", "")
    found = read_task(write_task(tmp_path, reference=plain) / "task.yml", "fp16")
    assert found.tolerance.rel_l2_err > Fraction("1e-5")


@pytest.mark.parametrize(
    ("task", "reference", "what"),
    [
        ("a: [", REFERENCE, "is no YAML"),
        ("- a", REFERENCE, "is no task"),
        (
            "files: [{name: utils.py, source: ../utils.py}, {name: task.py, source: task.py}]",
            REFERENCE,
            "neither benchmarks nor tests",
        ),
        (TASK, REFERENCE.replace("def ref_kernel", "def kernel"), "no function ref_kernel"),
        (
            TASK,
            REFERENCE.replace("from utils import make_match as match", "import utils"),
            "imports utils, as a module",
        ),
        (TASK, "import beside\n" + REFERENCE, "imports beside, which the task does not list"),
        ("[" * 5000, REFERENCE, "is no YAML"),
        (TASK.replace('"cond": 0', '"cond": .nan'), REFERENCE, "cond of an input is nan"),
        (TASK.replace('"cond": 0', '"cond": 2024-01-01'), REFERENCE, "cond of an input is a date"),
        (TASK.replace("files:", BOMB).replace('"cond": 0', '"cond": *a8'), REFERENCE, "more than 10000 values"),
        (TASK.replace("files:", "a: &a [*a]\nfiles:").replace('"cond": 0', '"cond": *a'), REFERENCE, "more than 10000"),
        (TASK, REFERENCE.replace("rtol=2e-2", "rtol=1e400"), "rtol is inf"),
    ],
    ids=[
        "yaml",
        "list",
        "empty",
        "no reference",
        "module",
        "not listed",
        "deep",
        "nan",
        "date",
        "bomb",
        "itself",
        "infinite",
    ],
)
def test_what_is_no_such_problem_is_refused(tmp_path: Path, task: str, reference: str, what: str) -> None:
    """With the file, and the line where there is one."""
    folder = write_task(tmp_path, task, reference)
    (folder / "beside.py").write_text("")
    with pytest.raises(BadInput, match=what) as refused:
        read_task(folder / "task.yml")
    assert str(folder) in refused.value.where


def test_a_folder_without_a_reference_and_an_unknown_shape(tmp_path: Path) -> None:
    """The file that is not there is named, and the shapes that are."""
    folder = write_task(tmp_path)
    assert is_task(folder / "task.yml")
    with pytest.raises(BadInput, match="no benchmark has the shape 9x9"):
        read_task(folder / "task.yml", shapes=("9x9",))
    (folder / "reference.py").unlink()
    with pytest.raises(BadInput, match="no such file"):
        read_task(folder / "task.yml")

"""Results of a project's kernel on this program's inputs: compared here, kept, and compared again."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.wire import canonical, parse, plain
from kopt_kb.base.wire import read as read_wire
from kopt_kb.launch.candidate.answers import Check, JudgedOutput, read_answer
from kopt_kb.launch.candidate.job import Job, Request, RunLimits
from kopt_kb.launch.kernel.declared import packaged_reference
from kopt_kb.launch.project.bundle import bundle, bundle_of, files_of
from kopt_kb.launch.project.executor import ProjectExecutor
from kopt_kb.launch.project.file import ProjectFile
from kopt_kb.launch.project.outputs import Cases, compare_again
from kopt_kb.launch.project.paths import hash_files, select
from kopt_kb.launch.project.toml_file import ProjectFileError
from kopt_kb.problem.problem import Problem

pytestmark = [pytest.mark.torch]

SHAPES = ["12x8x20", "16x24x16"]

COMPUTE = """
import json
import struct
import sys
from pathlib import Path

from ops.gemm import matmul

inputs, outputs = map(Path, sys.argv[1:])
for case in sorted(inputs.iterdir()):
    problem = json.loads((case / "problem.json").read_text())
    given = []
    for one in problem["inputs"]:
        (rows, columns), (step, skip) = one["shape"], one["strides"]
        data = (case / one["file"]).read_bytes()
        values = struct.unpack(f"<{len(data) // 2}e", data)
        given.append([[values[row * step + column * skip] for column in range(columns)] for row in range(rows)])
    found = matmul(*given)
    here = outputs / case.name
    (here / "out.bin").write_bytes(b"".join(struct.pack(f"<{len(row)}e", *row) for row in found))
    (here / "out.json").write_text(json.dumps({"shape": [len(found), len(found[0])], "dtype": "fp16"}))
"""
"""A project's command: raw bytes in, raw bytes out."""

WRITE = "import sys\nopen(sys.argv[2] + '/0/out.bin', 'w')\nopen(sys.argv[2] + '/0/out.json', 'w').write(%s)"
"""One that leaves an empty result of which it says something."""

CHANGES = (
    ('"benchmark/**"]', '"benchmark/**", "tools/**"]'),
    ('shapes = "all"', f"shapes = {json.dumps(SHAPES)}"),
    ("test = {", 'outputs = "{python} tools/compute.py {inputs} {outputs}"\ntest = {'),
)


class InProcess:
    """The reference process, in this one."""

    pid = 0

    def __init__(self) -> None:
        from kopt_kb.launch.record.reference import _Session

        self._session = _Session()

    def ask(self, question: Any, kind: Any, _: float) -> Any:
        said = self._session.answer(canonical(question.to_json()).decode())
        return read_wire(kind, parse(canonical(said.to_json())), where="reference")

    def end(self) -> None:
        """Nothing was started."""


@pytest.fixture
def checked(
    project_root: Path, read: Callable[..., ProjectFile], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Check]:
    """Checks a kernel of the small project, its results compared."""
    pytest.importorskip("torch")
    from kopt_kb.launch.project import outputs

    monkeypatch.setattr(outputs, "ProcessChannel", lambda *_: InProcess())

    def check(
        old: str = "", new: str = "", compute: str = COMPUTE, *more: tuple[str, str], probe: bool = False
    ) -> Check:
        (project_root / "tools").mkdir(exist_ok=True)
        (project_root / "tools" / "compute.py").write_text(compute)
        project = read(*CHANGES, *more)
        chosen = select(project, project_root)
        files = files_of(bundle_of(project_root, chosen.editable))
        assert old in files["ops/gemm.py"]
        source = bundle({**files, "ops/gemm.py": files["ops/gemm.py"].replace(old, new)})
        body = Request(
            shapes=tuple(SHAPES), protected=hash_files(project_root, chosen.protected), probe=probe,
            amounts=Problem.of("gemm", SHAPES, "fp16").passes(),
        )  # fmt: skip
        executor = ProjectExecutor(project, project_root)
        try:
            found = executor.run(Job("check", source, source, body, RunLimits(600.0, 0)), lambda *_: None)
        finally:
            executor.close()
        assert isinstance(found.result, Check), found.printed
        return found.result

    return check


def test_a_right_kernel_is_compared_kept_and_compared_again(checked: Callable[..., Check], tmp_path: Path) -> None:
    """All declared inputs of the smallest shape; forged bytes, distances and seeds are found."""
    found = checked()
    assert found.passed, found.problem
    assert found.checks == len(found.outputs) > 3
    assert {one.shape for one in found.outputs} == set(SHAPES)
    assert found.basis is not None and found.basis.trust in {"isolated", "reported"}
    assert 0 < (found.rel_l2_err or 0) < 1e-3
    assert {one.device for one in found.outputs if one.content} == {"cpu"}, "others can't be drawn again anywhere"
    again = read_answer("check", plain(parse(canonical(found.to_json()))))
    assert again == found
    file = packaged_reference("gemm")
    assert file is not None
    one = next(each for each in found.outputs if each.content and each.device == "cpu")
    zeros = replace(one, content=base64.b64encode(bytes(len(base64.b64decode(one.content)))).decode())

    def wrong(kept: JudgedOutput) -> list[str]:
        return list(compare_again(Cases(file, "gemm", "fp16", InProcess()), [kept], tmp_path))

    assert wrong(one) == []
    assert "relative error 1 " in wrong(zeros)[0]
    assert "not 0.25" in wrong(replace(one, rel_l2_err=0.25))[0]
    assert "relative error" in wrong(replace(one, seed=one.seed + 1))[0]


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ("return [[0.0 for _ in zip(*b)] for _ in a]", "relative error 1 is above"),
        ("return [[float(len(b)) for _ in zip(*b)] for _ in a] if len(a) > 2 else [[19.0, 22.0], [43.0, 50.0]]", "is above"),
        ("return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a][:len(a) if len(a) < 3 else -1]", "the result has shape"),
    ],
)  # fmt: skip
def test_a_kernel_that_only_the_test_finds_right_is_wrong(checked: Callable[..., Check], new: str, said: str) -> None:
    """The project's own test tries one product of two by two."""
    old = "return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)] for row in a]"
    right_there = f"if len(a) == 2 and len(b) == 2:\n        {old}\n    {new}"
    found = checked(old, right_there)
    assert not found.passed
    assert said in found.problem
    assert "12x8x20, random" in found.problem


@pytest.mark.parametrize(
    ("compute", "said"),
    [
        ("", "out.json can't be read: No such file"),
        ("import os, sys\nos.mkfifo(sys.argv[2] + '/0/out.json')", "out.json is no regular file"),
        ("import os, sys\nos.symlink('/etc/passwd', sys.argv[2] + '/0/out.json')", "out.json is a link"),
        (WRITE % "'{' * 70000", "out.json is larger than"),
        (WRITE % '\'{"shape": [-3, 8], "dtype": "fp16"}\'', "out.bin has 0 bytes"),
        (WRITE % '\'{"shape": [12, 8], "dtype": "fp99"}\'', "out.json has elements of fp99"),
        ("import sys\nsys.exit(3)", "the outputs ended with 3"),
    ],
)  # fmt: skip
def test_what_a_command_leaves_is_read_with_care(checked: Callable[..., Check], compute: str, said: str) -> None:
    """Nothing, a pipe, a link, too much, no extents, no type, a failure."""
    found = checked(compute=compute)
    assert not found.passed
    assert said in found.problem


def test_the_file_says_what_compares(read: Callable[..., ProjectFile], project_root: Path) -> None:
    """An operation without a reference in the package names its own, which is protected by that."""
    command = ("test = {", 'outputs = "{python} tests/check_gemm.py {inputs} {outputs}"\ntest = {')
    with pytest.raises(ProjectFileError, match="has no reference of this operation"):
        read(command, ('dtype = "fp16"', 'dtype = "fp16"\noptions = { batch = 4 }'))
    with pytest.raises(ProjectFileError, match="no command makes any"):
        read(('dtype = "fp16"', 'dtype = "fp16"\nreference = "tests/check_gemm.py"'))
    with pytest.raises(ProjectFileError, match="lacks {outputs}"):
        read(("test = {", 'outputs = "{python} tests/check_gemm.py {inputs}"\ntest = {'))
    (project_root / "reference.py").write_text("")
    own = read(command, ('dtype = "fp16"', 'dtype = "fp16"\nreference = "reference.py"'))
    assert "reference.py" in select(own, project_root).protected
    (project_root / "reference.py").unlink()
    with pytest.raises(ProjectFileError, match=r"reference.py does not exist"):
        select(own, project_root)


def test_at_the_baseline_results_must_be_of_what_is_timed(checked: Callable[..., Check]) -> None:
    """The benchmark calls a function that outputs leaves alone; where it calls it too, the baseline passes."""
    found = checked(probe=True)
    assert not found.passed
    assert found.problem.startswith("the benchmark calls ops/gemm.py:rate_tflops, which outputs does not")
    both = COMPUTE.replace("import matmul", "import matmul, rate_tflops").replace(
        "found = ", "rate_tflops(1, 1, 1)\n    found = "
    )
    assert checked("", "", both, probe=True).passed

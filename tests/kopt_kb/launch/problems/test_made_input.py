"""A problem of one argument: tensors made empty are places for results, CUDA is the device that judges use."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

from kopt_kb.base.errors import BadInput  # noqa: E402
from kopt_kb.launch.compile.loader import load_module  # noqa: E402
from kopt_kb.launch.problems.capsule import reference_file  # noqa: E402
from kopt_kb.problem.tolerances import tolerance_of  # noqa: E402

pytestmark = pytest.mark.torch

PYTHON = """
import torch


def ref_kernel(data):
    x, scale, counts, out, kept = data
    counts += 1
    out[...] = x.float() * scale["by"] + counts[0] + kept
    return out


def generate_input(rows, columns, seed, kind="dense"):
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    x = torch.randn(rows, columns, device="cuda", dtype=torch.float16, generator=gen)
    filled = torch.empty(columns, dtype=torch.float16, device=torch.device("cuda"))
    filled[:] = 2.0
    counts = torch.arange(3).to("cuda")
    return x, {"by": filled.cuda(), "kind": kind}, counts, torch.empty_like(x), torch.zeros(1, device="cuda:0").half()
"""
TABLE = {
    "name": "scale", "form": ["rows", "columns"], "workloads": {"4x8": {"kind": "rank"}, "6x16": {}},
    "make": "generate_input", "reference": "ref_kernel", "seed": "seed",
    "names": ["x", "scale", "counts", "out", "kept"], "changed": ["counts", "out"],
}  # fmt: skip


@pytest.fixture
def problem(tmp_path: Path) -> ModuleType:
    """The reference file of a problem, loaded."""
    return made(tmp_path, PYTHON)


def made(folder: Path, python: str, **table: Any) -> ModuleType:
    text = reference_file(python, "made_input.MadeInput", {**TABLE, **table}, tolerance_of("fp16"))
    (folder / "r.py").write_bytes(text)
    return load_module(str(folder / "r.py"))


def test_inputs_are_the_tensors_that_hold_something(problem: ModuleType) -> None:
    """By the reference's names; of one seed the same; the type is theirs, the device that of the judge."""
    one = problem.make_inputs((4, 8), "fp16", "cpu", 1)
    assert problem.PROBLEM.names == ("x", "scale.by", "counts", "kept")
    assert problem.PROBLEM.stored == "fp16"
    assert [tuple(each.shape) for each in one] == [(4, 8), (8,), (3,), (1,)]
    assert torch.equal(one[0], problem.make_inputs((4, 8), "fp16", "cpu", 1)[0])
    assert not torch.equal(one[0], problem.make_inputs((4, 8), "fp16", "cpu", 2)[0])
    with FakeTensorMode():
        assert len(problem.make_inputs((6, 16), "fp16", "cpu", 1)) == 4
    with pytest.raises(BadInput, match="no shape 5x5"):
        problem.make_inputs((5, 5), "fp16")


def test_the_reference_is_float64_and_leaves_its_inputs_alone(problem: ModuleType) -> None:
    """Counts that it changes are copied for each call."""
    given = problem.make_inputs((4, 8), "fp16", "cpu", 3)
    before = [one.clone() for one in given]
    expected = given[0].double() * 2 + 1
    for _ in range(2):
        found = problem.reference(*given)
        assert found.dtype == torch.float64
        assert torch.equal(found, expected)
    assert problem.published(*given).dtype == torch.float16
    assert all(torch.equal(a, b) for a, b in zip(given, before, strict=True))


CANDIDATES = {
    "one argument": "def custom_kernel(data):\n    x, scale, counts, out, kept = data\n    assert scale['kind'] == 'rank'\n"
    "    out.copy_(x * scale['by'] + 1)\n    return out\n",
    "members": "def launch(x, by, kind, counts, kept):\n    return x * by + 1 + kept\n",
}


@pytest.mark.parametrize("name", CANDIDATES)
def test_a_candidate_is_given_the_argument_or_its_members(problem: ModuleType, tmp_path: Path, name: str) -> None:
    """Fresh places for results each time."""
    given = problem.make_inputs((4, 8), "fp16", "cpu", 3)
    (tmp_path / "c.py").write_text(CANDIDATES[name])
    launch = problem.launcher(load_module(str(tmp_path / "c.py")))
    one, two = launch(*given), launch(*given)
    assert torch.equal(one, two) and one.data_ptr() != two.data_ptr()
    assert torch.allclose(one.double(), problem.reference(*given), rtol=2e-3)


@pytest.mark.parametrize(
    ("returned", "names"),
    [("torch.ones(4)", ("data",)), ("[torch.ones(4), torch.zeros(2)[1:] + 1]", ("data[0]", "data[1]"))],
    ids=["tensor", "list"],
)
def test_members_without_names_have_their_places(tmp_path: Path, returned: str, names: tuple[str, ...]) -> None:
    """What the reference does not unpack."""
    problem = made(
        tmp_path, f"import torch\ndef generate_input(rows, columns):\n    return {returned}\ndef ref_kernel(d): ...\n",
        names=[], changed=[], seed="", workloads={"4x8": {}},
    )  # fmt: skip
    problem.make_inputs((4, 8), "fp32", "cpu", 0)
    assert problem.PROBLEM.names == names


def test_an_object_is_no_member(tmp_path: Path) -> None:
    """A module's weights could not be drawn in another type."""
    problem = made(tmp_path, PYTHON.replace('"kind": kind', '"kind": torch.nn.Identity()'))
    with pytest.raises(BadInput, match=r"returns a Identity \(scale.kind\)"):
        problem.make_inputs((4, 8), "fp16", "cpu", 0)

"""A candidate can't judge itself: the reference and the inputs come from a trusted file, in another process."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kopt_kb.launch.candidate.answers import AnswerBasis, Check, Unable
from kopt_kb.launch.candidate.check import CandidateDiedError, cases_of, check, error_line, outputs, reference_of
from kopt_kb.launch.candidate.child import answer
from kopt_kb.launch.candidate.job import Request
from kopt_kb.problem.tolerances import tolerance_of
from kopt_kb.sandbox.caged import cage_here
from kopt_kb.sandbox.isolation import WHOLE, Isolation

HONEST = """
import torch
OP = "softmax"
def make_inputs(shape, dtype, device="cuda", seed=0):
    generator = torch.Generator(device=device).manual_seed(seed)
    return (torch.randn(*shape, generator=generator, device=device),)
def reference(x):
    return torch.softmax(x.double(), -1)
def launch(x, *, config=None, out=None):
    out = torch.empty_like(x) if out is None else out
    return out.copy_(torch.softmax(x, -1))
"""
ZEROS = HONEST.replace("out.copy_(torch.softmax(x, -1))", "out.zero_()")
BODY = Request(
    shapes=("2x4", "3x5"),
    dtype="fp32",
    device="cpu",
    seeds=(1, 7),
    tolerance=tolerance_of("fp32"),
)


def judged(folder: Path, candidate: str, reference: str = HONEST) -> Check:
    """The check of a candidate against a reference file."""
    (folder / "candidate.py").write_text(candidate)
    (folder / "reference.py").write_text(reference)
    return check(BODY, folder)


@pytest.mark.torch
def test_right_results_pass_with_their_errors_by_shape(tmp_path: Path) -> None:
    """Every shape and seed is a case, and every shape has its largest error."""
    found = judged(tmp_path, HONEST)
    assert (found.passed, found.problem, found.checks) == (True, "", 4)
    errors = found.rel_l2_err_by_shape
    assert isinstance(errors, dict)
    assert errors.keys() == {"2x4", "3x5"}
    assert max(errors.values()) == found.rel_l2_err
    assert [one.place for one in cases_of(BODY)] == [0, 1, 2, 3]


@pytest.mark.torch
@pytest.mark.parametrize(
    ("line", "field", "word"),
    [
        ("raise RuntimeError('no such tile')", "build_error", "no such tile"),
        ("return torch.empty(3)", "problem", "did not return"),
        ("x = x + 1e-2 * torch.arange(x.shape[-1])", "problem", "relative error"),
        ("return out", "problem", "NaN"),
    ],
)
def test_wrong_candidates_are_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, field: str, word: str
) -> None:
    """An exception, a wrong shape, a wrong result and one that was never written each have their words."""
    monkeypatch.setattr(
        "kopt_kb.launch.candidate.check._run_candidate",
        lambda asked, folder, inner: (shutil.copy(folder / "candidate.py", inner), outputs(asked, inner), Isolation())[
            1:
        ],
    )
    found = judged(tmp_path, HONEST.replace("    return out.copy_", f"    {line}\n    return out.copy_"))
    assert word in getattr(found, field)
    assert found.passed is False


@pytest.mark.torch
@pytest.mark.parametrize(
    "lie",
    [
        ZEROS.replace("return torch.softmax(x.double(), -1)", "return 0 * x.double()"),
        ZEROS.replace("torch.randn(*shape, generator=generator, device=device)", "torch.zeros(shape)"),
        ZEROS + "\ntorch.softmax = lambda x, dim: 0 * x\n",
        ZEROS + "\ntorch.Tensor.double = lambda self: 0 * self.to(torch.float64)\n",
    ],
    ids=["its reference", "its inputs", "torch's function", "torch's cast"],
)
def test_a_candidate_that_changes_the_judge_fails(tmp_path: Path, lie: str) -> None:
    """A kernel that writes zeros is wrong, whatever its file says is right."""
    found = judged(tmp_path, lie)
    assert found.passed is False
    assert "error" in str(found.problem)


@pytest.mark.torch
def test_a_candidate_that_rewrites_the_judges_file_fails(tmp_path: Path) -> None:
    """The judge is in memory before the candidate runs, its folder is not beside the candidate's, and is out of reach."""
    rewrite = """
import pathlib
for folder in [*pathlib.Path(__file__).resolve().parents[:3], pathlib.Path(FOLDER)]:
    for file in {*folder.glob("*/reference.py"), *folder.glob("reference.py")}:
        try:
            file.write_text(file.read_text().replace("torch.softmax(x.double(), -1)", "0 * x.double()"))
        except OSError:
            print("out of reach")
"""
    found = judged(tmp_path, ZEROS + rewrite.replace("FOLDER", repr(str(tmp_path))))
    changed = "0 * x.double()" in (tmp_path / "reference.py").read_text()
    assert changed == ("write-protected files" in cage_here().missing)
    assert found.passed is False
    assert "error" in str(found.problem)


TWO = """
import torch
OP = "two"
def make_inputs(shape, dtype, device="cuda", seed=0):
    return (torch.randn(*shape, generator=torch.Generator(device=device).manual_seed(seed), device=device),)
def reference(x):
    return x.double().mean(-1), 2 * x.double()
def launcher(module):
    return module.launch
"""


@pytest.mark.torch
def test_several_results_are_judged_one_by_one(tmp_path: Path) -> None:
    """The first shape is right; of the second the second result is not, on both seeds."""
    candidate = "def launch(x, config=None, out=None):\n    return x.mean(-1), (2.1 if len(x) == 3 else 2) * x\n"
    found = judged(tmp_path, candidate, TWO)
    assert found.problem.startswith("3x5, seed 1: result 1: relative error 0.05")
    assert (found.passed, found.checks) == (False, 4)
    assert found.rel_l2_err_by_shape["2x4"] < 1e-6 < found.rel_l2_err_by_shape["3x5"]


@pytest.mark.torch
def test_outputs_of_another_shape_or_missing_are_failures(tmp_path: Path) -> None:
    """What the candidate's process leaves behind is checked as a tensor of the right shape and type."""
    swap = "\nimport torch\n_save = torch.save\ntorch.save = lambda value, path: _save(value[:1], path)\n"
    assert "shape" in str(judged(tmp_path, HONEST + swap).problem)
    other = tmp_path / "other"
    other.mkdir()
    gone = "\nimport torch\ntorch.save = lambda value, path: None\n"
    assert "left no output" in str(judged(other, HONEST + gone).problem)


@pytest.mark.torch
def test_a_pickle_in_place_of_a_tensor_is_not_run(tmp_path: Path) -> None:
    """Loading an output never runs code of the candidate in the judge's process."""
    marker = tmp_path / "ran"
    evil = f"""
import os, pickle
class Evil:
    def __reduce__(self):
        return (os.system, ("touch {marker}",))
torch.save = lambda value, path: open(path, "wb").write(pickle.dumps(Evil()))
"""
    assert "left no output" in str(judged(tmp_path, HONEST + evil).problem)
    assert not marker.exists()


@pytest.mark.torch
def test_a_reference_file_that_fails_is_named(tmp_path: Path) -> None:
    """The fault is not the candidate's."""
    found = judged(tmp_path, HONEST, "OP = 'softmax'\n")
    assert "the reference file fails" in str(found.build_error)


@pytest.mark.torch
def test_a_candidate_that_dies_has_no_answer(tmp_path: Path) -> None:
    """The end of its process is handed on as it was."""
    with pytest.raises(CandidateDiedError, match="9"):
        judged(tmp_path, HONEST + "\nimport os\nos.kill(os.getpid(), 9)\n")


def test_without_a_trusted_file_the_candidates_own_judges(tmp_path: Path) -> None:
    """As `kb verify kernel` does for an operation the package does not know."""
    (tmp_path / "candidate.py").write_text("OP = 'mine'\n")
    assert reference_of(tmp_path).OP == "mine"
    (tmp_path / "reference.py").write_text("OP = 'theirs'\n")
    assert reference_of(tmp_path).OP == "theirs"


@pytest.mark.torch
def test_a_reference_that_does_not_fit_is_no_fault_of_the_candidate(tmp_path: Path) -> None:
    """The job is unavailable, names the shape and says what to do; nothing is raised."""
    (tmp_path / "candidate.py").write_text(HONEST)
    short = HONEST.replace("return torch.softmax(x.double(), -1)", "raise MemoryError")
    (tmp_path / "reference.py").write_text(short)
    found = answer("check", BODY, tmp_path)
    assert isinstance(found, Unable)
    assert "2x4" in found.reason
    assert "verify a smaller shape" in found.reason


@pytest.mark.torch
def test_a_check_says_what_held_the_candidate(tmp_path: Path) -> None:
    """Isolated where the cage of this machine is whole, else reported with what it lacks."""
    basis = judged(tmp_path, HONEST).basis
    assert basis is not None and basis.isolation is not None
    assert basis.trust == ("reported" if cage_here().lacks() else "isolated")
    assert set(cage_here().held) >= set(basis.isolation.held) & set(WHOLE)


@pytest.mark.parametrize("missing", WHOLE)
def test_a_cage_that_lacks_anything_isolates_nobody(missing: str) -> None:
    """The reason names it; limits of a cgroup hide nothing and may be missing."""
    held = Isolation(tuple(one for one in WHOLE if one != missing), {missing: "not permitted"})
    basis = AnswerBasis.of_cage(held, held.lacks())
    assert (basis.trust, basis.reason, basis.isolation) == (
        "reported", f"the cage lacks {missing}: not permitted", held,
    )  # fmt: skip
    whole = Isolation(WHOLE, {"cgroup limits": "no cgroup v2"})
    assert AnswerBasis.of_cage(whole, whole.lacks()).trust == "isolated"


def test_an_error_whose_code_is_a_number() -> None:
    """As torch's AcceleratorError has it; this package's errors have theirs in the text."""
    error = RuntimeError("CUDA error: OS call failed")
    error.error_code = 304  # type: ignore[attr-defined]
    assert error_line(error) == "RuntimeError: CUDA error: OS call failed [304]"
    error.error_code = "CUDA"  # type: ignore[attr-defined]
    assert error_line(error) == "RuntimeError: CUDA error: OS call failed"

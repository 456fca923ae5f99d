"""What the child answers, called directly on kernels that run on the CPU."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.launch.candidate.child import answer, main
from kopt_kb.launch.candidate.job import Request, SpaceAsked
from kopt_kb.launch.candidate.search_pruning import pruning_rules
from kopt_kb.problem.tolerances import tolerance_of
from kopt_kb.wiki.registry import Registry

KERNEL = """
import torch
OP = "softmax"
def make_inputs(shape, dtype, device="cuda", seed=0):
    return (torch.full(shape, float(seed), device=device),)
def reference(x):
    return torch.softmax(x.double(), -1)
def launch(x, *, config=None, out=None):
    out = torch.empty_like(x) if out is None else out
    return out.copy_(torch.softmax(x, -1))
"""


def body() -> dict[str, object]:
    """One small shape and seed."""
    return {
        "shapes": ["2x4"],
        "dtype": "fp32",
        "device": "cpu",
        "seeds": [1],
        "tolerance": tolerance_of("fp32"),
    }


@pytest.mark.torch
def test_a_check_answers(tmp_path: Path) -> None:
    """Right results pass; a file that can't be imported is a build error."""
    (tmp_path / "candidate.py").write_text(KERNEL)
    found = answer("check", Request(**body()), tmp_path)
    assert (found.passed, found.checks, found.build_error, found.problem) == (True, 1, "", "")
    (tmp_path / "candidate.py").write_text("import no_such_module_anywhere\n")
    broken = answer("check", Request(**body()), tmp_path)
    assert broken.passed is False
    assert "no_such_module_anywhere" in broken.build_error


@pytest.mark.torch
def test_a_check_says_the_error_of_each_shape(tmp_path: Path) -> None:
    """The largest over its seeds; a shape without a comparable result is left out, and the check fails."""
    noisy = KERNEL.replace("torch.softmax(x, -1))", "torch.softmax(x, -1) * (1 + 1e-6 * x.shape[0]))")
    (tmp_path / "candidate.py").write_text(noisy)
    found = answer("check", Request(**{**body(), "shapes": ["2x4", "8x4"], "seeds": [1, 2]}), tmp_path)
    errors = found.rel_l2_err_by_shape
    assert found.passed is True
    assert errors["2x4"] == pytest.approx(2e-6, rel=0.1)
    assert errors["8x4"] == pytest.approx(8e-6, rel=0.1) == found.rel_l2_err
    silent = KERNEL.replace("out.copy_(torch.softmax(x, -1))", "out if len(x) > 2 else out.copy_(torch.softmax(x, -1))")
    other = tmp_path / "other"
    other.mkdir()
    (other / "candidate.py").write_text(silent)
    found = answer("check", Request(**{**body(), "shapes": ["2x4", "8x4"]}), other)
    assert (found.passed, set(found.rel_l2_err_by_shape)) == (False, {"2x4"})


@pytest.mark.torch
@pytest.mark.parametrize("sides", [("incumbent", "candidate"), ("incumbent", "candidate", "best")])
def test_a_third_side_is_timed_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sides: tuple[str, ...]) -> None:
    """One measurement holds all sides that are there, in their order, on the same inputs."""
    asked: list[list[str]] = []

    def measure(launches, samples, body):
        for one in launches:
            one.spoil()
        asked.append([Path(one.run().place).stem for one in launches])
        return tuple((1e-6 * (at + 1),) * samples for at in range(len(launches)))

    monkeypatch.setattr("kopt_kb.launch.candidate.child._measure", measure)
    for side in sides:
        text = KERNEL.replace("    return out.copy_", "    out.place = __file__\n    return out.copy_")
        (tmp_path / f"{side}.py").write_text(text)
    found = answer("timing", Request(**{**body(), "repeats": 3, "samples": 5}), tmp_path).shapes["2x4"]
    assert asked == [list(sides)] * 3
    assert {side: [one.median_s for one in found[side]] for side in found} == {
        side: [pytest.approx(1e-6 * (at + 1))] * 3 for at, side in enumerate(sides)
    }


@pytest.mark.torch
def test_a_kernel_that_stops_working_while_it_is_timed_has_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is right in the check and whenever it is called a few times; the output of its last timed run is not."""

    def measure(launches, samples, body):
        for one in launches:
            for _ in range(samples):
                one.spoil()
                one.run()
        return ((1e-6,) * samples,) * len(launches)

    monkeypatch.setattr("kopt_kb.launch.candidate.child._measure", measure)
    stop = "    CALLS.append(1)\n    if len(CALLS) > 12:\n        return out\n"
    lazy = KERNEL.replace("    return out.copy_", f"{stop}    return out.copy_")
    (tmp_path / "incumbent.py").write_text(KERNEL)
    (tmp_path / "candidate.py").write_text(lazy + "CALLS = []\n")
    found = answer("timing", Request(**{**body(), "repeats": 3, "samples": 5}), tmp_path)
    assert found.shapes == {}
    assert "the candidate's output is wrong: 8 elements are NaN" in found.problem


@pytest.mark.torch
@pytest.mark.parametrize(("factor", "problem"), [(2, ""), (3, "the candidate's output is wrong: result 1: ")])
def test_several_results_are_made_anew_in_each_timed_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factor: int, problem: str
) -> None:
    """What the last of them left is judged, each result against its own."""
    seen: list[list[bool]] = []

    def measure(launches, samples, body):
        for one in launches:
            one.spoil()
            seen.append([bool(each.isnan().all()) for each in one.out])
            one.run()
        return ((1e-6,) * samples,) * len(launches)

    monkeypatch.setattr("kopt_kb.launch.candidate.child._measure", measure)
    head = "import torch\nOP = 'two'\ndef make_inputs(shape, dtype, device='cpu', seed=0):\n    return (torch.ones(shape),)\n"
    head += "def reference(x):\n    return x.double().mean(-1), 2 * x.double()\ndef launcher(module):\n    return module.launch\n"
    (tmp_path / "reference.py").write_text(head)
    for side, by in (("incumbent", 2), ("candidate", factor)):
        text = f"def launch(x, config=None, out=None):\n    return x.mean(-1), {by} * x\n"
        (tmp_path / f"{side}.py").write_text(text)
    found = answer("timing", Request(**{**body(), "repeats": 1, "samples": 5}), tmp_path)
    assert problem in found.problem
    assert bool(found.shapes) == (not problem)
    assert seen == [[True, True]] * 2


def test_an_unknown_kind_is_unavailable(tmp_path: Path) -> None:
    """The gate then says so."""
    assert answer("limits", Request(), tmp_path).unavailable


@pytest.mark.torch
def test_no_gpu_is_missing(tmp_path: Path) -> None:
    """Timing on a machine without a GPU names what is missing instead of crashing."""
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert "GPU" in answer("environment", Request(), tmp_path).missing
    for device in ("cuda", "cuda:1"):
        assert "GPU" in answer("check", Request(device=device), tmp_path).missing


@pytest.mark.torch
def test_the_answer_carries_the_token_and_the_job_is_gone(tmp_path: Path) -> None:
    """The secret is removed before the candidate is imported."""
    (tmp_path / "candidate.py").write_text(KERNEL)
    (tmp_path / "job.json").write_text(
        json.dumps({"kind": "check", "body": Request(**body()).to_json(), "token": "secret"})
    )
    assert main([str(tmp_path)]) == 0
    assert not (tmp_path / "job.json").exists()
    assert json.loads((tmp_path / "result.json").read_text())["token"] == "secret"


@pytest.mark.torch
@pytest.mark.parametrize("pruned", [True, False])
def test_a_search_says_whether_it_pruned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pruned: bool) -> None:
    """Rules reach the pruner with the candidate's file; one without declared launches is measured and says so.

    Nothing is kept on disk for a later search: the candidate's code runs here, and could write it.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("kopt_kb.launch.candidate.child._measure", lambda functions, *_: ((1.0,),) * len(functions))
    (tmp_path / "candidate.py").write_text(KERNEL)
    rules = replace(pruning_rules(Registry.open().platform("H200_SXM")), seconds=3600.0) if pruned else None
    sizes = {"evaluations": 3, "seconds": 3600.0, "seed": 1, "pruning": rules}
    space = {"spaces": {"2x4": SpaceAsked({"a": 1}, {"a": [1, 2]})}}
    cached = sorted((tmp_path / "cache").rglob("*"))
    found = answer("search", Request(**{**body(), **sizes, **space}), tmp_path).shapes["2x4"]
    here = "static_cases" if importlib.util.find_spec("triton") else "not installed"
    expected = here if pruned else "not asked for"
    assert expected in found.pruning
    assert (found.evaluated, found.failed, found.pruned) == (2, 0, {})
    assert sorted((tmp_path / "cache").rglob("*")) == cached


@pytest.mark.torch
def test_a_wrong_configuration_is_not_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fastest configuration of three is wrong, the second leaves its output unwritten: the third is the best."""
    wrong = KERNEL.replace(
        "    return out.copy_(torch.softmax(x, -1))",
        "    if config['a'] == 3:\n        return out\n    return out.copy_(torch.softmax(x, -1) * (1.01 if config['a'] == 2 else 1))",
    )
    assert wrong != KERNEL
    (tmp_path / "candidate.py").write_text(wrong)
    timed: list[int] = []

    def measure(launches, samples, body):
        timed.append(samples)
        return ((1.0,),)

    monkeypatch.setattr("kopt_kb.launch.candidate.child._measure", measure)
    space = {"spaces": {"2x4": SpaceAsked({"a": 1}, {"a": [1, 2, 3]})}}
    found = answer(
        "search", Request(**{**body(), "evaluations": 5, "seconds": 3600.0, "seed": 1, **space}), tmp_path
    ).shapes["2x4"]
    assert (found.config, found.median_s) == ({"a": 1}, 1.0)
    assert (found.evaluated, found.failed, len(timed)) == (3, 2, 1)

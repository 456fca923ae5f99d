"""Claims about a launcher that is its own reference: what a call gives, on whatever device its tensors are."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kopt_kb.base.errors import BadInput  # noqa: E402
from kopt_kb.launch.compile.loader import load_module  # noqa: E402
from kopt_kb.launch.kernel.judgement import Case  # noqa: E402
from kopt_kb.launch.problems.called import CalledTable  # noqa: E402
from kopt_kb.launch.problems.capsule import reference_file  # noqa: E402
from kopt_kb.launch.problems.own_version import OwnVersion, first_fitting  # noqa: E402
from kopt_kb.problem.table import ProblemTable, StatedTensor, Workload  # noqa: E402
from kopt_kb.problem.tolerances import tolerance_of  # noqa: E402
from kopt_kb.problem.trials import GENERIC, RANDOM, Trial, trial_named  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.triton]

SOURCE = """import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


def double(x, y, kind=None, size=(), factor=1.0):
    assert kind is torch.float32 and size == (1, 2) and factor == float("inf")
    kernel[(1,)](x, y, x.numel(), BLOCK=8)


def fresh(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=8)
    return y, x, x.sum() * 0


def centred(x):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) * (mean.abs() + 1e-5), mean


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y=None, more=3):
        return fresh(x)[0]
"""


def table(entry: str, names: tuple[str, ...], scalars: dict[str, Any], **more: Any) -> CalledTable:
    """Return the table of a call on eight numbers each."""
    inputs = tuple(StatedTensor(one, None if one in scalars else (8,), "float32") for one in names)
    held = {"8": Workload(scalars)}
    return CalledTable(
        ProblemTable("own", ("D0",), {}, inputs, (), held, "fp32", entry.partition(".")[0], entry=entry), **more
    )


def problem(tmp_path: Path, given: CalledTable) -> OwnVersion:
    """Return the problem of a reference file, as judges load it."""
    text = reference_file(SOURCE, "own_version.OwnVersion", given.to_json(), tolerance_of("fp32"))
    path = tmp_path / "reference.py"
    path.write_bytes(text)
    found = load_module(str(path)).PROBLEM
    assert isinstance(found, OwnVersion)
    return found


@pytest.mark.parametrize("kind", ["written", "changed"])
def test_what_is_written_is_the_result_and_the_inputs_stay(tmp_path: Path, kind: str) -> None:
    """On the CPU Triton interprets the kernel; words stand for what JSON lacks."""
    scalars = {"kind": "torch.float32", "size": [1, 2], "factor": "float.inf"}
    given = table("double", ("x", "y", *scalars), scalars, returns=False, **{kind: ("y",)})
    own = problem(tmp_path, given)
    x, y = own.make_inputs(own.own_shape(), "fp32", "cpu", 3)
    before = y.clone()
    assert torch.equal(own.reference(x, y), 2 * x.double())
    assert own.published(x, y) == pytest.approx(2 * x, rel=2e-6)
    assert torch.equal(y, before)


def test_several_results_come_in_order(tmp_path: Path) -> None:
    """Each in float64."""
    own = problem(tmp_path, table("fresh", ("x",), {}))
    (x,) = own.make_inputs((8,), "fp32", "cpu", 3)
    first, second = own.reference(x)
    assert (first.dtype, second.dtype) == (torch.float64, torch.float64)
    assert torch.equal(first, 2 * x.double())


def test_inputs_on_which_rounding_decides_say_nothing_of_another_version(tmp_path: Path) -> None:
    """A row of equal elements has no deviation but that of its mean's rounding, which follows the order of the sum."""
    own = problem(tmp_path, table("centred", ("x",), {}))
    module, limits = ModuleType("own"), tolerance_of("fp32")
    module.__dict__.update(make_inputs=own.make_inputs, reference=own.reference, published=own.published)

    def seen(trial: Trial, factor: float = 1.0) -> tuple[str, bool]:
        case = Case(module, own.own_shape(), "fp32", trial, 3, "cpu", "own")
        (x,) = case.inputs
        mean = factor * (x.double().sum(-1, keepdim=True) / 8).float() * (1 + 2**-22)  # as another order may give it
        found = case.judge(((x - mean) * (mean.abs() + 1e-5), mean), limits)
        return found.problem.partition(":")[0], bool(found.skipped)

    equal = trial_named(GENERIC, "equal elements")
    assert (seen(RANDOM), seen(equal)) == (("", False), ("", False))
    assert (seen(RANDOM, 2.0), seen(equal, 2.0)) == (("result 0", False), ("result 1", False))


def test_apply_takes_its_arguments_by_place(tmp_path: Path) -> None:
    """As torch's autograd does; what the call leaves out has its default."""
    own = problem(tmp_path, table("Double.apply", ("x",), {}))
    (x,) = own.make_inputs((8,), "fp32", "cpu", 3)
    assert torch.equal(own.reference(x), 2 * x.double())


def test_another_version_is_called_by_the_same_name(tmp_path: Path) -> None:
    """A file without it is refused."""
    own = problem(tmp_path, table("fresh", ("x",), {}))
    other = ModuleType("other")
    other.__file__ = "other.py"
    with pytest.raises(BadInput, match="no function fresh"):
        own.launcher(other)
    other.fresh = lambda x: 3 * x  # type: ignore[attr-defined] # as a file defines it
    x = torch.ones(8)
    assert torch.equal(own.launcher(other)(x), 3 * x)


class Config:
    """A configuration that fits or not."""

    pre_hook: Any = None

    def __init__(self, name: str, fits: bool = True) -> None:
        self.name, self.fits = name, fits

    def all_kwargs(self) -> dict[str, str]:
        """What it sets."""
        return {"name": self.name}


class Tuner:
    """As much of an autotuner as choosing needs."""

    arg_names = ("x",)

    def __init__(self, *configs: Config, rule: Any = None) -> None:
        self.configs, self.fn, self.best_config, self.nargs = list(configs), self, None, None
        self.early_config_prune = rule

    def run(self, x: int, name: str) -> str:
        """Launch, where the device has room."""
        from triton.runtime.errors import OutOfResources

        if not self.best_config.fits:  # type: ignore[attr-defined] # set before it is launched
            raise OutOfResources(2, 1, "shared memory")
        return f"{name}{x}"


def test_an_autotuner_takes_the_first_that_fits_and_times_none() -> None:
    """Its own rule and its hook are heeded; where nothing fits the device's word is raised."""
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.errors import OutOfResources

    hooked: list[dict[str, Any]] = []
    wide, two, three = Config("wide", fits=False), Config("two"), Config("three")
    two.pre_hook = hooked.append
    with first_fitting():
        run: Any = Autotuner.run
        assert run(Tuner(wide, two, three), 7) == "two7"
        assert hooked == [{"x": 7, "name": "two"}]
        assert run(Tuner(wide, two, three, rule=lambda configs, *_: configs[2:]), 7) == "three7"
        assert run(Tuner(wide, two, rule=lambda *_: []), 7) == "two7"
        with pytest.raises(OutOfResources):
            run(Tuner(wide), 7)
    assert Autotuner.run is not run

"""Is a kernel's result right: against a float64 reference, on fresh inputs, into poisoned memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import ModuleType
from typing import Any, ClassVar

from kopt_kb.errors import BadInput, MissingTool
from kopt_kb.kernels.blocked import reference_result, result_shape
from kopt_kb.kernels.comparison import Errors
from kopt_kb.kernels.judgement import Case
from kopt_kb.problem.shapes import Shape, format_shape
from kopt_kb.problem.tolerances import Tolerance, tolerance_of
from kopt_kb.problem.trials import RANDOM, Trial
from kopt_kb.wire import Wire, inside

__all__ = ["Check", "Verification", "output_shape", "produce", "verify"]


@dataclass(frozen=True, slots=True)
class FiniteErrors(Wire):
    """Distances as documents hold them: null where there is none, or none that is a number."""

    rel_l2_err: float | None = None
    max_abs_err: float | None = None
    max_abs_ref: float | None = None
    snr_db: float | None = None
    nonfinite: int | None = None


@dataclass(frozen=True, slots=True)
class Check(Wire):
    """One run of a kernel on one shape, seed and trial.

    Attributes:
        shape: Dimensions of the operation.
        seed: Seed of the inputs.
        inputs: Name of the trial.
        errors: Distances, or None when the run gave no comparable result.
        problem: Why the check failed; empty when it passed.
    """

    WIRE: ClassVar = ("shape=_shape", "seed", "inputs", "passed", "problem", *inside("_errors", FiniteErrors))
    shape: Shape
    seed: int
    errors: Errors | None
    problem: str
    inputs: str = RANDOM.name

    @property
    def passed(self) -> bool:
        """Whether the result is right."""
        return not self.problem

    @property
    def _shape(self) -> str:
        return format_shape(self.shape)

    @property
    def _errors(self) -> FiniteErrors:
        if self.errors is None:
            return FiniteErrors()
        found = {field.name: getattr(self.errors, field.name) for field in fields(FiniteErrors)}
        return FiniteErrors(**{name: value for name, value in found.items() if math.isfinite(value)})


@dataclass(frozen=True, slots=True)
class Verification(Wire):
    """All checks of a kernel.

    Attributes:
        op: Operation id.
        dtype: Storage type.
        tolerance: Limits that were applied.
        checks: One a shape and seed.
    """

    WIRE: ClassVar = ("op", "dtype", "passed", "tolerance", "checks")
    op: str
    dtype: str
    tolerance: Tolerance
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether there was at least one check and all passed."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    def rel_l2_err(self, shape: Shape) -> float:
        """Return the largest relative error on a shape; NaN when a run of it gave no result."""
        found = [check.errors.rel_l2_err if check.errors else math.nan for check in self.checks if check.shape == shape]
        return math.nan if not found or any(map(math.isnan, found)) else max(found)


def verify(
    kernel: ModuleType,
    shapes: Sequence[Shape],
    dtype: str,
    *,
    seeds: Sequence[int],
    device: str = "cuda",
    config: Mapping[str, object] | None = None,
    tolerance: Tolerance | None = None,
    launch: Callable[..., Any] | None = None,
    trials: Sequence[Trial] = (RANDOM,),
) -> Verification:
    """Return the checks of a kernel file on each shape with each seed and trial.

    The output is filled with NaN before each run, so that an element that is never written fails; inputs must be
    unchanged afterwards; the reference sees copies of the inputs made before the kernel ran.

    Args:
        kernel: Module with `OP`, `make_inputs`, `launch` and `reference`, as the files of `kernels/`.
        shapes: Shapes of the operation.
        dtype: Storage type.
        seeds: Seeds of the inputs; use fresh ones, at least one.
        device: Device to run on; "cpu" under Triton's interpreter.
        config: Configuration passed to `launch`.
        tolerance: Limits; those of the storage type if None.
        launch: Runs in place of the module's own.
        trials: How inputs are made.

    Raises:
        BadInput: No shape or no seed.
        MissingTool: The device is "cuda" and there is none.
    """
    if not shapes or not seeds:
        raise BadInput("nothing to verify", fix="give at least one shape and one seed", code="KB102")
    _need_device(device)
    limits = tolerance or tolerance_of(dtype)
    run = launch or kernel.launch
    checks = tuple(
        check
        for shape in shapes
        for seed in seeds
        for trial in trials
        for check in _checks(Case(kernel, shape, dtype, trial, seed, device), run, (shape, seed), config, limits)
    )
    return Verification(kernel.OP, dtype, limits, checks)


def _need_device(device: str) -> None:
    import torch

    if device.startswith("cuda") and not torch.cuda.is_available():
        raise MissingTool(
            "no GPU is visible to torch", fix="run on a GPU, or with TRITON_INTERPRET=1 and device cpu", code="KB122"
        )


def _checks(
    case: Case,
    run: Callable[..., Any],
    name: tuple[Shape, int],
    config: Mapping[str, object] | None,
    limits: Tolerance,
) -> Iterator[Check]:
    """Yield the checks of a trial's runs; one that says nothing about the operation has none."""
    for part in range(0 if case.skipped else case.trial.parts):
        if part:
            case.second()
        reference = case.reference()
        out, problem = produce(run, case.inputs, tuple(reference.shape), config)
        if problem:
            yield Check(*name, None, problem, case.trial.name)
            return
        found = case.judge(out, limits, reference)
        if not found.skipped:
            yield Check(*name, found.errors, found.problem, case.trial.name)


def produce(
    run: Callable[..., Any],
    inputs: tuple[Any, ...],
    out_shape: tuple[int, ...],
    config: Mapping[str, object] | None = None,
) -> tuple[Any, str]:
    """Return what a launcher wrote into an output filled with NaN, and what was wrong about the call.

    Args:
        run: A file's `launch`.
        inputs: Its inputs; the output has the storage type and device of the first.
        out_shape: Shape of the output.
        config: Configuration passed on.
    """
    kept = tuple(one.clone() for one in inputs)
    out = inputs[0].new_full(out_shape, math.nan)
    result = run(*inputs, config=config, out=out)
    if result is not out:
        return out, "the launcher did not return the output it was given"
    for place, (before, after) in enumerate(zip(kept, inputs, strict=True)):
        if not bool((before == after).all()):
            return out, f"the kernel changed input {place}"
    return out, ""


def output_shape(kernel: ModuleType, shape: Shape, dtype: str, seed: int, device: str) -> tuple[int, ...]:
    """Return the shape of the reference's result on a shape of the operation."""
    inputs = kernel.make_inputs(shape, dtype, device, seed)
    found = result_shape(kernel, inputs)
    return found if found is not None else tuple(reference_result(kernel, inputs).shape)

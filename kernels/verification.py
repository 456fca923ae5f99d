"""Is a kernel's result right: against a float64 reference, on fresh inputs, into poisoned memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import ModuleType
from typing import Any, ClassVar

from kopt_kb.errors import BadInput, MissingTool
from kopt_kb.problem.shapes import Shape, format_shape
from kopt_kb.problem.tolerances import Tolerance, tolerance_of
from kopt_kb.wire import Wire, inside

__all__ = ["Check", "Errors", "Verification", "compare", "judge", "output_shape", "produce", "verify"]


@dataclass(frozen=True, slots=True)
class Errors:
    """Distance of a result from its reference.

    Attributes:
        rel_l2_err: ‖out − ref‖₂ / ‖ref‖₂ over the whole tensor; infinite when the reference is zero and
            the result is not.
        max_abs_err: Largest |out − ref|.
        max_abs_ref: Largest |ref|.
        snr_db: −20·log10(rel_l2_err), in decibels; infinite for an exact result. It is printed and judges nothing.
        nonfinite: Elements of the result that are NaN or infinite where the reference is finite.
    """

    rel_l2_err: float
    max_abs_err: float
    max_abs_ref: float
    snr_db: float
    nonfinite: int

    def failure(self, tolerance: Tolerance) -> str:
        """Return why the result is beyond the tolerance, or nothing when it is within."""
        if self.nonfinite:
            return f"{self.nonfinite} elements are NaN or infinite (or were never written)"
        if not self.rel_l2_err <= tolerance.rel_l2_err:
            return f"relative error {self.rel_l2_err:.3g} is above {float(tolerance.rel_l2_err):.3g}"
        limit = float(tolerance.max_abs_err_rel) * self.max_abs_ref
        if not self.max_abs_err <= limit:
            return f"largest error of an element {self.max_abs_err:.3g} is above {limit:.3g}"
        return ""


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
    """One run of a kernel on one shape and seed.

    Attributes:
        shape: Dimensions of the operation.
        seed: Seed of the inputs.
        errors: Distances, or None when the run gave no comparable result.
        problem: Why the check failed; empty when it passed.
    """

    WIRE: ClassVar = ("shape=_shape", "seed", "passed", "problem", *inside("_errors", FiniteErrors))
    shape: Shape
    seed: int
    errors: Errors | None
    problem: str

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
        found = {field.name: getattr(self.errors, field.name) for field in fields(self.errors)}
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


def compare(out: Any, reference: Any) -> Errors:  # tensors: torch stays an optional import
    """Return how far a result is from its float64 reference of the same shape.

    Raises:
        BadInput: Shapes differ, the reference is not float64, or it has non-finite elements.
    """
    if tuple(out.shape) != tuple(reference.shape):
        raise BadInput(f"the result has shape {tuple(out.shape)}, the reference {tuple(reference.shape)}", code="KB095")
    if str(reference.dtype) != "torch.float64" or not bool(reference.isfinite().all()):
        raise BadInput("the reference is not a finite float64 tensor", code="KB075")
    wide = out.double()
    finite = wide.isfinite()
    nonfinite = int((~finite).sum())
    error = (wide - reference).where(finite, reference.new_zeros(()))
    relative = _ratio(float(error.norm()), float(reference.norm()))
    return Errors(
        rel_l2_err=math.nan if nonfinite else relative,
        max_abs_err=math.nan if nonfinite else float(error.abs().amax()),
        max_abs_ref=float(reference.abs().amax()),
        snr_db=math.nan if nonfinite else _decibels(relative),
        nonfinite=nonfinite,
    )


def _ratio(error: float, reference: float) -> float:
    if error == 0:
        return 0.0
    return error / reference if reference else math.inf


def _decibels(relative: float) -> float:
    if relative == 0:
        return math.inf
    return -math.inf if math.isinf(relative) else -20 * math.log10(relative)


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
) -> Verification:
    """Return the checks of a kernel file on each shape with each seed.

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
        _check(kernel, run, shape, dtype, seed, device, config, limits) for shape in shapes for seed in seeds
    )
    return Verification(kernel.OP, dtype, limits, checks)


def _need_device(device: str) -> None:
    import torch

    if device.startswith("cuda") and not torch.cuda.is_available():
        raise MissingTool(
            "no GPU is visible to torch", fix="run on a GPU, or with TRITON_INTERPRET=1 and device cpu", code="KB122"
        )


def _check(
    kernel: ModuleType,
    run: Callable[..., Any],
    shape: Shape,
    dtype: str,
    seed: int,
    device: str,
    config: Mapping[str, object] | None,
    limits: Tolerance,
) -> Check:
    inputs = kernel.make_inputs(shape, dtype, device, seed)
    reference = kernel.reference(*(one.clone() for one in inputs))
    out, problem = produce(run, inputs, tuple(reference.shape), config)
    if problem:
        return Check(shape, seed, None, problem)
    errors = compare(out, reference)
    return Check(shape, seed, errors, errors.failure(limits))


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


def judge(kernel: ModuleType, out: Any, shape: Shape, dtype: str, seed: int, device: str, limits: Tolerance) -> Check:
    """Return the check of an output against the reference of `kernel` on inputs made again from the seed."""
    inputs = kernel.make_inputs(shape, dtype, device, seed)
    reference = kernel.reference(*inputs)
    if out.dtype != inputs[0].dtype:
        return Check(shape, seed, None, f"the result is {out.dtype}, not {inputs[0].dtype}")
    if tuple(out.shape) != tuple(reference.shape):
        return Check(shape, seed, None, f"the result has shape {tuple(out.shape)}, not {tuple(reference.shape)}")
    errors = compare(out, reference)
    return Check(shape, seed, errors, errors.failure(limits))


def output_shape(kernel: ModuleType, shape: Shape, dtype: str, seed: int, device: str) -> tuple[int, ...]:
    """Return the shape of the reference's result on a shape of the operation."""
    return tuple(kernel.reference(*kernel.make_inputs(shape, dtype, device, seed)).shape)

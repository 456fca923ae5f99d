"""Is a result right on the inputs of a trial: inputs from a seed, the reference in pieces, distances, relations.

Whoever judges uses it: the reference process of replays and the check of a candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kopt_kb.launch.kernel.blocked import reference_result
from kopt_kb.launch.kernel.comparison import Errors, compare, magnitude_of
from kopt_kb.launch.record.inputs import Drawn, edited, edited_result, fits, trial_inputs
from kopt_kb.problem.ops import OPS, definition
from kopt_kb.problem.ops import trials as known_trials
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.tolerances import TOLERANCES, Tolerance, tolerance_of
from kopt_kb.problem.trials import GENERIC, RANDOM, Trial, trial_named

__all__ = ["EXACT", "RELATION_SHARE", "Case", "Judgement", "Result", "limits_of", "trials_of", "wrong_result"]

RELATION_SHARE = 0.5
"""Limit of two runs that have to agree, as a share of the tolerance: both round alike."""

_ORDER = float(TOLERANCES["fp32"].rel_l2_err)
"""What another order of summation in fp32 may change, whatever the tolerance."""

EXACT = Fraction(1, 1 << 14)
"""Limit where a right result is one that the storage type holds: a thousand roundings of fp32."""

_NARROW = frozenset({"bf16", "fp16"})
"""Storage types whose tolerance leaves more than that, though operations are in fp32; types of fewer bits say
themselves that operands are rounded on the way."""

_HOLDS_SHARE = 0.1
"""A relation is asked of a kernel when the reference keeps it within this share of the tolerance."""


def trials_of(op: str, names: Sequence[str] = ()) -> tuple[Trial, ...]:
    """Return the trials of an operation, `FOREIGN` for one that is not in the list; by name when names are given.

    Raises:
        BadInput: The operation has no trial of such a name.
    """
    known = known_trials(op)
    return tuple(trial_named(known, one) for one in names) if names else known


def limits_of(module: Any, dtype: str) -> Tolerance:
    """Return the limits of a right result: what a reference file states, else those of the storage type."""
    stated = getattr(module, "TOLERANCE", None)
    if stated is None:
        return tolerance_of(dtype)
    norm, element, reason = stated
    return Tolerance(Fraction(norm), Fraction(element), str(reason))


def wrong_result(out: Any, reference: Any, limits: Tolerance) -> str:
    """Return why a result, or one of several, is not its reference's; empty when it is right."""
    if not isinstance(reference, tuple):
        return compare(out, reference).failure(limits)
    if not isinstance(out, tuple | list) or len(out) != len(reference):
        given = len(out) if isinstance(out, tuple | list) else 1
        return f"{given} results, and the reference has {len(reference)}"
    found = (compare(one, wide.double()).failure(limits) for one, wide in zip(out, reference, strict=True))
    return next((f"result {number}: {wrong}" for number, wrong in enumerate(found) if wrong), "")


@dataclass(frozen=True, slots=True)
class Result:
    """A result and the float64 reference of the inputs that it is of."""

    out: Any
    reference: Any


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found of one result.

    Attributes:
        errors: Distances from the reference; None when there is nothing to compare.
        problem: Why the result is wrong; empty when it is right.
        skipped: Why the trial says nothing about this operation; empty when it does.
        relation_err: ‖out − expected‖₂ / ‖expected‖₂ against what the first run's result demands of the second's.
    """

    errors: Errors | None
    problem: str = ""
    skipped: str = ""
    relation_err: float | None = None


class Case:
    """The inputs of one trial on one shape and seed, and what its results are held against; runs are taken in turn.

    Args:
        module: With `make_inputs` and `reference`.
        shape: Of the problem.
        dtype: Storage type.
        trial: How the inputs are made.
        seed: Of everything that is random.
        device: Where.
        op: Operation; empty: the one that the module declares.
    """

    def __init__(
        self, module: Any, shape: Shape, dtype: str, trial: Trial, seed: int, device: str, op: str = ""
    ) -> None:
        self.module, self.trial, self._dtype = module, trial, dtype
        self._op = op or str(getattr(module, "OP", ""))
        self._drawn = Drawn(trial, seed, device)
        base = tuple(module.make_inputs(shape, dtype, device, seed))
        self.skipped = "" if fits(base, trial) else "it has no floating inputs"
        self.inputs = trial_inputs(base, trial, self._drawn)
        self._first: Result | None = None

    def second(self) -> None:
        """Change the inputs to those of the trial's second run."""
        self.inputs = edited(self.inputs, self.trial.then, self._drawn)

    def reference(self) -> Any:
        """Return the float64 result of the present inputs; raises `ReferenceMemoryError`."""
        return reference_result(self.module, self.inputs)

    def judge(self, out: Any, limits: Tolerance, reference: Any = None) -> Judgement:
        """Return whether a result of the present inputs is right; a first run's result is kept for the second's."""
        wide = self.reference() if reference is None else reference
        if isinstance(wide, tuple):
            return self._judged_all(out, limits, wide)
        if isinstance(out, tuple | list):
            return Judgement(None, f"{len(out)} results, and the reference has 1")
        foreign = self._op not in OPS or definition(self._op).trials is GENERIC
        if foreign and self.trial is not RANDOM and not bool(wide.isfinite().all()):
            return Judgement(None, skipped="the reference is not finite on such inputs")
        if self._is_beyond(limits, wide):
            return Judgement(None, skipped="the published reference is itself beyond the tolerance on such inputs")
        if tuple(out.shape) != tuple(wide.shape):
            return Judgement(None, f"the result has shape {tuple(out.shape)}, the reference {tuple(wide.shape)}")
        magnitude = magnitude_of(self._op, self.inputs, tuple(wide.shape))
        errors = compare(out, wide, magnitude)
        asked = self._limits(limits, out, wide, magnitude)
        problem, held, relation = errors.failure(asked), Result(out, wide), None
        if self._first is not None and not problem:
            relation, problem = self._related(self._first, held, limits)
        self._first = held if self.trial.then else None
        return Judgement(errors, problem, relation_err=relation)

    def _limits(self, limits: Tolerance, out: Any, wide: Any, magnitude: Any) -> Tolerance:
        """Return this trial's limits: where right results are exact, a tolerance that nobody widened is no budget."""
        usual = tolerance_of(self._dtype).rel_l2_err
        if not self.trial.exact or self._dtype not in _NARROW or limits.rel_l2_err > usual:
            return limits
        exact = Tolerance(min(EXACT, limits.rel_l2_err), min(EXACT, limits.max_abs_err_rel), "results are exact here")
        return limits if compare(wide.to(out.dtype), wide, magnitude).failure(exact) else exact

    def _judged_all(self, outs: Any, limits: Tolerance, wide: tuple[Any, ...]) -> Judgement:
        """Return the verdict on several results: the first that is wrong, else the one that is farthest off."""
        given = outs if isinstance(outs, tuple | list) else (outs,)
        if len(given) != len(wide):
            return Judgement(None, f"{len(given)} results, and the reference has {len(wide)}")
        found = []
        wide = tuple(one.double() for one in wide)  # indices stand beside values
        published = self._published() if self.trial is not RANDOM else None
        for number, (out, one) in enumerate(zip(given, wide, strict=True)):
            if self.trial is not RANDOM and not bool(one.isfinite().all()):
                continue
            if published is not None and compare(published[number], one).failure(limits):
                continue
            if tuple(out.shape) != tuple(one.shape):
                shapes = f"has shape {tuple(out.shape)}, the reference {tuple(one.shape)}"
                return Judgement(None, f"result {number} {shapes}")
            errors = compare(out, one)
            if wrong := errors.failure(limits):
                return Judgement(errors, f"result {number}: {wrong}")
            found.append(errors)
        if not found:
            return Judgement(
                None, skipped="the reference is not finite, or itself beyond the tolerance, on such inputs"
            )
        return Judgement(max(found, key=lambda one: one.rel_l2_err))

    def _published(self) -> tuple[Any, ...] | None:
        """Return the results of the reference as it was published; None where the problem has no other form of it."""
        run = getattr(self.module, "published", None)
        if run is None:
            return None
        found = run(*self.inputs)
        return found if isinstance(found, tuple) else (found,)

    def _is_beyond(self, limits: Tolerance, wide: Any) -> bool:
        """Return whether a trial asks for more than the published reference itself can do."""
        if self.trial is RANDOM or self._op in OPS:
            return False
        own = self._published()
        return own is not None and bool(compare(own[0], wide).failure(limits))

    def _related(self, first: Result, second: Result, limits: Tolerance) -> tuple[float | None, str]:
        limit = float(limits.rel_l2_err)
        known, asked = (self._pair(one, two) for one, two in zip(_sides(first), _sides(second), strict=True))
        if _distance(*known) > _HOLDS_SHARE * limit:
            return None, ""  # not a relation of this operation, or not on this shape
        found, most = _distance(*asked), max(RELATION_SHARE * limit, _ORDER)
        if found <= most:
            return found, ""
        what = f"results of two runs that follow from each other differ by {found:.3g}"
        return found, f"{what}, above {most:.3g}"

    def _pair(self, first: Any, second: Any) -> tuple[Any, Any]:
        """Return what a second result has to be, and what of it the relation says anything about."""
        kept = tuple(edit for edit in self.trial.result if edit.kind == "head")
        expected = edited_result(first.double(), self.trial.result, self._drawn)
        return expected, edited_result(second.double(), kept, self._drawn)


def _sides(result: Result) -> tuple[Any, Any]:
    return result.reference, result.out


def _distance(expected: Any, found: Any) -> float:
    if expected.shape != found.shape:
        return float("inf")
    usable = expected.isfinite() & found.isfinite()
    zero = expected.new_zeros(())
    error = float((expected - found).where(usable, zero).norm())
    size = float(expected.where(usable, zero).norm())
    return 0.0 if error == 0 else error / size if size else float("inf")

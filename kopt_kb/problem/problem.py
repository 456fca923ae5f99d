"""A problem: an operation on one or more shapes, its storage type, options and tolerance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire, pairs, plain, read
from kopt_kb.problem.dtypes import dtype_of
from kopt_kb.problem.ops import definition
from kopt_kb.problem.ops.definition import OptionValue
from kopt_kb.problem.own import OwnProblem
from kopt_kb.problem.shapes import Shape, check_shape, format_shape, parse_shape
from kopt_kb.problem.tolerances import Tolerance, tolerance_of
from kopt_kb.problem.work import Work, work

__all__ = ["Amounts", "Problem", "recorded_problem"]

Amounts = Mapping[str, Mapping[str, int]]
"""`forward` and `backward` → dimension (`op`, `B`) → operations or bytes of one shape."""


@dataclass(frozen=True, slots=True)
class Problem(Wire):
    """What a kernel has to compute; made by `Problem.of`, which checks everything.

    Attributes:
        op: Operation id.
        shapes: One or more shapes, without repetition, in the order given.
        dtype: Storage type.
        tolerance: Limits of the correctness check.
        options: Options that differ from the defaults are given; all are listed.
        own: What a problem outside the list of operations says about itself; `op` is its name then.
    """

    WIRE: ClassVar = ("op", "shapes=shape_names", "dtype", "options=_options", "tolerance", "own?")
    op: str
    shapes: tuple[Shape, ...]
    dtype: str
    tolerance: Tolerance
    options: tuple[tuple[str, OptionValue], ...] = ()
    own: OwnProblem | None = None

    @staticmethod
    def of(
        op: str,
        shapes: Sequence[Sequence[int] | str],
        dtype: str,
        *,
        options: Mapping[str, object] | None = None,
        tolerance: Tolerance | None = None,
        is_counted: bool = False,
    ) -> Problem:
        """Return a checked problem; every shape must have countable work, which was found before if `is_counted`.

        Raises:
            BadInput: As `work`, or no shape, or one shape twice.
        """
        found = definition(op)
        dims = tuple(
            parse_shape(shape, found.form) if isinstance(shape, str) else check_shape(shape, found.form)
            for shape in shapes
        )
        _check_shapes(dims, found.form)
        values = found.read_options(options or {})
        problem = Problem(found.id, dims, dtype_of(dtype).name, tolerance or tolerance_of(dtype), values.items)
        for shape in () if is_counted else dims:
            problem.work(shape)
        return problem

    @staticmethod
    def of_own(name: str, own: OwnProblem, dtype: str, tolerance: Tolerance) -> Problem:
        """Return a problem that is in no list; raises `BadInput` where it has no shape, or one twice."""
        shapes = tuple(one.shape for one in own.works)
        _check_shapes(shapes, own.form)
        return Problem(name, shapes, dtype_of(dtype).name, tolerance, own=own)

    def with_shapes(self, shapes: Sequence[Sequence[int] | str]) -> Problem:
        """Return the same problem on other shapes; raises `BadInput` as `of`, and where nothing is known of one."""
        if self.own is None:
            return Problem.of(self.op, shapes, self.dtype, options=dict(self.options), tolerance=self.tolerance)
        dims = tuple(self.own.shape(one if isinstance(one, str) else tuple(one)) for one in shapes)
        _check_shapes(dims, self.own.form)
        return replace(self, shapes=dims)

    def work(self, shape: Shape) -> Work:
        """Return the work on one shape: of the closed form, counted once by a process, or as the problem says."""
        if self.own is not None:
            return self.own.work(shape)
        return _counted(self.op, shape, self.dtype, self.options)

    def works(self) -> tuple[Work, ...]:
        """Return the closed-form work on each shape, in order."""
        return tuple(self.work(shape) for shape in self.shapes)

    def passes(self) -> dict[str, Amounts]:
        """Return what each pass of each shape does, by the operation's closed form.

        A problem that counts a whole step has a forward pass of its own, and the rest of its operations is the backward
        pass; of any other problem everything is the forward pass.
        """
        found: dict[str, Amounts] = {}
        options = dict(self.options)
        for shape in self.shapes:
            whole = _totals(self.work(shape))
            passes = {"forward": whole}
            if options.get("step") == "forward_backward":
                alone = Problem.of(self.op, [shape], self.dtype, options={**options, "step": "forward"})
                forward = _totals(alone.work(shape))
                passes = {"forward": forward, "backward": {name: whole[name] - forward[name] for name in whole}}
            found[format_shape(shape)] = passes
        return found

    @property
    def shape_names(self) -> tuple[str, ...]:
        """The shapes as they are written everywhere: `8192x4096`."""
        return tuple(format_shape(shape) for shape in self.shapes)

    @property
    def _options(self) -> dict[str, OptionValue]:
        return dict(self.options)

    @classmethod
    def from_wire(cls, document: Mapping[str, object]) -> Mapping[str, object]:
        """Return the fields of a document: shapes from text, options as pairs, the usual tolerance if it has none."""
        fields = {**document, "options": pairs(document.get("options", {}))}
        shapes, dtype = document.get("shapes"), document.get("dtype")
        if isinstance(shapes, list | tuple):
            fields["shapes"] = [parse_shape(one) if isinstance(one, str) else one for one in shapes]
        if "tolerance" not in document and isinstance(dtype, str):
            fields["tolerance"] = tolerance_of(dtype)
        return fields


def recorded_problem(document: Mapping[str, object]) -> Problem:
    """Return the problem of a stored document that may hold more; its work was counted when it was stored.

    Raises:
        WireError: A member is missing or of the wrong kind.
        BadInput: As `Problem.of`.
    """
    members = {name: plain(document[name]) for name in _MEMBERS if name in document}
    found = read(Problem, members, where="problem")
    if found.own is not None:
        return Problem.of_own(found.op, found.own, found.dtype, found.tolerance).with_shapes(found.shapes)
    options = dict(found.options)
    return Problem.of(found.op, found.shapes, found.dtype, options=options, tolerance=found.tolerance, is_counted=True)


def _totals(work: Work) -> dict[str, int]:
    return {
        "op": sum(one.useful.value for one in work.flops),
        "B": sum(one.compulsory.value for one in work.bytes),
    }


@lru_cache(maxsize=4096)
def _counted(op: str, shape: Shape, dtype: str, options: tuple[tuple[str, OptionValue], ...]) -> Work:
    return work(op, shape, dtype, **dict(options))


def _check_shapes(dims: Sequence[Shape], form: str) -> None:
    if not dims:
        raise BadInput("a problem needs at least one shape", fix=f"give --shape {form}", code="KB102")
    for index, one in enumerate(dims):
        if one in dims[:index]:
            raise BadInput(f"shape {format_shape(one)} is given twice", fix="give each shape once", code="KB091")


_MEMBERS = ("op", "shapes", "dtype", "options", "tolerance", "own")

"""A problem: an operation on one or more shapes, its storage type, options and tolerance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from kopt_kb.errors import BadInput
from kopt_kb.problem.dtypes import dtype_of
from kopt_kb.problem.ops import definition
from kopt_kb.problem.ops.definition import OptionValue
from kopt_kb.problem.shapes import Shape, check_shape, format_shape, parse_shape
from kopt_kb.problem.tolerances import Tolerance, tolerance_of
from kopt_kb.problem.work import Work, work
from kopt_kb.wire import Wire, pairs, plain, read

__all__ = ["Problem", "recorded_problem"]


@dataclass(frozen=True, slots=True)
class Problem(Wire):
    """What a kernel has to compute; made by `Problem.of`, which checks everything.

    Attributes:
        op: Operation id.
        shapes: One or more shapes, without repetition, in the order given.
        dtype: Storage type.
        tolerance: Limits of the correctness check.
        options: Options that differ from the defaults are given; all are listed.
    """

    WIRE: ClassVar = ("op", "shapes=shape_names", "dtype", "options=_options", "tolerance")
    op: str
    shapes: tuple[Shape, ...]
    dtype: str
    tolerance: Tolerance
    options: tuple[tuple[str, OptionValue], ...] = ()

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
            parse_shape(one, found.form) if isinstance(one, str) else check_shape(one, found.form) for one in shapes
        )
        if not dims:
            raise BadInput("a problem needs at least one shape", fix=f"give --shape {found.form}", code="KB102")
        for index, one in enumerate(dims):
            if one in dims[:index]:
                raise BadInput(f"shape {format_shape(one)} is given twice", fix="give each shape once", code="KB091")
        values = found.read_options(options or {})
        problem = Problem(found.id, dims, dtype_of(dtype).name, tolerance or tolerance_of(dtype), values.items)
        for shape in () if is_counted else dims:
            problem.work(shape)
        return problem

    def work(self, shape: Shape) -> Work:
        """Return the closed-form work on one shape; a process counts the same one once."""
        return _counted(self.op, shape, self.dtype, self.options)

    def works(self) -> tuple[Work, ...]:
        """Return the closed-form work on each shape, in order."""
        return tuple(self.work(shape) for shape in self.shapes)

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
    options = dict(found.options)
    return Problem.of(found.op, found.shapes, found.dtype, options=options, tolerance=found.tolerance, is_counted=True)


@lru_cache(maxsize=4096)
def _counted(op: str, shape: Shape, dtype: str, options: tuple[tuple[str, OptionValue], ...]) -> Work:
    return work(op, shape, dtype, **dict(options))


_MEMBERS = ("op", "shapes", "dtype", "options", "tolerance")

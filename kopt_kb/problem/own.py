"""A problem that is in no list: its reference file, its shapes, and its work as stated or as counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Sha256, Wire
from kopt_kb.problem.shapes import Shape, format_shape, parse_shape
from kopt_kb.problem.work import Work

__all__ = ["OwnProblem", "WorkOrigin"]

WorkOrigin = Literal["declared", "counted", "recorded"]
"""Work is what the problem file's formulas say, what torch's dispatcher saw the reference do, or what the IR of the
launches of the version given does."""


@dataclass(frozen=True, slots=True)
class OwnProblem(Wire):
    """What a problem outside the list of operations says about itself.

    Attributes:
        source: Form of the file it was read from.
        file: Name of that file.
        form: Names of the dimensions of a shape, `BxSxD`.
        reference: Blob of the reference file: inputs from a seed, the float64 result, how a candidate is called.
        origin: Where the work comes from.
        works: One for each shape of the problem.
        workloads: Names that the source has for the shapes, in order; empty where it has none.
        notes: What could not be derived, and what was decided instead.
        results: How many tensors the reference returns.
        entry: Function of a candidate that is called; None: one of a usual name.
        configurations: Kernel that the version given launches → what each of its own autotune configurations sets, as
            a run made them; None: nobody ran it.
    """

    WIRE: ClassVar = (
        "source", "file", "form", "reference", "origin", "works", "workloads", "notes", "results", "entry?",
        "configurations?",
    )  # fmt: skip
    source: str
    file: str
    form: str
    reference: Sha256
    origin: WorkOrigin
    works: tuple[Work, ...]
    workloads: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    results: int = 1
    entry: str | None = None
    configurations: Mapping[str, tuple[Mapping[str, bool | int | float | str], ...]] | None = None

    def work(self, shape: Shape) -> Work:
        """Return the work on one of the problem's shapes.

        Raises:
            BadInput: It is another shape; nothing is known of its work.
        """
        for one in self.works:
            if one.shape == shape:
                return one
        known = ", ".join(format_shape(one.shape) for one in self.works)
        raise BadInput(
            f"the problem has no shape {format_shape(shape)}",
            where=self.file,
            fix=f"its shapes are {known}; write another one into the file and make a workspace of it",
            code="KB102",
        )

    def shape(self, shape: Shape | str) -> Shape:
        """Return a shape in its numbers, checked to be one of the problem's; raises as `work`."""
        dims = parse_shape(shape) if isinstance(shape, str) else tuple(shape)
        self.work(dims)
        return dims

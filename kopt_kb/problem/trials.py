"""Inputs that show a wrong kernel, as each operation declares them: edits of what its `make_inputs` draws.

A result that follows from the distribution of random inputs (a row sum that is always N/4, a scale that is always 1)
is right on them without any work. A trial changes the drawn inputs so that such an answer is wrong, or changes them a
second time in a way whose effect on the result is known. Plain data: `kopt_kb.launch.record.inputs` carries it out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.shapes import Shape

__all__ = [
    "FOREIGN",
    "GENERIC",
    "LINEAR",
    "RANDOM",
    "SAFE",
    "Cut",
    "Edit",
    "EditKind",
    "Split",
    "Trial",
    "one_term",
    "trial_named",
]

EditKind = Literal[
    "powers", "shifts", "scale", "shift", "place", "equal", "tiny", "mask", "alternate", "grid", "zero",
    "permute", "mapped", "reverse_tail", "head", "shrink", "single", "signs", "lead",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of one tensor; what is random is drawn from the seed of the check.

    Kinds: `powers` multiplies by 2^e, a whole e within ±value for each index of the axis (`inverse`: by 2^-e);
    `shrink` likewise with e within -value and 0; `shifts` adds a number within ±value for each index of the axis;
    `scale` and `shift` apply the value itself; `place` puts the value at one random place of the last axis in each
    row; `equal` repeats one of a row's elements along it; `tiny` scales to the value times the type's least normal
    number (of fp32's range: to a little above it); `mask` sets a share `value` of each row to -inf, and never all
    of it; `alternate` makes signs change along the axis; `grid` rounds to eighths within ±4, so that a later
    `shift` is exact; `zero` makes about half of the axis's indices zero; `permute` reorders the axis, and `mapped`
    renames the indices in an index tensor accordingly; `reverse_tail` reverses all behind a random place of the
    axis, and `head` keeps what lies before it (of results); `single` keeps one element along the axis, at a random
    place for each other index, and makes all others zero; `signs` makes every element that is not zero the value
    with the element's sign; `lead` makes the first index of the axis positive and all others negative.

    Attributes:
        kind: What is done.
        tensor: Number of the input; ignored in edits of a result.
        axis: Counted from the end; an axis that the tensor lacks stands for all of it.
        value: How much.
        key: Edits with the same key share what was drawn, such as one permutation of two tensors.
        inverse: Whether powers are divided by.
    """

    kind: EditKind
    tensor: int = 0
    axis: int = -1
    value: float = 0.0
    key: str = ""
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """One way to make inputs, and what it is for.

    Attributes:
        name: Unique for the operation.
        why: The wrong kernel that passes without it.
        edits: Changes of what `make_inputs` draws.
        then: Changes of these inputs for a second run, whose result is known from the first; empty: there is none.
        result: What `then` does to the result; empty: nothing.
        dense: Whether its values are as many and as random as the drawn ones, so that they may be timed.
        integers: Whether it also holds for integer storage types.
        exact: Whether right results are exact where the storage type holds them: there the tolerance is no budget
            that a narrower type, a missing factor or a cut sum may spend.
    """

    name: str
    why: str
    edits: tuple[Edit, ...] = ()
    then: tuple[Edit, ...] = ()
    result: tuple[Edit, ...] = ()
    dense: bool = False
    integers: bool = False
    exact: bool = False

    @property
    def parts(self) -> int:
        """Runs of the kernel that the trial takes."""
        return 2 if self.then else 1


@dataclass(frozen=True, slots=True)
class Cut:
    """One axis along which a reference can be computed in pieces.

    Attributes:
        result: Axis of the result.
        inputs: Axis of each input that is cut with it; None: the input is given whole. An input whose extent is a
            divisor of the first one's is cut in proportion, as the key heads of grouped attention are.
        first: Keyword of `reference` that takes the piece's first index; the axis is left whole where `reference` does
            not take it. Empty: it needs none.
    """

    result: int
    inputs: tuple[int | None, ...]
    first: str = ""


@dataclass(frozen=True, slots=True)
class Split:
    """How a float64 reference is computed in pieces that fit memory.

    Attributes:
        axes: In the order in which they are cut.
        elements: (extents of the inputs) → float64 elements that the whole reference holds at once.
    """

    axes: tuple[Cut, ...]
    elements: Callable[[tuple[Shape, ...]], int]


RANDOM = Trial("random", "as drawn: every element and every path is used", dense=True, integers=True)
"""The inputs as `make_inputs` draws them."""

GENERIC: tuple[Trial, ...] = (
    RANDOM,
    Trial(
        "rows of other sizes",
        "a constant in place of what each row says",
        (Edit("shrink", axis=-2, value=5, key="rows"),),
        dense=True,
    ),
    Trial("one large element a row", "a scale or maximum that was not read", (Edit("place", value=32.0),)),
    Trial("equal elements", "an answer that needs the elements to differ", (Edit("equal"),)),
    Trial("reordered rows", "an answer by place", (Edit("permute", axis=-2),), dense=True),
)
"""Trials for an operation that declares none: the first input changes, within its range but for one element a row."""

_FIRST_INPUTS = range(8)

SAFE: tuple[Trial, ...] = (
    RANDOM,
    Trial(
        "rows of other sizes",
        "a constant in place of what each row says",
        (Edit("shrink", axis=-2, value=5, key="rows"),),
        dense=True,
    ),
    Trial(
        "reordered rows",
        "rows that are computed in another way than the rest",
        then=(Edit("permute", axis=-2, key="M"),),
        result=(Edit("permute", axis=-2, key="M"),),
        dense=True,
    ),
    Trial("reordered columns", "a row that is read in part", (Edit("permute", axis=-1),), dense=True),
    Trial("signs in turn", "an answer for one sign", (Edit("alternate"),), dense=True),
)
"""Trials of the first input under which any operation on rows stays as well conditioned as it was."""

LINEAR: tuple[Trial, ...] = (
    *SAFE,
    Trial("zeros", "an answer that does not follow the input", (Edit("scale", value=0.0),)),
    Trial(
        "twice as large",
        "a result that is not linear in the first input",
        then=(Edit("scale", value=-2.0),),
        result=(Edit("scale", value=-2.0),),
        dense=True,
    ),
)
"""Trials of an operation that is linear in its first input."""

FOREIGN: tuple[Trial, ...] = (
    *GENERIC,
    Trial("zeros", "an answer that does not follow the first input", (Edit("scale", value=0.0),)),
    Trial(
        "all eight times as large",
        "an exponential or a square that leaves its type, an answer cut off",
        tuple(Edit("scale", number, value=8.0) for number in _FIRST_INPUTS),
        dense=True,
    ),
    Trial(
        "all a thousandth as large",
        "small numbers taken for zero",
        tuple(Edit("scale", number, value=2.0**-10) for number in _FIRST_INPUTS),
        dense=True,
    ),
    Trial(
        "reordered columns",
        "an input that is not read, or read at another's place",
        tuple(Edit("permute", number, -1) for number in _FIRST_INPUTS),
        dense=True,
    ),
    Trial("signs in turn", "an answer for one sign", (Edit("alternate", 0),)),
)
"""Trials for a problem that is in no list. Where its published reference is itself beyond the tolerance, or not finite,
they say nothing."""


def one_term(kept: int, axis: int, what: str) -> Trial:
    """Return the trial of a product in which each sum has one term: an element of the other operand, times ±1.

    Args:
        kept: Number of the operand that keeps one element along the axis.
        axis: The axis that is summed over.
        what: The other operand, for people.
    """
    edits = (Edit("single", kept, axis), Edit("signs", kept, value=1.0))
    return Trial(
        f"one term a sum, {what}", f"{what} in a narrower type, a result that is rounded twice", edits, exact=True
    )


def trial_named(trials: tuple[Trial, ...], name: str) -> Trial:
    """Return a trial by its name; raises `BadInput` that lists the names."""
    for one in trials:
        if one.name == name:
            return one
    known = ", ".join(one.name for one in trials)
    raise BadInput(f"no inputs are called {name!r}", fix=f"known: {known}", code="KB102")

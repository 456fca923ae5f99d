"""What an operation file declares: dimensions, options, closed form, and the words that define each count."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.problem.counts import Counts
from kopt_kb.problem.dtypes import DType, dtype_of
from kopt_kb.problem.shapes import Shape
from kopt_kb.problem.trials import GENERIC, Split, Trial

__all__ = ["OpDefinition", "Option", "OptionError", "OptionValue", "OptionValues"]

OptionValue = int | bool | str | tuple[int, ...]


_WHOLE = re.compile(r"-?[0-9]{1,19}")


class OptionError(BadInput):
    """An option that the operation does not have, or a value that it can't take."""

    code = "KB065"


@dataclass(frozen=True, slots=True)
class Option:
    """One option of an operation.

    Attributes:
        name: As written in `work(...)` and on the command line.
        kind: "int" (at least `minimum`), "bool", "choice" (one of `choices`), "dtype" or "ints" (a list).
        default: Value when the option is not given.
        meaning: One clause for the help text.
        choices: Allowed words of a choice.
        minimum: Smallest integer.
        quiet: Whether it is listed only where it is not the default: an option that came later than recorded problems.
        counts: Whether it says by which unit or rounding work is counted, and not what is computed.
    """

    name: str
    kind: Literal["int", "bool", "choice", "dtype", "ints"]
    default: OptionValue
    meaning: str
    choices: tuple[str, ...] = ()
    minimum: int = 1
    quiet: bool = False
    counts: bool = False

    def read(self, value: object) -> OptionValue:
        """Return the value in its type, from Python or from command-line text; raises `OptionError`."""
        readers: dict[str, Callable[[object], OptionValue]] = {
            "int": self._int,
            "bool": self._bool,
            "choice": self._choice,
            "dtype": self._dtype,
            "ints": self._ints,
        }
        return readers[self.kind](value)

    def _refuse(self, value: object, expected: str) -> OptionError:
        return OptionError(f"option {self.name} is {value!r}", fix=f"give {expected}")

    def _int(self, value: object) -> int:
        text = str(value)
        if isinstance(value, bool) or not _WHOLE.fullmatch(text) or int(text) < self.minimum:
            raise self._refuse(text[:40], f"a whole number of at least {self.minimum}")
        return int(text)

    def _bool(self, value: object) -> bool:
        if isinstance(value, bool):
            return value
        known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        if not isinstance(value, str) or value.lower() not in known:
            raise self._refuse(value, "true or false")
        return known[value.lower()]

    def _choice(self, value: object) -> str:
        if value not in self.choices:
            raise self._refuse(value, " or ".join(self.choices))
        return str(value)

    def _dtype(self, value: object) -> str:
        return str(value) if value == "storage" else dtype_of(str(value)).name

    def _ints(self, value: object) -> tuple[int, ...]:
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list | tuple):
            raise self._refuse(value, "whole numbers with commas between them")
        return tuple(self._int(part) for part in parts)


@dataclass(frozen=True, slots=True)
class OptionValues:
    """Options of one problem in declared order, defaults filled in; a quiet option is there when it is no default."""

    items: tuple[tuple[str, OptionValue], ...]

    def __getitem__(self, name: str) -> OptionValue:
        return dict(self.items)[name]

    def integer(self, name: str) -> int:
        """Return an integer option."""
        value = self[name]
        if not isinstance(value, int):
            raise OptionError(f"option {name} is {value!r}", fix="give a whole number")
        return value

    def flag(self, name: str) -> bool:
        """Return a boolean option."""
        return bool(self[name])

    def text(self, name: str) -> str:
        """Return a word."""
        return str(self[name])

    def integers(self, name: str) -> tuple[int, ...]:
        """Return a list option."""
        value = self[name]
        if not isinstance(value, tuple):
            raise OptionError(f"option {name} is {value!r}", fix="give whole numbers with commas between them")
        return value


@dataclass(frozen=True, slots=True)
class OpDefinition:
    """One operation and its closed form.

    Attributes:
        id: Operation id.
        form: Names of the dimensions, `MxN`; `Nx...` means any rank of at least one.
        dimensions: What each of them counts, in order.
        summary: What is computed, as a formula.
        flops: What counts as a FLOP here, as text.
        bytes: Which bytes are compulsory, as text.
        count: (dims, storage dtype, options) to counts.
        options: What else the counts depend on.
        special: Which special functions are counted, as text; empty when none.
        kinds: Storage kinds the operation accepts.
        trials: Inputs that a kernel of it is checked with; of tensors in the order in which the packaged file takes
            them.
        split: How its float64 reference is computed in pieces; None: only as a whole.
        result: Storage type of its result; empty: that of the inputs.
    """

    id: str
    form: str
    dimensions: tuple[str, ...]
    summary: str
    flops: str
    bytes: str
    count: Callable[[Shape, DType, OptionValues], Counts]
    options: tuple[Option, ...] = ()
    special: str = ""
    kinds: tuple[str, ...] = ("float",)
    trials: tuple[Trial, ...] = GENERIC
    split: Split | None = None
    result: str = ""

    def read_options(self, given: Mapping[str, object]) -> OptionValues:
        """Return all options with defaults; raises `OptionError` for a name the operation does not have."""
        known = {option.name: option for option in self.options}
        for name in given:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
                hint = f"did you mean {' or '.join(near)}?" if near else f"options: {', '.join(known) or 'none'}"
                raise OptionError(f"{self.id} has no option {name!r}", fix=hint)
        values = {name: option.read(given[name]) if name in given else option.default for name, option in known.items()}
        kept = {name for name, option in known.items() if not option.quiet or values[name] != option.default}
        return OptionValues(tuple((name, value) for name, value in values.items() if name in kept))

    def definitions(self) -> dict[str, str]:
        """Return the texts that say what is counted, by count."""
        texts = {"operation": self.summary, "flops": self.flops, "bytes": self.bytes}
        return texts | ({"special": self.special} if self.special else {})

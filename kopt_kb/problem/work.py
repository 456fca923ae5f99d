"""Work of an operation: what has to be computed and moved, from shapes alone and as exact integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire, pairs
from kopt_kb.problem.counts import ByteCount, Count, Exactness, FlopCount, Level, SpecialCount, TrafficDirection
from kopt_kb.problem.dtypes import Engine, dtype_of
from kopt_kb.problem.ops import definition
from kopt_kb.problem.ops.definition import OpDefinition, OptionValue
from kopt_kb.problem.shapes import Shape, check_shape, parse_shape
from kopt_kb.quantity.readable import si

__all__ = ["Work", "work"]


@dataclass(frozen=True, slots=True)
class Work(Wire):
    """Counts of one operation on one shape.

    Attributes:
        op: Operation id; "given" for counts from the user, "sum" for several together.
        shape: Dimensions; empty when the counts were given.
        dtype: Storage type of the operands.
        options: Options of the operation, defaults included.
        flops: By (dtype, engine).
        special: By special function; never part of the FLOPs.
        bytes: By level and direction.
        definitions: What each count means, as (count, text).
    """

    WIRE: ClassVar = (
        "op", "shape", "dtype", "options=_options", "flops", "special", "bytes", "definitions=_definitions",
    )  # fmt: skip
    op: str
    shape: Shape
    dtype: str
    flops: tuple[FlopCount, ...]
    bytes: tuple[ByteCount, ...]
    special: tuple[SpecialCount, ...] = ()
    options: tuple[tuple[str, OptionValue], ...] = ()
    definitions: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        name = " ".join(filter(None, (self.op, "x".join(map(str, self.shape)), self.dtype)))
        amounts = [f"{si(one.useful.value, 'FLOP')} {one.dtype} {one.engine}" for one in self.flops]
        levels = dict.fromkeys(one.level for one in self.bytes)
        amounts += [f"{si(self.compulsory(level).value, 'B')} {level}" for level in levels]
        return f"Work({name}: {', '.join(amounts)})"

    @staticmethod
    def given(flops: int, bytes: int, dtype: str, engine: str, exactness: Exactness = "exact") -> Work:  # noqa: A002
        """Return work whose counts the user states: FLOPs of one type on one engine, and DRAM bytes in all.

        Raises:
            BadInput: An unknown dtype or engine (there is no default engine), or a negative count.
        """
        if engine not in ("matrix", "vector"):
            raise BadInput(f"engine is {engine!r}", fix="give matrix or vector", code="KB106")
        side: Engine = "matrix" if engine == "matrix" else "vector"
        name = dtype_of(dtype).name
        return Work(
            op="given",
            shape=(),
            dtype=name,
            flops=(FlopCount(name, side, Count(flops, exactness)),),
            bytes=(ByteCount("dram", "both", Count(bytes, exactness)),),
            definitions=(
                ("flops", "as given by the user"),
                ("bytes", "DRAM bytes in all, as given by the user"),
            ),
        )

    @staticmethod
    def total(parts: Sequence[Work]) -> Work:
        """Return the sum of several pieces of work run one after the other, nothing shared between them."""
        if not parts:
            raise BadInput("the sum of no work is undefined", fix="give at least one piece of work", code="KB093")
        dtypes = {part.dtype for part in parts}
        return Work(
            op=parts[0].op if len(parts) == 1 else "sum",
            shape=parts[0].shape if len(parts) == 1 else (),
            dtype=dtypes.pop() if len(dtypes) == 1 else "mixed",
            flops=_sum_flops(flop for part in parts for flop in part.flops),
            bytes=_sum_bytes(moved for part in parts for moved in part.bytes),
            special=_sum_special(one for part in parts for one in part.special),
            definitions=tuple(dict.fromkeys(text for part in parts for text in part.definitions)),
        )

    def flops_of(self, dtype: str, engine: str) -> Count:
        """Return the useful FLOPs of one type on one engine; zero when there are none."""
        found = [one.useful for one in self.flops if (one.dtype, one.engine) == (dtype, engine)]
        return sum(found, Count(0))

    def moved_at_least(self, cache: Fraction | None, *, cold: bool = True) -> Fraction:
        """Return the bytes that device memory moves in any case: caches may keep what was written.

        Args:
            cache: Bytes that caches hold; None: nobody knows, and they may hold all.
            cold: Whether caches were flushed before, so that everything that is read comes from memory.
        """
        if self.compulsory("dram").exactness == "upper":
            return Fraction(0)
        total = Fraction(self.amount_under("dram"))
        if not cold:
            return Fraction(0) if cache is None else max(total - cache, Fraction(0))
        dram = [one for one in self.bytes if one.level == "dram"]
        written = sum(one.compulsory.value for one in dram if one.direction != "read")
        return total - written + (Fraction(0) if cache is None else max(written - cache, Fraction(0)))

    def flops_by_engine(self) -> dict[tuple[str, Engine], int]:
        """Return useful FLOPs by (dtype, engine), as exact integers."""
        return {(one.dtype, one.engine): self.flops_of(one.dtype, one.engine).value for one in self.flops}

    def special_functions(self) -> dict[str, int]:
        """Return evaluations by special function."""
        return {one.function: one.count.value for one in self.special}

    def compulsory(self, level: Level = "dram", direction: TrafficDirection | None = None) -> Count:
        """Return compulsory bytes at a level, in one direction or in all.

        Raises:
            BadInput: The work has no count for that level: it is not zero but not known.
        """
        found = [one for one in self.bytes if one.level == level and direction in (None, one.direction)]
        if not found:
            known = ", ".join(f"{one.level} {one.direction}" for one in self.bytes) or "none"
            raise BadInput(
                f"no byte count for {level} {direction or ''}".rstrip(), fix=f"counted: {known}", code="KB094"
            )
        return sum((one.compulsory for one in found), Count(0))

    def compulsory_bytes(self, level: Level = "dram", direction: TrafficDirection | None = None) -> int:
        """Return `compulsory(...)` as an exact integer."""
        return self.compulsory(level, direction).value

    def exactness(self) -> Exactness | Literal["mixed"]:
        """Return "exact" when every useful and compulsory count is, the bound they share, or "mixed"."""
        counts = (*(one.useful for one in self.flops), *(one.compulsory for one in self.bytes))
        bounds = {count.exactness for count in counts} - {"exact"}
        if len(bounds) > 1:
            return "mixed"
        return bounds.pop() if bounds else "exact"

    def amount_under(self, roof: str) -> int:
        """Return what counts under a roof: the operations of `bf16 matrix`, the compulsory bytes of `dram`.

        Every rate, share, target and least time under a roof is this number over a time. It is zero where the work
        has nothing under the roof.
        """
        dtype, _, engine = roof.partition(" ")
        if engine:
            return self.flops_of(dtype, engine).value
        return sum(moved.compulsory.value for moved in self.bytes if moved.level == roof)

    @property
    def _options(self) -> dict[str, OptionValue]:
        return dict(self.options)

    @property
    def _definitions(self) -> dict[str, str]:
        return dict(self.definitions)

    @classmethod
    def from_wire(cls, document: Mapping[str, object]) -> Mapping[str, object]:
        """Return the fields of a document: options and definitions are pairs here."""
        return {**document, **{name: pairs(document.get(name)) for name in ("options", "definitions")}}


def work(op: str, shape: Sequence[int] | str, dtype: str, **options: object) -> Work:
    """Return the useful FLOPs and compulsory bytes of an operation, from its closed form.

    Args:
        op: Operation id or alias.
        shape: Dimensions in the order of the operation's form, or text such as "8192x4096".
        dtype: Storage type of the operands; the definition says what the engines compute in.
        options: Options of the operation; values may be command-line text.

    Raises:
        BadInput: Unknown operation, dtype or option, or a shape that does not fit, with the expected form.
    """
    found = definition(op)
    dims = parse_shape(shape, found.form) if isinstance(shape, str) else check_shape(shape, found.form)
    storage = dtype_of(dtype)
    if storage.kind not in found.kinds:
        raise BadInput(f"{found.id} is not defined for {storage.name}", fix="give a floating-point dtype", code="KB069")
    values = found.read_options(options)
    counts = found.count(dims, storage, values)
    return Work(
        op=found.id,
        shape=dims,
        dtype=storage.name,
        flops=counts.flops,
        bytes=counts.bytes,
        special=counts.special,
        options=values.items,
        definitions=_texts(found),
    )


def _texts(found: OpDefinition) -> tuple[tuple[str, str], ...]:
    return tuple(found.definitions().items())


def _sum_flops(parts: Iterable[FlopCount]) -> tuple[FlopCount, ...]:
    sums: dict[tuple[str, Engine], Count] = {}
    for one in parts:
        key = (one.dtype, one.engine)
        sums[key] = sums.get(key, Count(0)) + one.useful
    return tuple(FlopCount(dtype, engine, count) for (dtype, engine), count in sums.items())


def _sum_bytes(parts: Iterable[ByteCount]) -> tuple[ByteCount, ...]:
    sums: dict[tuple[Level, TrafficDirection], Count] = {}
    for one in parts:
        key = (one.level, one.direction)
        sums[key] = sums.get(key, Count(0)) + one.compulsory
    return tuple(ByteCount(level, direction, count) for (level, direction), count in sums.items())


def _sum_special(parts: Iterable[SpecialCount]) -> tuple[SpecialCount, ...]:
    sums: dict[tuple[str, str], Count] = {}
    for one in parts:
        key = (one.function, one.dtype)
        sums[key] = sums.get(key, Count(0)) + one.count
    return tuple(SpecialCount(function, dtype, count) for (function, dtype), count in sums.items())

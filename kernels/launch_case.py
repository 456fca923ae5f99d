"""One launch of one kernel, described without a GPU, torch or triton: what to compile and count."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, cast

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.problem.dtypes import FORMATS, Format, format_of

__all__ = ["LaunchCase", "Scalar", "TensorSpec"]

Scalar = int | float | bool | None
"""A run-time scalar argument of a kernel; None for an optional pointer that is not passed."""


class _TensorLike(Protocol):
    @property
    def shape(self) -> Sequence[int]: ...
    @property
    def dtype(self) -> object: ...
    def stride(self) -> Sequence[int]: ...


@dataclass(frozen=True, slots=True)
class TensorSpec(Wire):
    """A tensor argument by its layout alone.

    Attributes:
        shape: Extents in elements.
        dtype: Any spelling of `problem.dtypes.FORMATS`, `torch.` prefix allowed.
        strides: Steps in elements, one a dimension; None means contiguous, last dimension fastest.
        block_shape: Set when the argument is a host tensor descriptor (TMA) with this block.
        values: Its elements in order, where they steer the work: lengths, offsets, expert ids; of a contiguous
            tensor of integers.
        place: Number of the buffer that it shares with other arguments of the launch, and its first byte there; None:
            memory of its own, as far as is known.
    """

    WIRE: ClassVar = ("shape", "dtype", "strides", "block_shape", "values", "place?")
    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None = None
    block_shape: tuple[int, ...] | None = None
    values: tuple[int, ...] | None = None
    place: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        """Check dtype, ranks and values; raises `BadInput`."""
        if format_of(str(self.dtype)) is None:
            known = ", ".join(dict.fromkeys(one.dtype for one in FORMATS))
            raise BadInput(
                f"unknown dtype {self.dtype!r}",
                where="TensorSpec",
                fix=f"one of {known}, or torch's name",
                code="KB061",
            )
        for name in ("strides", "block_shape"):
            value = getattr(self, name)
            if value is not None and len(value) != len(self.shape):
                raise BadInput(
                    f"{name} {value} and shape {self.shape} differ in rank", where="TensorSpec", code="KB081"
                )

        if self.values is not None:
            self._check_values(self.values)

    def _check_values(self, values: tuple[int, ...]) -> None:
        if self.strides is not None or self.triton_dtype[0] not in "iu":
            what = f"values are for contiguous tensors of integers, this one is {self.dtype}"
            raise BadInput(what, where="TensorSpec", fix="such as int32[3]=0,128,256", code="KB081")
        if len(values) != math.prod(self.shape):
            what = f"{len(values)} values for a tensor of {math.prod(self.shape)} elements"
            raise BadInput(what, where="TensorSpec", fix="give one value for each element, in order", code="KB081")

    @property
    def _format(self) -> Format:
        return cast("Format", format_of(str(self.dtype)))  # checked when it was made

    @property
    def triton_dtype(self) -> str:
        """Triton's type string of one element, such as `fp16` or `i32`."""
        return self._format.triton

    @property
    def element_bytes(self) -> int:
        """Bytes of one element."""
        return self._format.bits // 8

    @property
    def element_strides(self) -> tuple[int, ...]:
        """Strides in elements, worked out for a contiguous tensor."""
        if self.strides is not None:
            return self.strides
        return tuple(math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))

    @property
    def span_bytes(self) -> int:
        """Bytes from the first to behind the last element, 0 for an empty tensor."""
        if 0 in self.shape:
            return 0
        steps = zip(self.shape, self.element_strides, strict=True)
        last = sum((extent - 1) * abs(stride) for extent, stride in steps)
        return (last + 1) * self.element_bytes

    @classmethod
    def of(cls, tensor: _TensorLike) -> TensorSpec:
        """Return the spec of anything with `shape`, `dtype` and `stride()`, such as a torch tensor."""
        return cls(tuple(tensor.shape), str(tensor.dtype), tuple(tensor.stride()))


@dataclass(frozen=True)
class LaunchCase:
    """One launch: the kernel, its grid, and what stands in each parameter.

    Attributes:
        kernel: The `@triton.jit` function (an autotuned one is unwrapped by the compiler).
        grid: Blocks along x, y, z; one to three numbers.
        args: Values of the parameters that are not constexpr, in the kernel's order.
        constexprs: Values of the constexpr parameters, by name.
        num_warps: Warps of a block.
        num_stages: Software pipeline depth.
        num_ctas: Blocks of a cluster.
        options: Further backend options by name, such as `maxnreg` or `waves_per_eu`.
    """

    kernel: Any
    grid: tuple[int, ...]
    args: tuple[TensorSpec | Scalar, ...]
    constexprs: Mapping[str, object] = field(default_factory=dict)
    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def blocks(self) -> int:
        """Blocks of the whole grid."""
        return math.prod(self.grid)

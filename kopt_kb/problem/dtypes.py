"""Storage data types of operands: widths, block scales, every spelling, and the type an engine computes in."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.errors import BadInput

__all__ = [
    "ALIASES",
    "DTYPES",
    "FORMATS",
    "MX_ELEMENTS",
    "DType",
    "Engine",
    "Format",
    "dtype_of",
    "format_of",
    "matrix_compute",
    "vector_compute",
]

Engine = Literal["matrix", "vector"]


@dataclass(frozen=True, slots=True)
class DType:
    """One storage type.

    Attributes:
        name: Id used in the wiki, in counts and in JSON.
        bits: Width of one element, without block scales.
        kind: "float" or "int".
        block: Elements that share one scale along the contraction axis; 1 means no scales.
        scale_bits: Width of one such scale (OCP Microscaling Formats 1.0: 8-bit scale per 32 elements;
            nvfp4: 8-bit scale per 16 elements, PTX ISA `scale_vec`).
    """

    name: str
    bits: int
    kind: Literal["float", "int"]
    block: int = 1
    scale_bits: int = 0

    def storage_bytes(self, elements: int) -> int:
        """Return the bytes of that many packed elements with their scales, rounded up to whole bytes."""
        data = -(-elements * self.bits // 8)
        if self.block == 1:
            return data
        blocks = -(-elements // self.block)
        return data + -(-blocks * self.scale_bits // 8)


DTYPES: dict[str, DType] = {
    one.name: one
    for one in (
        DType("fp64", 64, "float"),
        DType("fp32", 32, "float"),
        DType("tf32", 32, "float"),
        DType("fp16", 16, "float"),
        DType("bf16", 16, "float"),
        DType("fp8", 8, "float"),
        DType("fp6", 6, "float"),
        DType("fp4", 4, "float"),
        DType("mxfp8", 8, "float", block=32, scale_bits=8),
        DType("mxfp6", 6, "float", block=32, scale_bits=8),
        DType("mxfp4", 4, "float", block=32, scale_bits=8),
        DType("nvfp4", 4, "float", block=16, scale_bits=8),
        DType("int32", 32, "int"),
        DType("int8", 8, "int"),
        DType("int4", 4, "int"),
    )
}


@dataclass(frozen=True, slots=True)
class Format:
    """One storage format of a tensor, in every spelling that reports, compilers and frameworks use for it.

    Attributes:
        dtype: Id of the wiki where it has one, else this project's name; four 8-bit formats are all `fp8`.
        torch: Name without `torch.`; empty where torch has none.
        triton: Triton's and its launcher's type string, without the pointer's `*`; of what Triton has no pointers to
            (complex numbers, MX scales, two 4-bit elements a byte) this project's, for views in records.
        ir: Scalar of Triton IR, which knows no sign of integers.
        bits: Width of one element in memory; a bool takes a byte.
    """

    dtype: str
    torch: str
    triton: str
    ir: str
    bits: int


FORMATS = (
    Format("fp64", "float64", "fp64", "f64", 64),
    Format("fp32", "float32", "fp32", "f32", 32),
    Format("fp16", "float16", "fp16", "f16", 16),
    Format("bf16", "bfloat16", "bf16", "bf16", 16),
    Format("fp8", "float8_e4m3fn", "fp8e4nv", "f8E4M3FN", 8),
    Format("fp8", "float8_e5m2", "fp8e5", "f8E5M2", 8),
    Format("fp8", "float8_e4m3fnuz", "fp8e4b8", "f8E4M3FNUZ", 8),
    Format("fp8", "float8_e5m2fnuz", "fp8e5b16", "f8E5M2FNUZ", 8),
    Format("int64", "int64", "i64", "i64", 64),
    Format("int32", "int32", "i32", "i32", 32),
    Format("int16", "int16", "i16", "i16", 16),
    Format("int8", "int8", "i8", "i8", 8),
    Format("uint8", "uint8", "u8", "i8", 8),
    Format("bool", "bool", "i1", "i1", 8),
    Format("uint16", "uint16", "u16", "i16", 16),
    Format("uint32", "uint32", "u32", "i32", 32),
    Format("uint64", "uint64", "u64", "i64", 64),
    Format("e8m0", "float8_e8m0fnu", "fp8e8m0", "f8E8M0FNU", 8),
    Format("fp4x2", "float4_e2m1fn_x2", "fp4x2", "fp4x2", 8),
    Format("complex64", "complex64", "complex64", "complex64", 64),
    Format("complex128", "complex128", "complex128", "complex128", 128),
)
"""The first format of a dtype is the one its name alone means: `fp8` is e4m3fn."""

_IN_WORDS = {"double": "fp64", "float": "fp32", "half": "fp16", "e4m3": "fp8", "e5m2": "fp8"}

ALIASES: dict[str, str] = {
    **_IN_WORDS,
    **{
        spelling.lower(): one.dtype
        for one in reversed(FORMATS)
        for spelling in (one.torch, one.triton, one.ir)
        if one.dtype in DTYPES and spelling.lower() not in DTYPES
    },
}
"""Every other spelling of a data type to its id."""

MX_ELEMENTS = {"e4m3": "mxfp8", "e5m2": "mxfp8", "e2m1": "mxfp4", "e2m3": "mxfp6", "e3m2": "mxfp6"}
"""Element formats of OCP Microscaling Formats 1.0, table 1, as Triton spells them, to the scaled dtype."""

_BY_SPELLING = {
    **{spelling.lower(): one for one in reversed(FORMATS) for spelling in (one.ir, one.triton, one.torch, one.dtype)},
    "tf32": FORMATS[1],
    **{
        spelling: one
        for one in FORMATS
        for spelling in (one.torch.removeprefix("float8_"), "fp8" + one.torch.removeprefix("float8_"))
        if one.dtype in {"fp8", "e8m0"}
    },
    "e4m3": FORMATS[4],
    "fp8e4m3": FORMATS[4],
}


def format_of(name: str) -> Format | None:
    """Return the storage format of any spelling, `torch.` allowed; None for a name that has none."""
    return _BY_SPELLING.get(name.strip().lower().removeprefix("torch."))


def dtype_of(name: str) -> DType:
    """Return the data type of that name, alias or torch name; raises `BadInput` with near names."""
    wanted = name.strip().lower().removeprefix("torch.")
    found = DTYPES.get(ALIASES.get(wanted, wanted))
    if found is None:
        near = difflib.get_close_matches(wanted, [*DTYPES, *ALIASES], n=3, cutoff=0.6)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(DTYPES)}"
        raise BadInput(f"unknown dtype {name!r}", fix=hint, code="KB061")
    return found


def vector_compute(storage: DType) -> str:
    """Return the type the vector engine computes in: fp64 stays, integers use int32, the rest fp32."""
    if storage.kind == "int":
        return "int32"
    return "fp64" if storage.name == "fp64" else "fp32"


def matrix_compute(storage: DType, mode: str, engine: str) -> tuple[str, Engine]:
    """Return (dtype, engine) of a contraction over operands of that storage type.

    Args:
        storage: Type of both operands.
        mode: "storage", or "tf32" to let fp32 operands be rounded for the matrix engine.
        engine: "matrix", "vector", or "auto": plain fp32 and int32 on the vector engine, all else on the
            matrix engine.
    """
    if mode == "tf32":
        if storage.name not in ("fp32", "tf32"):
            raise BadInput(f"compute tf32 needs fp32 operands, not {storage.name}", code="KB062")
        storage = DTYPES["tf32"]
    if engine == "auto":
        return storage.name, "vector" if storage.name in ("fp32", "int32") else "matrix"
    if engine == "vector":
        name = storage.name if storage.name in ("fp64", "fp32", "fp16", "bf16", "int32") else vector_compute(storage)
        return name, "vector"
    return storage.name, "matrix"

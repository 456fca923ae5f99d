"""Causes of failures of tile kernels: words of an error → where it comes from → what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kopt_kb.base.wire import Wire

__all__ = ["CAUSES", "TileCause", "causes_of"]

_SEEN = "seen with cuda-tile 1.7.0 and tileiras 13.4.92"
_TABLE = "TileGym 75a14307, cutile-patterns-reference.md, Quick Debug Reference"


@dataclass(frozen=True, slots=True)
class TileCause(Wire):
    """A row: words that an error has (a regular expression), its cause, what to do, where the row comes from."""

    words: str
    cause: str
    fix: str
    source: str


CAUSES = (
    TileCause(
        r"Dimension #\d+ of shape .* is not a power of two", "an extent of a tile is no power of two", "pad it", _SEEN
    ),
    TileCause(
        r"Expected shape length to be \d+, got \d+",
        "index and shape have another rank than the array",
        "give as many extents as the array has axes, and reshape what is loaded",
        _SEEN,
    ),
    TileCause(
        r"No such attribute '(?:to|cast|view)'", "a method of torch on a tile", "write ct.astype or ct.reshape", _SEEN
    ),
    TileCause(
        r"potentially undefined variable",
        "a name that only a branch defines",
        "give it a value before the branch",
        _SEEN,
    ),
    TileCause(r"given value is not constant", "a shape that is read at run time", "pass it as ct.Constant[int]", _SEEN),
    TileCause(
        r"Unexpected constant value type <class '(?:NoneType|str)'>",
        "None or a text is passed to a kernel",
        "pass a tensor of one element and a flag, or a number for each case",
        _SEEN,
    ),
    TileCause(
        r"Cannot create constant from value of type cuda\.tile\._execution\.kernel",
        "a kernel calls a kernel",
        "take @ct.kernel off the helper",
        _SEEN,
    ),
    TileCause(r"missing a required argument: 'acc'", "ct.mma without an accumulator", "give ct.zeros of fp32", _SEEN),
    TileCause(r"Latency must be between", "a latency hint outside 1 to 10", "give 1 to 10", _SEEN),
    TileCause(
        r"Stored tile is incompatible with array's dtype",
        "a tile of another type than the array it is stored to",
        "ct.astype(tile, array.dtype) before the store",
        _SEEN,
    ),
    TileCause(
        r"has no attribute '(?:sigmoid|softmax|silu|gelu|clamp)'",
        "a function that cuTile does not have",
        "write it with ct.exp, ct.maximum and operators",
        _SEEN,
    ),
    TileCause(
        r"requires tileiras 13\.\d+ or later",
        "an option of a newer compiler",
        "install that tileiras, or leave it out",
        _SEEN,
    ),
    TileCause(
        r"Cannot find option named 'sm_",
        "tileiras has no such target",
        "kb cutile check names its targets; sm_75 and older have none",
        _SEEN,
    ),
    TileCause(
        r"padding_value nan can only be used with floating point",
        "NaN as padding of integers",
        "take another padding mode",
        _SEEN,
    ),
    TileCause(
        r"shared memory|exceeds .*smem|too much shared data",
        "tiles need more shared memory than a block may use",
        "smaller tiles, a larger occupancy hint, or num_ctas=2 from sm_90 on",
        _SEEN,
    ),
    TileCause(
        r"exceeded timeout",
        "tileiras took longer than its limit",
        "smaller tiles, or a larger limit in CUDA_TILE_COMPILER_TIMEOUT_SEC",
        _SEEN,
    ),
    TileCause(
        r"too many positional arguments",
        "arange, or another function, takes fewer arguments by place",
        "name them: ct.arange(n, start=a, dtype=...)",
        _SEEN,
    ),
    TileCause(
        r"'tileiras' compiler not found|tileiras is not installed",
        "no assembler of Tile IR",
        "install kopt-kb[cutile]",
        _SEEN,
    ),
    TileCause(
        r"mismatched versions",
        "tileiras, nvcc and nvvm of different releases",
        "install them of one release: cuda-tile[tileiras]",
        "cuda-tile 1.7.0, cuda/tile/_compile.py",
    ),
    TileCause(r"libcuda\.so", "no driver: ct.launch needs one, kb record does not", "kb record, kb compile", _SEEN),
    TileCause(
        r"CUDA_ERROR_INVALID_IMAGE|no kernel image",
        "the code object is for another target or a newer driver",
        "driver 580 or newer; compile for the device's target",
        "cuTile README",
    ),
    TileCause(
        r"CUDA_ERROR_ILLEGAL_ADDRESS|illegal memory access",
        "check_bounds=False or a gather beyond the array",
        "take check_bounds=False out, mask the gather",
        _TABLE,
    ),
    TileCause(
        r"mismatch|not close|Tensor-likes are not close|AssertionError",
        "a wrong result: flush_to_zero or rounding_mode=APPROX, a tile beyond the array, "
        "allow_tma=False, a persistent loop's bound, or no float32 accumulator",
        "undo the last change; mask tiles beyond an extent; accumulate in float32; cast to tfloat32 only on purpose",
        "seed of the loop, step 3, and " + _TABLE,
    ),
    TileCause(
        r"\bnan\b",
        "a division by zero or log(0), or a tile beyond the array without padding",
        "guard it; padding_mode=ct.PaddingMode.ZERO",
        _TABLE,
    ),
    TileCause(r"No module named '?cutile", "the module is called cuda.tile", "import cuda.tile as ct", _TABLE),
    TileCause(
        r"load_pointer_tko|load_ptr_tko",
        "ct.gather makes a load for each element",
        "take the index with .item(), and ct.load",
        _TABLE,
    ),
)
"""Most particular first."""


def causes_of(text: str) -> Iterator[tuple[TileCause, str]]:
    """Yield the rows whose words a text has, with the line that has them."""
    for one in CAUSES:
        match = re.search(one.words, text, re.IGNORECASE)
        if match:
            begin = text.rfind("\n", 0, match.start()) + 1
            end = text.find("\n", match.end())
            yield one, text[begin : end if end >= 0 else len(text)].strip()[:200]

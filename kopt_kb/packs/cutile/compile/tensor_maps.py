"""The tensor maps behind a tile kernel's parameters, as a record describes them.

tileiras writes x86 code that fills the maps from the kernel's arguments (`__CUDA_TILEIR_FUNC_ON_ARGUMENTS_CHANGE_0`);
a driver runs it before a launch. Here a maker runs it, on arguments whose addresses are made up, and reads the 128
bytes of each map: address, extents, strides, box, element type and swizzle. The judge encodes a map of its own from
these. The places of the bits are those that cuTensorMapEncodeTiled writes on an H100 (driver 580.159.04; element types,
swizzles, promotions, fills and ranks were varied), but for two that tileiras 13.4 sets besides; a map that sets any
other is refused.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
from dataclasses import dataclass

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.launch.cuda.cubin import sections, symbols
from kopt_kb.packs.cutile.compile.plain import TENSOR_MAP_BYTES, Plain, host_code

__all__ = ["Map", "maps_of", "read_map"]

_FILLS = "ON_ARGUMENTS_CHANGE"
_RELOCATION = struct.Struct("<QQq")
_ROOM = 256
"""Bytes behind the block of parameters that the code may touch while it aligns."""

_ELEMENTS = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 10, 9: 8, 10: 9}
"""Number of an element type in a map → CUtensorMapDataType."""

_ROUNDED = {7: 11, 10: 12}
"""CUtensorMapDataType of fp32 → that of the same bits rounded to tf32, which a bit of its own says."""

_ITEM_BYTES = {0: 1, 1: 2, 2: 4, 3: 4, 4: 8, 5: 8, 6: 2, 7: 4, 8: 8, 9: 2, 10: 4, 11: 4, 12: 4}
_OWN_BITS = 0x20_0002
"""Two bits that tileiras sets and cuTensorMapEncodeTiled does not."""

_TF32, _NAN, _PROMOTION = 1 << 16, 1 << 15, 3 << 17
_LAYOUT = 0x67F0
"""Swizzle, element type and rank."""

_STRIDE_UNIT, _MOST_RANK = 16, 5


@dataclass(frozen=True, slots=True)
class Map:
    """A tensor map.

    Attributes:
        address: Of the first element.
        shape: Extents in elements, outermost first.
        steps: Strides in bytes, outermost first; the innermost is one element.
        box: Elements of a copy, outermost first.
        element_type: CUtensorMapDataType.
        swizzle: CUtensorMapSwizzle.
        nan_fill: Whether elements beyond the array read as NaN.
    """

    address: int
    shape: tuple[int, ...]
    steps: tuple[int, ...]
    box: tuple[int, ...]
    element_type: int
    swizzle: int
    nan_fill: bool = False


def maps_of(code: bytes, plain: Plain, values: list[bytes], where: str) -> list[Map]:
    """Return the tensor maps of a launch.

    Args:
        code: The code object as tileiras wrote it.
        plain: What was made of it.
        values: The bytes of each declared argument, addresses made up.
        where: What errors name.

    Raises:
        BadInput: The code is not of the known form, or fills a map in a way that is not known.
        MissingTool: This machine does not run x86-64.
    """
    entry = plain.entry
    offsets = entry.offsets[plain.declared :]
    if not offsets:
        return []
    block = bytearray(entry.offsets[-1] + entry.parameters[-1])
    for offset, value in zip(entry.offsets, values, strict=False):
        block[offset : offset + len(value)] = value
    filled = _filled(host_code(code), bytes(block), where)
    return [read_map(filled[offset : offset + TENSOR_MAP_BYTES], where) for offset in offsets]


def _filled(host: bytes, block: bytes, where: str) -> bytes:
    """Return the block of parameters after the code for the host has run on it."""
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        fix = "make the record on x86-64"
        raise MissingTool(
            f"tensor maps are filled by x86-64 code, this is {platform.machine()}", where=where, fix=fix, code="KB121"
        )
    named = [one for one in symbols(host) if _FILLS in one.name]
    if len(named) != 1:
        raise BadInput(f"{len(named)} functions for the host fill arguments", where=where, code="KB083")
    entry, text = named[0], sections(host)[named[0].section]
    for section in sections(host):
        if section.name == f".rela{text.name}":
            places = (at for at, _, _ in _RELOCATION.iter_unpack(host[section.offset : section.offset + section.size]))
            if any(entry.value <= at < entry.value + entry.size for at in places):
                raise BadInput(
                    "the code that fills tensor maps asks for more than arguments", where=where, code="KB083"
                )
    with mmap.mmap(-1, text.size + mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as memory:
        memory[: text.size] = host[text.offset : text.offset + text.size]
        held = ctypes.c_char.from_buffer(memory)
        buffer = ctypes.create_string_buffer(block + bytes(_ROOM))
        call = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(ctypes.addressof(held) + entry.value)
        status = call(None, None, None, ctypes.addressof(buffer))
        del held
    if status:
        raise BadInput(f"no tensor map suits the arguments: status {status}", where=where, code="KB083")
    return buffer.raw[: len(block)]


def read_map(raw: bytes, where: str = "tensor map") -> Map:
    """Return what the 128 bytes of a tensor map say.

    Raises:
        BadInput: It is no tiled map of the known form.
    """
    address, second, *words = struct.unpack("<16Q", raw)
    rank = (second >> 4 & 7) + 1
    element = _ELEMENTS.get(second >> 7 & 0xF)
    if second & _TF32 and element is not None:
        element = _ROUNDED.get(element)
    flags = second & 0xFFFF_FFFF & ~(_OWN_BITS | _TF32 | _NAN | _PROMOTION | _LAYOUT)
    apart = words[4] >> 32 & 0xFF_FFFF  # steps between elements of a box: 0 where they are next to each other
    if flags or apart or any(words[6:]) or words[1] >> 32 or words[5] >> 32 or element is None or rank > _MOST_RANK:
        fix = "this version of tileiras uses tensor maps in a way that is not known here"
        raise BadInput(f"a tensor map of unknown form: {raw[:64].hex()}", where=where, fix=fix, code="KB083")
    steps = [second >> 32, words[0] & 0xFFFF_FFFF, words[0] >> 32, words[1] & 0xFFFF_FFFF]
    extents = [*(words[at] >> shift & 0xFFFF_FFFF for at in (2, 3) for shift in (0, 32)), words[4] & 0xFFFF_FFFF]
    boxes = [words[4] >> 56, *(words[5] >> 8 * at & 0xFF for at in range(4))]
    return Map(
        address=address,
        shape=tuple(one + 1 for one in reversed(extents[:rank])),
        steps=(*(one * _STRIDE_UNIT for one in reversed(steps[: rank - 1])), _ITEM_BYTES[element]),
        box=tuple(one + 1 for one in reversed(boxes[:rank])),
        element_type=element,
        swizzle=second >> 13 & 3,
        nan_fill=bool(second & _NAN),
    )

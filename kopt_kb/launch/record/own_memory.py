"""Memory that a loaded code object has of its own, `__device__` and `__constant__` variables: found, to be put back.

What a kernel leaves there outlives its launch. A judge puts it back before each launch; what it can't find it refuses,
since a kernel would have a place to count launches in, or to keep answers. Constants that no name leads to are left
alone: a kernel needs their address to write there, and tables of a compiler's library may be among them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.launch.cuda.cubin import OwnMemory, read_cubin
from kopt_kb.launch.record.code_object import is_code_object, read_code_object

__all__ = ["MOST_OWN_BYTES", "OwnPlace", "own_places"]

MOST_OWN_BYTES = 64 << 20
"""More memory of its own is refused: it is written before every launch."""

_GAP_BYTES = 256
"""Bytes between two variables that their alignment explains."""


@dataclass(frozen=True, slots=True)
class OwnPlace:
    """Where such memory lies on the device, and what it held when it was loaded."""

    address: int
    image: bytes


def own_places(
    code: bytes, find: Callable[[str], tuple[int, int]], *, last: bool = True
) -> tuple[tuple[int, int], ...]:
    """Return address and size of all memory that a loaded code object has of its own.

    Args:
        code: The code object.
        find: Address and size of a variable by its name in the file, as the driver says them.
        last: Whether nothing else is tried: constants that can't be found are left out then.

    Raises:
        BadInput: It is no code object, has too much, or has some that no variable's name leads to; or it calls
            functions of the device's runtime, whose memory is not its own.
    """
    said = read_code_object(code) if is_code_object(code) else read_cubin(code, "code object")
    if said.imports:
        raise _refusal(f"calls of {', '.join(said.imports)}, which the device's runtime answers")
    memory = said.memory
    total = sum(len(one.image) for one in memory)
    if total > MOST_OWN_BYTES:
        raise _refusal(f"{total} bytes of its own, more than {MOST_OWN_BYTES}")
    return tuple(place for one in memory for place in _found(one, find, leave=last and one.constant))


def _found(memory: OwnMemory, find: Callable[[str], tuple[int, int]], *, leave: bool) -> list[tuple[int, int]]:
    try:
        return _places(memory, find)
    except KoptError:
        if not leave:
            raise
    places = []
    for name, (_, size) in memory.symbols.items():
        with suppress(KoptError):
            address, held = find(name)
            places += [(address, size)] if held == size else []
    return places


def _places(memory: OwnMemory, find: Callable[[str], tuple[int, int]]) -> list[tuple[int, int]]:
    found, at = [], 0
    for name, (offset, size) in sorted(memory.symbols.items(), key=lambda item: item[1]):
        address, held = find(name)
        if offset - at >= _GAP_BYTES or held != size or offset + size > len(memory.image):
            raise _refusal(f"bytes in {memory.section} that no variable's name leads to")
        found.append((address - offset, address, size))
        at = max(at, offset + size)
    if len(memory.image) - at >= _GAP_BYTES or not found:
        raise _refusal(f"bytes in {memory.section} that no variable's name leads to")
    if len({base for base, _, _ in found}) == 1:
        return [(found[0][0], len(memory.image))]  # one piece: what lies between variables too
    return [(address, size) for _, address, size in found]


def _refusal(what: str) -> BadInput:
    fix = "keep results and counters in tensors of the launch, zeroed where they have to be"
    return BadInput(f"the code object has {what}", where="replay", fix=fix, code="KB455")

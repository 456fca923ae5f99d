"""Which settings of a Triton file are worth trying, each with where it comes from: nothing is compiled or timed here.

The file's own configurations come first. Their winner's neighbours follow, by what each value means: powers of two
beside a block, bounded by the extents of the problem; half and twice the warps; one stage less and more; other sizes of
a group of programs. Registers a thread are limited last, as a trade of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from kopt_kb.analysis.ir.source.settings import CONFIG, config_text
from kopt_kb.analysis.ir.source.tunables import OPTIONS, Role, Setting, TunableKernel, tunables_of

__all__ = ["SettingValues", "neighbours", "own_configurations", "register_limits"]

_WARPS, _STAGES = 4, 3
"""What Triton takes where nobody says."""
_LEAST_BLOCK, _LEAST_PRODUCT = 2, 16
"""Least extents that are proposed: of any tile, and of one that is multiplied."""
_MOST_WARPS, _MOST_STAGES, _MOST_BLOCK = 32, 8, 1 << 16
_GROUPS = (1, 2, 4, 8, 16)
_REGISTERS = (None, 64, 96, 128, 168, 224)
_FEW = 2
"""Knobs up to which values two steps away are tried too."""


@dataclass(frozen=True, slots=True)
class SettingValues:
    """What one setting may be.

    Attributes:
        name: `kernel.NAME`.
        values: In order; None leaves what the file says.
        origin: Where they come from, with the line.
    """

    name: str
    values: tuple[bool | int | float | str | None, ...]
    origin: str


def own_configurations(
    source: bytes, computed: Mapping[str, Sequence[Setting]] | None = None
) -> tuple[SettingValues, ...]:
    """Return the configurations that autotuned kernels of a file choose from, where there are several.

    Args:
        source: The file.
        computed: Kernel that a run launched → its configurations as the run found them; empty: nobody ran it.
    """
    found = []
    for kernel in _launched(source, computed):
        own = kernel.own if kernel.own is not None else tuple((computed or {}).get(kernel.name, ()))
        texts = tuple(dict.fromkeys(map(config_text, own)))
        if kernel.configs is not None and len(texts) > 1:
            origin = f"{len(texts)} configurations of its own @autotune, line {kernel.configs.line}"
            found.append(SettingValues(f"{kernel.name}.{CONFIG}", texts, origin))
    return tuple(found)


def neighbours(
    source: bytes, extents: Sequence[int], computed: Mapping[str, Sequence[Setting]] | None = None
) -> tuple[SettingValues, ...]:
    """Return the values beside those that a file has; of several configurations beside the first.

    Args:
        source: The file.
        extents: Of the problem, whose elements no block need exceed by more than the next power of two.
        computed: Kernel that a run launched → its configurations as the run found them; empty: nobody ran it.
    """
    most = min(_MOST_BLOCK, 1 << (prod(extents) - 1).bit_length())
    found = []
    for kernel in _launched(source, computed):
        held = [one for one in _held(kernel, computed or {}) if one.role != "registers"]
        far = 2 if len(held) <= _FEW else 1
        for one in held:
            values = tuple(_beside(one, far, most, _least(kernel)))
            # What only a run knows has to be written whole.
            if len(values) > 1 or kernel.own is None:
                found.append(SettingValues(f"{kernel.name}.{one.name}", values, one.origin))
    return tuple(found) if any(len(one.values) > 1 for one in found) else ()


def register_limits(
    source: bytes, computed: Mapping[str, Sequence[Setting]] | None = None
) -> tuple[SettingValues, ...]:
    """Return limits of registers a thread, with the warps beside, for kernels of one configuration that set none."""
    found = []
    for kernel in _launched(source, computed):
        if kernel.configs is not None and len(kernel.own or ()) != 1:
            continue
        held = {one.name: one for one in _held(kernel, {})}
        if "maxnreg" in held and held["maxnreg"].value is None:
            found.append(
                SettingValues(f"{kernel.name}.maxnreg", _REGISTERS, "registers a thread may have, fewer than chosen")
            )
            if "num_warps" in held:
                warps = held["num_warps"]
                found.append(SettingValues(f"{kernel.name}.num_warps", tuple(_beside(warps, 1, 0, 0)), warps.origin))
    return tuple(found)


def _launched(source: bytes, computed: Mapping[str, Sequence[Setting]] | None) -> list[TunableKernel]:
    """Return the kernels whose values matter: those that a run launched, all of the file where nobody ran it."""
    return [one for one in tunables_of(source).values() if not computed or one.name in computed]


@dataclass(frozen=True, slots=True)
class _Held:
    """A value that a kernel has: what it means, and where it stands in words."""

    name: str
    role: Role
    value: bool | int | float | str | None
    origin: str


def _held(kernel: TunableKernel, computed: Mapping[str, Sequence[Setting]]) -> Iterator[_Held]:
    """Yield all that a kernel has one value of, and of several configurations what the first says."""
    own = kernel.own if kernel.own is not None else tuple(computed.get(kernel.name, ()))
    if kernel.configs is not None and not own:
        return
    first: Setting = own[0] if own and kernel.configs is not None else {}
    line = kernel.configs.line if kernel.configs is not None else kernel.line
    for name, value in first.items():
        role, why = (OPTIONS[name], "an option") if name in OPTIONS else kernel.roles.get(name, ("choice", "no role"))
        yield _Held(name, role, value, f"beside {name}={value}, line {line} ({why})")
    for one in kernel.knobs:
        if one.name in first or (one.role == "stages" and not kernel.loops):
            continue
        unsaid = "the compiler's default" if one.place == "keyword" else f"what line {one.span.line} computes"
        said = unsaid if one.value is None else f"{one.name}={one.value}, line {one.span.line}"
        yield _Held(one.name, one.role, one.value, f"beside {said} ({one.why})")


def _least(kernel: TunableKernel) -> int:
    return _LEAST_PRODUCT if kernel.multiplies else _LEAST_BLOCK


def _beside(held: _Held, far: int, most: int, least: int) -> list[bool | int | float | str | None]:
    """Return values beside one, itself among them."""
    value = held.value
    if isinstance(value, bool | float | str):
        return [value]
    if held.role == "warps":
        return [one for one in _powers(value or _WARPS, far) if one <= _MOST_WARPS]
    if held.role == "stages":
        start = value or _STAGES
        return [one for one in range(start - far, start + far + 1) if 1 <= one <= _MOST_STAGES]
    if held.role == "group" and value is not None:
        return [*dict.fromkeys((*_GROUPS, value))]
    if held.role == "block" and value is not None and value > 0 and value & (value - 1) == 0:
        return [one for one in _powers(value, far) if one == value or least <= one <= max(most, least)]
    return [value]


def _powers(value: int, far: int) -> list[int]:
    """Return a power of two and those so many steps beside it."""
    return [one for step in range(-far, far + 1) if (one := value << step if step >= 0 else value >> -step) >= 1]

"""Waves and tiles: how much of the device a grid of blocks can use, never more than all of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire

__all__ = ["Quantisation", "quantise"]


@dataclass(frozen=True, slots=True)
class Quantisation(Wire):
    """The losses of a grid on a device.

    Attributes:
        waves: Blocks over the blocks that are resident at a time.
        wave_efficiency: Share of block slots that are filled over all whole waves, 0 to 1.
        tile_efficiency: Useful over executed operations, 0 to 1.
    """

    WIRE: ClassVar = (
        "blocks", "resident_blocks", "waves=_waves", "wave_efficiency=_wave_efficiency",
        "tile_efficiency=_tile_efficiency", "efficiency=_efficiency",
    )  # fmt: skip
    blocks: int
    resident_blocks: int
    waves: Fraction
    wave_efficiency: Fraction
    tile_efficiency: Fraction

    @property
    def efficiency(self) -> Fraction:
        """Largest share of the roof that this grid can reach: both losses together."""
        return self.wave_efficiency * self.tile_efficiency

    @property
    def _waves(self) -> float:
        return float(self.waves)

    @property
    def _wave_efficiency(self) -> float:
        return float(self.wave_efficiency)

    @property
    def _tile_efficiency(self) -> float:
        return float(self.tile_efficiency)

    @property
    def _efficiency(self) -> float:
        return float(self.efficiency)


def quantise(blocks: int, sm_count: int, blocks_per_sm: int, *, useful: int = 1, executed: int = 1) -> Quantisation:
    """Return the losses of a grid.

    All blocks take the same time, so W whole waves take W times one block: the last, partly filled wave costs as
    much as a full one. A persistent grid has one wave by construction.

    Args:
        blocks: Blocks of the grid.
        sm_count: SMs or CUs of the device.
        blocks_per_sm: Blocks resident on one, from an occupancy calculation.
        useful: Operations the definition asks for.
        executed: Operations the blocks run, padding included.

    Raises:
        BadInput: A count is not positive, or more is useful than executed.
    """
    if min(blocks, sm_count, blocks_per_sm, useful, executed) < 1:
        raise BadInput("blocks, SMs, resident blocks and operations must be at least 1", code="KB045")
    if useful > executed:
        raise BadInput(
            f"{useful} useful operations of {executed} executed", fix="executed includes the useful ones", code="KB045"
        )
    resident = sm_count * blocks_per_sm
    whole = -(-blocks // resident)
    return Quantisation(
        blocks, resident, Fraction(blocks, resident), Fraction(blocks, whole * resident), Fraction(useful, executed)
    )

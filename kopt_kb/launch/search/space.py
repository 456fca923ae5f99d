"""A tuning space: which places it has, what lies next to one, and the numbers by which a model compares them.

A place is a row of indices into the values of each knob. Those that a constraint forbids are no places: nobody asks for
them, so they count for nobody.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

__all__ = ["Configuration", "Floats", "Ints", "Space"]

Configuration = Mapping[str, object]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_MOST = 1 << 18
"""Places that are held; of a larger space a seeded sample."""
_SAMPLE = 1 << 16


@dataclass(frozen=True)
class Space:
    """Places of a tuning space.

    Attributes:
        knobs: Name → values, in the order of a place's columns.
        places: Indices of values, one row a place (places x knobs).
    """

    knobs: Mapping[str, tuple[object, ...]]
    places: Ints = field(repr=False)

    @classmethod
    def of(
        cls,
        knobs: Mapping[str, Sequence[object]],
        allowed: Callable[[Configuration], bool] | None = None,
        seed: int = 0,
    ) -> Space:
        """Return the space of all values of the knobs that a constraint allows.

        Args:
            knobs: Values of each knob.
            allowed: The constraint; None: every combination.
            seed: Of the sample that stands for a space of more than 262,144 combinations.
        """
        listed = {name: tuple(values) for name, values in knobs.items()}
        sizes = [len(values) for values in listed.values()]
        if math.prod(sizes) <= _MOST:
            rows: list[tuple[int, ...]] = list(itertools.product(*map(range, sizes)))
        else:
            drawn = np.random.default_rng(seed).integers(0, sizes, size=(_SAMPLE, len(sizes)))
            rows = sorted({tuple(map(int, row)) for row in drawn})
        if allowed is not None:
            rows = [row for row in rows if allowed(_config(listed, row))]
        return cls(listed, np.array(rows, dtype=np.int64).reshape(len(rows), len(listed)))

    def __len__(self) -> int:
        """Return how many places there are."""
        return len(self.places)

    @cached_property
    def _index(self) -> dict[tuple[int, ...], int]:
        return {tuple(row): at for at, row in enumerate(self.places.tolist())}

    def config(self, at: int) -> dict[str, object]:
        """Return the configuration of a place."""
        return _config(self.knobs, self.places[at].tolist())

    def at(self, row: Sequence[int]) -> int | None:
        """Return the place of indices of values; None where a constraint forbids it."""
        return self._index.get(tuple(row))

    def find(self, config: Configuration) -> int | None:
        """Return the place of a configuration; None when it is not of the space."""
        try:
            return self.at([values.index(config[name]) for name, values in self.knobs.items()])
        except (KeyError, ValueError):
            return None

    def neighbours(self, at: int) -> list[int]:
        """Return the places that differ in the value of one knob."""
        row = self.places[at].tolist()
        near = (
            self.at([*row[:column], other, *row[column + 1 :]])
            for column, values in enumerate(self.knobs.values())
            for other in range(len(values))
            if other != row[column]
        )
        return [one for one in near if one is not None]

    @cached_property
    def features(self) -> Floats:
        """Coordinates of each place in 0 to 1: numbers by their rank, other values one column each."""
        columns: list[Floats] = []
        for column, values in enumerate(self.knobs.values()):
            at = self.places[:, column]
            if not len(self) or (at == at[0]).all():
                continue
            if all(isinstance(one, int | float) for one in values):
                ranks = np.unique(np.array(values, dtype=np.float64), return_inverse=True)[1]
                columns.append((ranks / max(1, ranks.max()))[at])
            else:
                columns.extend((at == one).astype(np.float64) for one in range(len(values)))
        return np.stack(columns, axis=1) if columns else np.zeros((len(self), 1))


def _config(knobs: Mapping[str, tuple[object, ...]], row: Sequence[int]) -> dict[str, object]:
    return {name: values[at] for at, (name, values) in zip(row, knobs.items(), strict=True)}

"""A search without numpy, for the core installation: configurations by chance, then neighbours of the best so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

__all__ = ["plain_search"]

_FIRST = 8
"""Configurations drawn before neighbours of the best are asked for."""

_Given = tuple[dict[str, object], Callable[[float], None]]


def plain_search(
    knobs: Mapping[str, Sequence[object]], most: int, seed: int, first: Sequence[Mapping[str, object]] = ()
) -> Iterator[_Given]:
    """Yield configurations, each once, and where to tell the time of each; infinite for one that does not work.

    Args:
        knobs: Values of each knob.
        most: Configurations at most.
        seed: Of what is drawn.
        first: Configurations to begin with; one that is not of the space is left out.
    """
    random, seen = Random(seed), set[tuple[int, ...]]()  # noqa: S311 - a search, no secret
    told: list[tuple[float, tuple[int, ...]]] = []
    sizes = [len(values) for values in knobs.values()]

    def asked(place: tuple[int, ...]) -> _Given:
        seen.add(place)
        config = {name: values[at] for at, (name, values) in zip(place, knobs.items(), strict=True)}
        return config, lambda time_s: told.append((time_s, place))

    def drawn() -> tuple[int, ...] | None:
        tries = (tuple(random.randrange(size) for size in sizes) for _ in range(64))
        return next((place for place in tries if place not in seen), None)

    def near() -> tuple[int, ...] | None:
        for time_s, place in sorted(told):
            beside = [
                (*place[:column], other, *place[column + 1 :])
                for column, size in enumerate(sizes)
                for other in range(size)
            ]
            fresh = [one for one in beside if one not in seen]
            if fresh and math.isfinite(time_s):
                return random.choice(fresh)
        return None

    for config in first:
        place = _place(knobs, config)
        if place is not None and place not in seen and len(seen) < most:
            yield asked(place)
    while len(seen) < min(most, math.prod(sizes)):
        place = (drawn() if len(seen) < _FIRST else near() or drawn()) or _any(sizes, seen)
        yield asked(place)


def _place(knobs: Mapping[str, Sequence[object]], config: Mapping[str, object]) -> tuple[int, ...] | None:
    try:
        return tuple(list(values).index(config[name]) for name, values in knobs.items())
    except (KeyError, ValueError):
        return None


def _any(sizes: Sequence[int], seen: set[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the first place that nobody was given; there is one."""
    place = [0] * len(sizes)
    while tuple(place) in seen:
        for column in reversed(range(len(sizes))):
            place[column] = (place[column] + 1) % sizes[column]
            if place[column]:
                break
    return tuple(place)

"""Stop Conditions of work without a workspace: those that `kb init` would write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kopt_kb.analysis.roofline.reach import floor_of
from kopt_kb.analysis.roofline.recorded import read_rooflines
from kopt_kb.analysis.roofline.roofline import Roofline, roofline
from kopt_kb.analysis.roofline.shortest import shortest_time
from kopt_kb.analysis.roofline.targets import TARGET_FACTOR, Aim
from kopt_kb.base.errors import BadInput
from kopt_kb.problem.shapes import format_shape
from kopt_kb.problem.work import Work
from kopt_kb.quantity.quantity import Unknown
from kopt_kb.wiki.registry import Platform, Product, platform_of
from kopt_kb.workspace.registration import conditions_of
from kopt_kb.workspace.targets.conditions import StopConditions, condition_of

__all__ = ["stop_conditions"]


def stop_conditions(work: Work | Sequence[Work], product: Product, *, aim: Aim = TARGET_FACTOR) -> StopConditions:
    """Return what a kernel has to reach on a product: a condition for each piece of work.

    A piece of work is named by its shape, where that is not enough by its operation before it. `judge({name: seconds})`
    says which are met.

    Args:
        work: One piece or several.
        product: The exact product, or its name.
        aim: Share of the roofs to ask for, or a performance target.

    Raises:
        BadInput: No work, or two pieces that are the same in name; else as `roofline`.
    """
    platform = platform_of(product)
    works = (work,) if isinstance(work, Work) else tuple(work)
    names = _names(works)
    found = [roofline(one, platform, aim=aim) for one in works]
    shortest = shortest_time(platform)
    targets, short = conditions_of(names, found, shortest)
    recorded = dict(zip(names, read_rooflines([one.to_json() for one in found]), strict=True))
    floors = {name: _floor_s(one, platform) for name, one in zip(names, found, strict=True)}
    kept = [one for one in targets if one.shape is not None]
    missing = [(name, one.unknown()) for name, one in zip(names, found, strict=True)]
    left_out = [(name, f"its target is shorter than {shortest.what}") for name in short]
    left_out += [(name, _why(value)) for name, value in missing if value is not None]
    return StopConditions(tuple(condition_of(one, recorded[one.shape or ""], floors) for one in kept), tuple(left_out))


def _names(works: Sequence[Work]) -> list[str]:
    shapes = [format_shape(one.shape) for one in works]
    names = [
        shape if shape and shapes.count(shape) == 1 else f"{one.op} {shape}".strip()
        for one, shape in zip(works, shapes, strict=True)
    ]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice or not names:
        what = f"two pieces of work are both {twice[0]}" if twice else "no work was given"
        raise BadInput(what, where="stop_conditions", fix="give each piece once", code="KB093")
    return names


def _floor_s(found: Roofline, platform: Platform) -> float:
    floor = floor_of(found, platform)
    return 0.0 if floor is None else floor.seconds


def _why(value: Unknown) -> str:
    return f"{', '.join(value.needs)} is UNKNOWN: {value.reason}"

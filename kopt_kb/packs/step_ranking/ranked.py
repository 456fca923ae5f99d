"""Operators of a step with work, roof and what could be won, ranked by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from kopt_kb.analysis.roofline.floor import compute_floor
from kopt_kb.analysis.roofline.reach import reach
from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.base.errors import KoptError
from kopt_kb.packs.step_ranking.advice import change_for
from kopt_kb.packs.step_ranking.chosen import Chosen
from kopt_kb.packs.step_ranking.collectives import link_time
from kopt_kb.packs.step_ranking.families import category_of_op, is_known, judged
from kopt_kb.packs.step_ranking.joined import Joined
from kopt_kb.packs.step_ranking.kernel_names import CATEGORIES, KernelCategory, category_of, told_by_name
from kopt_kb.packs.step_ranking.operands import Shaped, moved
from kopt_kb.packs.step_ranking.recorded import DeviceEvent, OpCall, Recorded
from kopt_kb.packs.step_ranking.report import CategoryShare, OperatorTime
from kopt_kb.problem.work import Work
from kopt_kb.wiki.registry import Platform

__all__ = ["categories_of", "operator_times"]

_NS_PER_S = 1e9
_NONE = -1
_WHOLE = ("products", "attention")
_NOWHERE = OpCall("")
_STATED = ("documented", "vendor_measured")


@dataclass(slots=True)
class _Instance:
    """Kernels that one call of an operator launched, and whether an operator inside it is counted too."""

    op: int
    time: int = 0
    kernels: list[str] = field(default_factory=list)
    is_outer: bool = False


@dataclass(slots=True)
class _Form:
    """All instances of one form."""

    shaped: Shaped
    category: KernelCategory
    work: Work | None
    why: str = ""
    count: int = 0
    time: int = 0


def operator_times(
    recorded: Recorded, joined: Joined, chosen: Chosen, platform: Platform | None
) -> tuple[OperatorTime, ...]:
    """Return the operators of a step, those with most to win first, then those without a roof by time."""
    calls = list(recorded.calls)
    forms: dict[tuple[object, ...], _Form] = {}
    instances: dict[int, _Instance] = {}
    known = _Known(calls)
    for at in chosen.events:
        event = recorded.events[at]
        owner = _owner(event, joined.ops[at], joined, known) if event.category == "kernel" else _NONE
        if owner == _NONE:
            _add_alone(event, _unowned(joined, at, calls), forms)
            continue
        one = instances.setdefault(owner, _Instance(owner))
        one.time += event.end - event.start
        one.kernels.append(event.name)
    _mark_outer(instances, joined, calls)
    for one in instances.values():
        number, kernels = joined.calls[one.op], tuple(dict.fromkeys(one.kernels))
        key = (number, kernels, one.is_outer)
        if key not in forms:
            shaped = Shaped(calls[number], kernels)
            category, work = judged(shaped)
            why = "its shapes do not say its work" if shaped.call.dims else "its shapes are not recorded"
            if category == "communication":
                why = "no sourced link for its group, or its size is not recorded"
            if one.is_outer:
                work, why = None, "counted with the operator inside it"
            forms[key] = _Form(shaped, category, work, why)
        forms[key].count += 1
        forms[key].time += one.time
    whole = sum(one.time for one in forms.values()) or 1
    times = [_judged_time(one, whole, platform) for one in forms.values()]
    return tuple(sorted(times, key=lambda one: (one.won_s is None, -(one.won_s or 0.0), -one.total_s)))


@dataclass(slots=True)
class _Known:
    """Whether a form of call counts a kernel by its own shapes, remembered."""

    calls: list[OpCall]
    found: dict[tuple[int, str], bool] = field(default_factory=dict)

    def of(self, number: int, kernel: str) -> bool:
        """Return it for the form of that number."""
        key = (number, kernel)
        if key not in self.found:
            self.found[key] = is_known(Shaped(self.calls[number], (kernel,)))
        return self.found[key]


def _owner(event: DeviceEvent, op: int, joined: Joined, known: _Known) -> int:
    """Return the innermost operator around a launch whose shapes count its kernel, -1 where none does."""
    while op != _NONE and not known.of(joined.calls[op], event.name):
        op = joined.parents[op]
    return op


def _unowned(joined: Joined, at: int, calls: list[OpCall]) -> str:
    """Return why no operator counts a kernel."""
    launch, op = joined.launches[at], joined.ops[at]
    if launch is not None and "GraphLaunch" in launch.name:
        return "launched by a graph"
    if op != _NONE:
        return f"no rule for {calls[joined.calls[op]].name}"
    return "its launch is not in the trace" if launch is None else "no operator around its launch"


def _add_alone(event: DeviceEvent, why: str, forms: dict[tuple[object, ...], _Form]) -> None:
    """Add a copy, a fill, or a kernel that no operator counts, by its own name."""
    work: Work | None = None
    category: KernelCategory = "copies"
    key: tuple[object, ...] = (event.name, event.category)
    if event.category == "kernel":
        category, key = category_of(event.name), (event.name, why)
    elif event.moved:
        key = (*key, event.moved)
        is_inside = "DtoD" in event.name or "Device -> Device" in event.name
        if event.category == "memset":
            work = moved(0, event.moved)
        elif is_inside:
            work = moved(event.moved, event.moved)
    if event.category != "kernel":
        why = "the roof of a link to the host is not taken" if event.moved else "its bytes are not in the trace"
    form = forms.setdefault(key, _Form(Shaped(_NOWHERE, (event.name,)), category, work, why))
    form.count += 1
    form.time += event.end - event.start


def _mark_outer(instances: dict[int, _Instance], joined: Joined, calls: list[OpCall]) -> None:
    """Mark operators that stand around another of their kind: its work is theirs, and counts once."""
    kinds = {op: category_of_op(calls[joined.calls[op]].name) for op in instances}
    for op, kind in kinds.items():
        for outer in joined.chain(joined.parents[op]):
            if kind in _WHOLE and kinds.get(outer) == kind:
                instances[outer].is_outer = True


def _judged_time(form: _Form, whole: int, platform: Platform | None) -> OperatorTime:
    shaped, total_s = form.shaped, form.time / _NS_PER_S
    found = OperatorTime(
        operator=shaped.name,
        shapes=_shapes(shaped),
        category=form.category,
        count=form.count,
        kernels=shaped.kernels,
        library=told_by_name(shaped.kernels[0]),
        total_s=total_s,
        share=form.time / whole,
        why=form.why,
    )
    if form.work is None and not shaped.call.facts:
        return found
    if platform is None:
        return replace(found, why="the product is not known")
    roof = _link(shaped.call, platform) if form.work is None else _roof(form.work, platform)
    if roof is None:
        return replace(found, why=form.why if form.work is None else f"no sourced roof of {platform.id} for it")
    each_s, name, basis = roof
    floor = compute_floor(form.work, platform).seconds if form.work and form.category == "products" else None
    roof_s = each_s * form.count
    share = roof_s / total_s if total_s else 0.0
    change, why = change_for(form.category, name, share, total_s / form.count)
    return replace(
        found,
        roof_s=roof_s,
        roof=name,
        roof_basis=basis,
        counts="exact" if form.work is None else form.work.exactness(),
        floor_s=None if floor is None else float(floor) * form.count,
        won_s=max(total_s - roof_s, 0.0),
        change=change,
        why=why,
    )


def _roof(work: Work, platform: Platform) -> tuple[float, str, str] | None:
    """Return the least time of a work in seconds, the roof that binds and its basis; None where one is UNKNOWN."""
    try:
        found = roofline(work, platform)
        least = reach(found, platform).least
    except KoptError:
        return None  # the product lacks the engine or type
    stated = next((one for one in least if one.basis in _STATED), None)
    return None if stated is None else (stated.seconds, stated.name, stated.basis)


def _link(call: OpCall, platform: Platform) -> tuple[float, str, str] | None:
    """Return the least time of a collective in seconds, its link and its basis; None where one is not known."""
    found = link_time(call, platform)
    return None if found is None else (*found, "documented")


def _shapes(shaped: Shaped) -> str:
    parts = [f"{'x'.join(map(str, one.dims))} {one.dtype}" for one in shaped.tensors]
    listed = [f"{len(one)} tensors of {sum(each.elements for each in one)} elements" for one in shaped.lists]
    return ", ".join([*parts, *listed])


def categories_of(times: Iterable[OperatorTime]) -> tuple[CategoryShare, ...]:
    """Return the categories that occur, by time."""
    kept = list(times)
    found = []
    for category in CATEGORIES:
        own = [one for one in kept if one.category == category]
        if own:
            found.append(
                CategoryShare(
                    category,
                    sum(one.count for one in own),
                    sum(one.total_s for one in own),
                    sum(one.share for one in own),
                    sum(one.total_s for one in own if one.roof_s is not None),
                    sum(one.won_s or 0.0 for one in own),
                )
            )
    return tuple(sorted(found, key=lambda one: -one.total_s))

"""From a trace to the report of its median step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from kopt_kb.analysis.profile.timeline import DeviceTimeline, Trace
from kopt_kb.analysis.readers.read import reader_of
from kopt_kb.analysis.readers.trace.chrome import CHROME_TRACE
from kopt_kb.analysis.rules.product import product_of
from kopt_kb.base.errors import BadInput
from kopt_kb.packs.step_ranking.chosen import Chosen, choose_step
from kopt_kb.packs.step_ranking.joined import Joined, join
from kopt_kb.packs.step_ranking.ranked import categories_of, operator_times
from kopt_kb.packs.step_ranking.recorded import Recorded, read_recorded
from kopt_kb.packs.step_ranking.report import OperatorTime, StepReport
from kopt_kb.wiki.registry import Platform, Registry

__all__ = ["step_report"]

_NS_PER_S = 1e9
_NO_SHAPES = "no operator has shapes, so nothing has a roof: record with torch.profiler.profile(record_shapes=True)"


def step_report(
    path: Path, registry: Registry, asked: Platform | None = None, wanted: re.Pattern[str] | None = None
) -> StepReport:
    """Return the report of a trace's median step.

    Args:
        path: Trace of torch's profiler, packed by gzip or not.
        registry: Where the product that the trace names is looked up.
        asked: The product that the user says it was.
        wanted: Name of the ranges that are steps; None: they are found.

    Raises:
        BadInput: It is no such trace, is damaged, has no work of a GPU, no such range, or names another product.
    """
    reader = reader_of(path)
    if reader is not CHROME_TRACE:
        fix = "give what torch.profiler's export_chrome_trace writes; kb profile read takes others"
        raise BadInput(f"is no trace of torch's profiler but {reader.what}", where=str(path), fix=fix, code="KB204")
    recorded = read_recorded(path)
    joined = join(recorded)
    chosen = choose_step(recorded, joined, wanted)
    events = [recorded.events[one] for one in chosen.events]
    part = recorded.log.between(min(one.start for one in events), max(one.start for one in events) + 1).trace()
    device = next((one.name for one in part.devices if one.name), "")
    platform = product_of(part.profiles[0], registry, asked) if part.profiles else asked
    times = operator_times(recorded, joined, chosen, platform)
    kernels = [one for one in times if not one.is_transfer]
    launches = {id(one): one for at in chosen.events if (one := joined.launches[at]) is not None}.values()
    return StepReport(
        file=str(path),
        device=device,
        platform="" if platform is None else str(platform.id),
        step=chosen.name,
        found_by=chosen.how,
        steps=chosen.found,
        host_s=chosen.length / _NS_PER_S,
        gpu_s=sum(one.total_s for one in times),
        kernel_s=sum(one.total_s for one in kernels),
        roofed_s=sum(one.total_s for one in kernels if one.roof_s is not None),
        launches=len(launches),
        launch_s=sum(one.end - one.start for one in launches) / _NS_PER_S,
        graph_won_s=sum(_host_idle_s(one) for one in part.devices),
        categories=categories_of(times),
        ranked=tuple(one for one in times if one.roof_s is not None),
        unroofed=tuple(one for one in times if one.roof_s is None),
        timelines=part.devices,
        notes=tuple(_notes(recorded, joined, chosen, platform, part, times)),
    )


def _host_idle_s(timeline: DeviceTimeline) -> float:
    return max(timeline.host_s - timeline.synchronisation_s, 0.0)


def _notes(
    recorded: Recorded, joined: Joined, chosen: Chosen, platform: Platform | None, part: Trace,
    times: tuple[OperatorTime, ...],
) -> list[str]:  # fmt: skip
    found = list(recorded.log.notes)
    if not recorded.shaped:
        found.append(_NO_SHAPES)
    if platform is None:
        found.append("the trace names no known product, so nothing has a roof: name it with --platform")
    if joined.repeated:
        found.append(
            f"{joined.repeated} correlation numbers are on several calls: the latest before a kernel was taken"
        )
    graphs = sum(
        launch is not None and "GraphLaunch" in launch.name
        for launch in map(joined.launches.__getitem__, chosen.events)
    )
    if graphs:
        found.append(f"{graphs} kernels were launched by graphs, which name no operator: none of them has a roof")
    names = sorted({one.name for one in part.devices if one.name})
    if platform is not None and len(names) > 1:
        found.append(f"the step ran on {', '.join(names)}: roofs are those of {platform.id} for all of them")
    return [*found, *_beaten(times)]


def _beaten(times: tuple[OperatorTime, ...]) -> Iterator[str]:
    beaten = [one for one in times if (one.share_of_roof or 0.0) > 1.0]
    for is_memory, why in (
        (True, "inputs came from a cache"),
        (False, "no cache explains it: shapes, times or the product are wrong, or a switch reduces"),
    ):
        kept = [one for one in beaten if (one.roof == "dram") is is_memory]
        if kept:
            share = 100 * sum(one.share for one in kept)
            yield f"{len(kept)} operators ({share:.1f} % of the time) beat their roof: {why}"

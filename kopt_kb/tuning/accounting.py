"""The gap of an accepted version: its times, its profiles and what its machine reaches, put into accounts."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from kopt_kb.analysis.gap.account import GapCase, account
from kopt_kb.analysis.gap.roofs import Reached
from kopt_kb.analysis.profile import KernelProfile
from kopt_kb.analysis.readers.read import read_profiles
from kopt_kb.base.errors import KoptError
from kopt_kb.launch.candidate.source_config import configs_of
from kopt_kb.launch.counts.residency import with_residency
from kopt_kb.launch.machine.report_file import unpack_report
from kopt_kb.tuning.recorded import records_of, with_launches
from kopt_kb.tuning.stops import representative
from kopt_kb.wiki.registry import Platform
from kopt_kb.workspace.journal.insight_events import GapAccounted
from kopt_kb.workspace.journal.setup_events import ProfileRead
from kopt_kb.workspace.rounds import Round
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["accounts"]

_ALL = "all"
"""Shape of a project's report that is of several."""
_OF_ALL = (
    "the profile is of all shapes together, so none of it is charged here; "
    "a profile command with {shapes} is given the largest alone"
)
_SAME_RUN = 2.0
"""A profile's launches are those of a timed call when their time is within this factor of it."""
_UNLIKE = 0.1
"""Where it differs by more than this share, that is said."""
_SAME_CLOCK = 1.2
"""And they ran at its clocks when it is within this one."""


def accounts(
    state: WorkspaceState, read: Callable[[str], bytes], platform: Platform | None
) -> tuple[GapAccounted, ...]:
    """Return one account of the best version for each shape of the targets in force that has none yet.

    Args:
        state: Rooflines, and what the machine was seen to reach.
        read: Gives the bytes of a blob.
        platform: The workspace's product; None leaves the roofs to the counters.

    Raises:
        BadInput: A page of the wiki that it needs is broken.
    """
    best = state.best
    if best is None:
        return ()
    times = {shape: record.median_s for shape, record in representative(best).items()}
    known, reports = state.gaps_of(best), _by_shape(state.profiles_of(best))
    records, configs = records_of(best, read), _configs(best, read)
    found = []
    for roofline in state.rooflines:
        time_s = times.get(roofline.shape)
        if time_s is None or roofline.shape in known:
            continue
        seq, event = reports.get(roofline.shape, (0, None))
        profiles, problem = (
            ((), _OF_ALL if _ALL in reports else "") if event is None else _read(read(event.report), time_s)
        )
        resident = tuple(with_residency(one, platform) for one in profiles)
        clock_hz, reached = _clock_hz(resident, time_s), _reached(state, best, roofline.shape)
        case = GapCase(roofline.shape, time_s, resident, platform, roofline.work, clock_hz, reached)
        gap = account(with_launches(case, records.get(roofline.shape), configs.get(roofline.shape, {}), read))
        problem = problem or _unlike(resident, time_s)
        found.append(GapAccounted(best.number, gap.noted(problem) if problem else gap, (seq,) if resident else ()))
    return tuple(found)


def _configs(best: Round, read: Callable[[str], bytes]) -> Mapping[str, Mapping[str, object]]:
    """Return shape → the configuration that the best version has for it."""
    submitted = best.submitted.get(best.name)
    try:
        return {} if submitted is None else configs_of(read(submitted.blob))
    except KoptError:
        return {}


def _reached(state: WorkspaceState, best: Round, shape: str) -> tuple[Reached, ...]:
    """Return what the probe of a shape reached on the machine that timed the version."""
    seq = max((one.environment for one in best.own_records.values()), default=0)
    probe = state.reachable_of(seq).get(shape)
    if probe is None or probe.rate_si is None:
        return ()
    return (Reached(probe.roof, probe.rate_si, f"{probe.probe} on this machine, run {probe.run}"),)


def _by_shape(profiles: Mapping[int, ProfileRead]) -> dict[str, tuple[int, ProfileRead]]:
    """Return shape → the last profile that was taken of it."""
    found = {}
    for seq, event in profiles.items():
        shape = next((str(one["shape"]) for one in event.evidence if one.get("shape")), "")
        if shape:
            found[shape] = (seq, event)
    return found


def _read(report: bytes, time_s: float) -> tuple[tuple[KernelProfile, ...], str]:
    """Return the launches of a report that make up a timed call, or why it can't be used."""
    with tempfile.TemporaryDirectory(prefix="kb-gap-") as folder:
        try:
            path = unpack_report(report, Path(folder))
            found = tuple(one for one in read_profiles(path) if one.duration_s and one.role != "runtime")
        except KoptError as error:
            return (), f"the profile can't be read: {error.what}"
    profiled_s = sum(one.duration_s or 0.0 for one in found)
    if not time_s / _SAME_RUN <= profiled_s <= time_s * _SAME_RUN:
        return (), f"the profile's launches took {profiled_s * 1e6:.4g} us, so they are not those of the timed call"
    return found, ""


def _unlike(profiles: tuple[KernelProfile, ...], time_s: float) -> str:
    """Return that a profile's times are not those of the judge, where they are far apart: its shares are scaled."""
    profiled_s = sum(one.duration_s or 0.0 for one in profiles)
    if not profiles or abs(profiled_s / time_s - 1) <= _UNLIKE:
        return ""
    took = f"the profiled launches took {profiled_s * 1e6:.4g} us, the timed ones {time_s * 1e6:.4g} us"
    return f"{took}: what the cache held before differs, and shares of the profile stand for the timed run"


def _clock_hz(profiles: tuple[KernelProfile, ...], time_s: float) -> float | None:
    """Return the mean clock of the profiled launches where they took as long as the timed ones, else None."""
    profiled_s = sum(one.duration_s or 0.0 for one in profiles)
    clocks = [one.get("sm_frequency_hz") for one in profiles]
    if not profiles or None in clocks or not time_s / _SAME_CLOCK <= profiled_s <= time_s * _SAME_CLOCK:
        return None
    return (
        sum((clock or 0.0) * (one.duration_s or 0.0) for clock, one in zip(clocks, profiles, strict=True)) / profiled_s
    )

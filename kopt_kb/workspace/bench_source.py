"""Which records stand for a version of a kernel: those of its round, or of a later bench of the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kopt_kb.errors import BadInput
from kopt_kb.problem.shapes import format_shape
from kopt_kb.workspace.above_roof import above_roof
from kopt_kb.workspace.attempts import SIMULATOR, Attempt, Bench, History, standing
from kopt_kb.workspace.journal.round_events import Measured
from kopt_kb.workspace.journal.setup_events import EnvironmentRecorded
from kopt_kb.workspace.state import WorkspaceState

__all__ = ["RecordSource", "is_whole", "records_of"]


@dataclass(frozen=True, slots=True)
class RecordSource:
    """Records of one kernel, all of one round or one bench.

    Attributes:
        kind: Where they were taken.
        name: The round's version (`v3`) or the bench (`bench-1`).
        version: The version whose kernel it is; None for a kernel that is none.
        kernel: Its blob; empty when no event says so.
        records: Shape → the record that stands for it.
        machine: Where it was timed; None without records.
    """

    kind: Literal["round", "bench"]
    name: str
    version: int | None
    kernel: str
    records: Mapping[str, Measured]
    machine: EnvironmentRecorded | None

    @property
    def simulated(self) -> bool:
        """Whether the times were computed."""
        return self.machine is not None and self.machine.device == SIMULATOR

    def to_json(self) -> dict[str, Any]:
        """Return what the records are of."""
        return {"kind": self.kind, "name": self.name, "version": self.version, "kernel": self.kernel or None}


def records_of(
    state: WorkspaceState,
    history: History,
    version: int | None,
    fits: Callable[[EnvironmentRecorded], bool],
    where: str,
) -> RecordSource | None:
    """Return the newest records of a version, or None when it has none.

    A bench stands for a version when it timed the same bytes after the version's round, on every shape, and no record
    is above a roof. Where nothing else is left a bench above a roof is returned, so that judging it tells.

    Args:
        state: Problem, rooflines and targets.
        history: All attempts and benches.
        version: Its number; None: the last accepted one, or the last bench when nothing is accepted.
        fits: Whether a machine is the product that the workspace is for; benches elsewhere do not stand for a version.
        where: The workspace, for errors.

    Raises:
        BadInput: There is no such version.
    """
    if version is not None and version not in history.attempts:
        known = ", ".join(map(str, history.attempts))
        raise BadInput(f"there is no version {version}", where=where, fix=f"versions: {known}", code="KB321")
    accepted = [one for one in history.attempts.values() if one.snapshot is not None and one.refuted_by is None]
    if version is None and not accepted:
        whole = [bench for bench in history.benches.values() if is_whole(state, bench)]
        right = [bench for bench in whole if not _is_above(state, bench, fits)]
        return _bench((right or whole)[-1]) if whole else None
    one = accepted[-1] if version is None else history.attempts[version]
    own = _round(history, one)
    later = [
        bench
        for bench in history.benches.values()
        if own.kernel and bench.started.kernel == own.kernel and (not own.records or bench.seq > one.ended)
    ]
    whole = [bench for bench in later if fits(bench.started.machine) and is_whole(state, bench)]
    right = [bench for bench in whole if not _is_above(state, bench, fits)]
    if right and not own.simulated:
        return _bench(right[-1], one.number)
    if own.records or not whole:
        return own if own.records else None
    return _bench(whole[-1], one.number)


def is_whole(state: WorkspaceState, bench: Bench) -> bool:
    """Whether a bench has all its records: it keeps them shape by shape, and a kill may have come between two."""
    counts = [sum(one.shape == format_shape(shape) for one in bench.records) for shape in state.problem.shapes]
    return bool(bench.records) and len(set(counts)) == 1


def _is_above(state: WorkspaceState, bench: Bench, fits: Callable[[EnvironmentRecorded], bool]) -> bool:
    return fits(bench.started.machine) and bool(above_roof(state, standing(bench.records)))


def _round(history: History, one: Attempt) -> RecordSource:
    records = one.own_records
    machines = [history.environments.get(record.environment) for record in records.values()]
    submitted = one.chosen.submitted if one.chosen is not None else None
    kernel = one.snapshot.blob if one.snapshot is not None else submitted.blob if submitted is not None else ""
    machine = next((found for found in machines if found is not None), None)
    return RecordSource("round", f"v{one.number}", one.number, kernel, records, machine)


def _bench(one: Bench, version: int | None = None) -> RecordSource:
    started = one.started
    known = started.version if version is None else version
    return RecordSource("bench", started.bench, known, started.kernel, standing(one.records), started.machine)

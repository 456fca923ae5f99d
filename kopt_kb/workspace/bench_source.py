"""Which records stand for a version of a kernel: those of its round, or of a later bench of the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kopt_kb.errors import BadInput
from kopt_kb.workspace.attempts import SIMULATOR, Attempt, Bench, History, standing
from kopt_kb.workspace.round_events import Measured
from kopt_kb.workspace.setup_events import EnvironmentRecorded

__all__ = ["RecordSource", "records_of"]


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
    history: History, version: int | None, fits: Callable[[EnvironmentRecorded], bool], where: str
) -> RecordSource | None:
    """Return the newest records of a version, or None when it has none.

    Args:
        history: All attempts and benches.
        version: Its number; None: the last accepted one, or the last bench when nothing is accepted.
        fits: Whether a machine is the product that the workspace is for; benches elsewhere do not stand for a version.
        where: The workspace, for errors.

    Raises:
        BadInput: There is no such version.
    """
    if version is not None and version not in history.attempts:
        known = ", ".join(map(str, history.attempts))
        raise BadInput(f"there is no version {version}", where=where, fix=f"versions: {known}")
    accepted = [one for one in history.attempts.values() if one.snapshot is not None and one.refuted_by is None]
    if version is None and not accepted:
        benches = list(history.benches.values())
        return _bench(benches[-1]) if benches and benches[-1].records else None
    one = accepted[-1] if version is None else history.attempts[version]
    own = _round(history, one)
    later = [
        bench
        for bench in history.benches.values()
        if own.kernel and bench.started.kernel == own.kernel and bench.records and fits(bench.started.machine)
    ]
    if later and not own.simulated:
        return _bench(later[-1], one.number)
    return own if own.records else None


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

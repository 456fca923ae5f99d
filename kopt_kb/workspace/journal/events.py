"""All event kinds of the core in one table, and the envelope of a journal line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar, TypeGuard

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import JSON, JsonMap, Wire, WireError, plain, read
from kopt_kb.workspace.journal import campaign_events, direction_events, round_events, setup_events
from kopt_kb.workspace.journal.compat import present_kind
from kopt_kb.workspace.journal.pack_events import pack_class, pack_of, why_unread
from kopt_kb.workspace.journal.setup_events import EventData

__all__ = [
    "VERSION",
    "Event",
    "EventData",
    "ForeignData",
    "abandoned_runs",
    "checked_data",
    "data_class",
    "event_from_json",
    "format_time",
    "kinds",
]

VERSION = 2
"""Version of the event vocabulary this program writes; version 1 had the loop's own events as notes in JSON."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_ENVELOPE = frozenset({"v", "seq", "t", "kind", "data", "zh"})


_SETUP: tuple[type[EventData], ...] = (
    setup_events.WorkspaceCreated, setup_events.SpecsRegistered, setup_events.TargetSet,
    setup_events.EnvironmentRecorded, setup_events.BenchStarted, setup_events.NoiseMeasured, setup_events.ProfileRead,
    setup_events.ReachableMeasured, setup_events.NoteAdded, setup_events.MemoryNoted, setup_events.FileAdopted,
)  # fmt: skip
_CAMPAIGN: tuple[type[EventData], ...] = (
    campaign_events.CampaignConfirmed, campaign_events.CampaignNamed, campaign_events.TipsRead,
    campaign_events.PlanMade, campaign_events.ProposalMade,
    campaign_events.ProjectProtected, campaign_events.ProjectFrozen, campaign_events.LevelChosen,
    campaign_events.Resumed, campaign_events.Blocked, campaign_events.Stopped,
)  # fmt: skip
_ROUNDS: tuple[type[EventData], ...] = (
    round_events.RoundStarted, round_events.HypothesisStated, round_events.CandidateSubmitted,
    round_events.RunStarted, round_events.RunFinished, round_events.GateJudged, round_events.Measured,
    round_events.LauncherConfirmed, round_events.Decided, round_events.SnapshotTaken,
    round_events.MemoryMasked, round_events.MemoryUnmasked,
)  # fmt: skip
_DIRECTIONS: tuple[type[EventData], ...] = (
    direction_events.CategoryChosen, direction_events.ReviewHeld, direction_events.Opportunity,
)  # fmt: skip
_INSIGHTS: Mapping[str, str] = {"gap_accounted": "GapAccounted"}
"""Kind → class in `insight_events`, which knows what rules say of profiles: loaded where a journal has such events."""

_KINDS: Mapping[str, type[EventData]] = {one.kind: one for one in (*_SETUP, *_CAMPAIGN, *_ROUNDS, *_DIRECTIONS)}


def data_class(kind: str) -> type[EventData] | None:
    """Return the dataclass of a kind's data; None for a kind that can't be read here: newer, or of an absent pack."""
    if kind in _KINDS:
        return _KINDS[kind]
    if kind not in _INSIGHTS:
        named = present_kind(kind)
        return pack_class(named) if pack_of(named) else None
    from kopt_kb.workspace.journal import insight_events

    found: type[EventData] = getattr(insight_events, _INSIGHTS[kind])
    return found


def kinds() -> dict[str, type[EventData]]:
    """Return every kind of the core → the dataclass of its data; packs bring more, each `pack.kind`."""
    return {kind: found for kind in (*_KINDS, *_INSIGHTS) if (found := data_class(kind)) is not None}


@dataclass(frozen=True, slots=True)
class ForeignData(EventData):
    """Data of an event that a newer version or an absent pack wrote, kept as it is."""

    raw: JsonMap


@dataclass(frozen=True, slots=True)
class Event(Wire):
    """One acknowledged line of the journal.

    Attributes:
        v: Version of the vocabulary it was written with.
        seq: Position from 1; equal to the line number.
        t: UTC time of the append, microseconds, ISO 8601 with `Z`.
        kind: Name of the event.
        data: Its typed data, or `ForeignData` of a newer version or an absent pack.
        zh: Hash that chains this line to all before it.
    """

    WIRE: ClassVar = ("v", "seq", "t", "kind", "data=_data", "zh")
    v: int
    seq: int
    t: str
    kind: str
    data: EventData
    zh: str

    @property
    def time(self) -> datetime:
        """The time of the append, aware, UTC."""
        return datetime.fromisoformat(self.t)

    @property
    def _data(self) -> JsonMap:
        return self.data.raw if isinstance(self.data, ForeignData) else self.data.to_json()


def format_time(moment: datetime) -> str:
    """The journal's form of an aware time: UTC with microseconds and `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def checked_data(kind: str, data: EventData | Mapping[str, object]) -> EventData:
    """Validate data that is about to be written; its objects get the order in which the journal's line has them.

    Raises:
        BadInput: The kind is none this version can write, or is not the kind of `data`.
        WireError: The first wrong field.
    """
    known = data_class(kind)
    if known is None and (pack := pack_of(kind)):
        what = f"{kind} needs the pack {pack}, which {why_unread(pack)}"
        raise BadInput(what, where="kind", fix="install a distribution that brings it", code="KB301")
    if known is None:
        raise BadInput(f"unknown event kind {kind!r}", where="kind", fix=f"one of {', '.join(kinds())}", code="KB301")
    if isinstance(data, EventData) and not isinstance(data, known):
        raise BadInput(f"{type(data).__name__} is not the data of {kind}", where="data", code="KB301")
    return read(known, _ordered(plain(data)), where=kind)


def _ordered(value: JSON) -> JSON:
    """Return a value with the members of its objects sorted: what was appended is what will be read."""
    if isinstance(value, dict):
        return {name: _ordered(value[name]) for name in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list) else value


def event_from_json(members: Mapping[str, object]) -> Event:
    """The event of a parsed line.

    A newer version's event that this one can't read becomes `ForeignData`, and so does one of a pack that is absent;
    every other one of this version has to be readable.

    Raises:
        WireError: A member of the envelope or of the data is missing, surplus or wrong.
    """
    for name in _ENVELOPE - members.keys():
        raise WireError("is missing", where=name)
    version, seq, kind = members["v"], members["seq"], members["kind"]
    if not (_is_whole(version) and version >= 1 and _is_whole(seq) and isinstance(kind, str)):
        raise WireError("version, sequence number and kind have to be integer, integer and text", where="v")
    data = _data(version, kind, members)
    return Event(version, seq, _valid_time(members["t"]), kind, data, str(members["zh"]))


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _data(version: int, kind: str, members: Mapping[str, object]) -> EventData:
    known = data_class(kind)
    if version > VERSION:
        return read(ForeignData, {"raw": members["data"]}, where=kind)
    for name in members.keys() - _ENVELOPE:
        raise WireError("is no member of an event", where=name)
    if known is None and pack_of(present_kind(kind)):
        return read(ForeignData, {"raw": members["data"]}, where=kind)
    if known is None:
        raise WireError(f"unknown event kind {kind!r}", where="kind")
    return read(known, members["data"], where=kind)


def _valid_time(value: object) -> str:
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise WireError("has to be a UTC time such as 2026-01-31T12:00:00.000000Z", where="t")
    try:
        datetime.fromisoformat(value)
    except ValueError as error:
        raise WireError(f"is no time: {error}", where="t") from error
    return value


def abandoned_runs(events: Iterable[Event]) -> tuple[str, ...]:
    """Ids of runs that were started, never finished and not yet named by a `resumed` event."""
    running: dict[str, None] = {}
    for event in events:
        if isinstance(event.data, round_events.RunStarted):
            running[event.data.run] = None
        elif isinstance(event.data, round_events.RunFinished):
            running.pop(event.data.run, None)
        elif isinstance(event.data, campaign_events.Resumed):
            for run in event.data.abandoned_runs:
                running.pop(run, None)
    return tuple(running)

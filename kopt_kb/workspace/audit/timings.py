"""What the timings of a journal answered, read from the outputs of their runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kopt_kb.base.wire import WireError, parse, read
from kopt_kb.launch.candidate.answers import Timing, kept_run
from kopt_kb.launch.record.judge import OBJECTS, RECORD
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.workspace.journal.blobs import ObjectError, ObjectStore
from kopt_kb.workspace.journal.events import Event
from kopt_kb.workspace.journal.round_events import RunFinished, RunStarted

__all__ = ["last_timing", "timing_of", "timings_of", "unpacked"]


def timing_of(data: RunFinished, started: Mapping[str, RunStarted], store: ObjectStore) -> Timing | None:
    """Return what a run timed; None where it was none, or where its output can't be read: a finding of its own."""
    run = started.get(data.run)
    if run is None or run.gate != "timing" or data.output is None:
        return None
    try:
        answer = kept_run("timing", store.get(data.output)).answer
    except (ObjectError, WireError):
        return None
    return answer if isinstance(answer, Timing) else None


def timings_of(events: tuple[Event, ...], store: ObjectStore) -> dict[str, Timing]:
    """Return run → what it timed."""
    started: dict[str, RunStarted] = {}
    timed: dict[str, Timing] = {}
    for event in events:
        data = event.data
        if isinstance(data, RunStarted):
            started[data.run] = data
        elif isinstance(data, RunFinished) and (answer := timing_of(data, started, store)) is not None:
            timed[data.run] = answer
    return timed


def last_timing(events: tuple[Event, ...], store: ObjectStore, version: str) -> Timing | None:
    """Return the last timing of a version that gave times."""
    runs = {one.data.run: one.data.candidate for one in events if isinstance(one.data, RunStarted)}
    timed = timings_of(events, store)
    own = [one for run, one in timed.items() if runs[run].partition(".")[0] == version and not one.problem]
    return own[-1] if own else None


def unpacked(sha: str, store: ObjectStore, folder: Path) -> Path:
    """Write a kept record and its code objects as `kb record` leaves them; raises `KoptError` where one is missing."""
    (folder / OBJECTS).mkdir(parents=True)
    data = store.get(sha)
    (folder / RECORD).write_bytes(data)
    for code in read(LaunchRecord, parse(data, where=f"objects/{sha}"), where=f"objects/{sha}").codes:
        (folder / OBJECTS / code).write_bytes(store.get(code))
    return folder
